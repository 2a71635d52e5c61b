"""Guards after many calls in which nothing changed: whatever is written then is seen."""

import gc
import threading
import weakref

import pytest

import lathe as lt
from lathe import _lathe

nn = lt.nn
factor = 2.0


class Scaled(nn.Module):
    gain = 1

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        self.register_buffer("shift", lt.ones([2]))
        self.extra = [lt.ones([2]), lt.zeros([2])]
        self.names = {"bias": lt.ones([2])}
        self.step = 1

    def forward(self, x, by=3):
        for layer in self.layers:
            x = layer(x)
        x = x * factor + self.shift * self.gain * by + self.names["bias"] * self.step
        for value in self.extra:
            x = x + value
        return x * 2 if self.training else x


def set_item(m):
    m.extra[1] = lt.full([2], 5.0)


def make_one_of_two(m):
    m.extra[1] = m.extra[0]


def replace_dict(m):
    m.__dict__ = {**m.__dict__, "step": 7}


def replace_parameter(m):
    m.layers[1].weight = nn.Parameter(lt.full([2, 2], 3.0))


def through_dict(m):
    m.layers[2].__dict__["bias"] = lt.full([2], 4.0)


def a_layer_through_dict(m):
    vars(m.layers)["1"] = nn.Linear(2, 2)


def freed_before_the_next_is_made(m):
    layer = m.layers[1]
    del layer.weight
    layer.weight = nn.Parameter(lt.full([2, 2], 7.0))


def taken_away_and_put_back(m):
    layer = m.layers[1]
    weight = vars(layer).pop("weight")
    vars(layer)["weight"] = weight
    weight.data.fill_(1.5)


def another_class(m):
    class Doubled(Scaled):
        def forward(self, x, by=3):
            return super().forward(x, by) * 10

    m.__class__ = Doubled


def another_method(m):
    m.layers[0].forward = lambda x: x * 100


def other_defaults(m):
    type(m).forward.__defaults__ = (30,)


def a_global(m):
    globals()["factor"] = 8.0


def class_attribute(m):
    type(m).gain = 5


CHANGES = [
    lambda m: m.eval(),
    lambda m: setattr(m, "step", 2),
    lambda m: setattr(m, "shift", lt.full([2], 9.0)),
    lambda m: m.register_buffer("shift", lt.full([2], 6.0)),
    lambda m: m.names.update(bias=lt.full([2], 3.0)),
    lambda m: m.layers.append(nn.Linear(2, 2)),
    lambda m: m.layers[0].weight.data.fill_(0.25),
    lambda m: setattr(m.layers[0].weight, "data", lt.full([2, 2], 0.5)),
    lambda m: m.extra.append(lt.ones([2])),
    set_item,
    make_one_of_two,
    replace_dict,
    replace_parameter,
    through_dict,
    a_layer_through_dict,
    freed_before_the_next_is_made,
    taken_away_and_put_back,
    lambda m: setattr(m.layers, "0", nn.Linear(2, 2)),
    lambda m: delattr(m.layers, "2"),
    lambda m: m.extra.pop(),
    another_class,
    another_method,
    other_defaults,
    a_global,
    class_attribute,
]


@pytest.fixture
def as_before():
    defaults, gain = Scaled.forward.__defaults__, Scaled.gain
    yield
    Scaled.forward.__defaults__, Scaled.gain = defaults, gain
    globals()["factor"] = 2.0


@pytest.mark.parametrize("change", CHANGES)
def test_seen_after_calls_without_change(change, as_before):
    m = Scaled()
    traced = lt.trace(m)
    inputs = [lt.full([1, 2], float(i)) for i in range(4)]
    for x in inputs:
        assert traced(x).tolist() == m(x).tolist()
    traces = traced.counts["traces"]
    change(m)
    for x in inputs:
        assert traced(x).tolist() == m(x).tolist()
    assert traces <= traced.counts["traces"] <= traces + 2


def test_hook_added_later():
    m = nn.Linear(2, 2)
    traced = lt.trace(m)
    x = lt.ones([1, 2])
    for _ in range(3):
        traced(x).sum().backward()
    before = m.weight.grad.clone()
    m.weight.register_hook(lambda g: g * 10)
    m.weight.grad = None
    traced(x).sum().backward()
    assert m.weight.grad.tolist() == (before / 3 * 10).tolist()


def test_state_replaced_at_each_call_needs_no_other_trace():
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = lt.zeros([2])

        def forward(self, x):
            self.h = self.h * 0.5 + x
            return self.h + 1

    m, same = Cell(), Cell()
    traced = lt.trace(m)
    for i in range(6):
        x = lt.full([2], float(i))
        assert traced(x).tolist() == same(x).tolist()
        assert m.h.tolist() == same.h.tolist()
    assert traced.counts["traces"] == 1


def test_two_states_that_become_one():
    class Pair:
        def __init__(self):
            self.a, self.b = lt.zeros([2]), lt.ones([2])

    pair = Pair()

    def step(x):
        pair.a.add_(x)
        return pair.a + pair.b

    traced = lt.trace(step)
    x = lt.ones([2])
    for _ in range(3):
        traced(x)
    pair.b = pair.a
    assert traced(x).tolist() == [8.0, 8.0]
    pair.a, pair.b = lt.zeros([2]), lt.ones([2])
    assert traced(x).tolist() == [2.0, 2.0]
    pair.a, pair.b = pair.b, pair.a
    assert traced(x).tolist() == [3.0, 3.0]


def called_often(f, x, times=4):
    for _ in range(times):
        f(x)


def test_writes_through_views_of_parts_are_seen():
    m = Scaled()
    traced = lt.trace(m)
    x = lt.ones([1, 2])
    called_often(traced, x)
    m.layers[0]._parameters["bias"] = nn.Parameter(m.layers[0].bias.detach() + 3)
    assert lt.equal(traced(x), m(x))
    called_often(traced, x)
    m.layers._modules["0"] = nn.Linear(2, m.layers[0].weight.shape[0])
    assert lt.equal(traced(x), m(x))


def test_deletion_raises_what_eager_does():
    m = Scaled()
    traced = lt.trace(m)
    x = lt.ones([1, 2])
    called_often(traced, x)
    del m.layers[1].bias
    with pytest.raises(AttributeError, match="bias"):
        m(x)
    with pytest.raises(AttributeError, match="bias"):
        traced(x)


def test_what_a_function_reads_of_another():
    def offset():
        return nonlocal_value

    def step(x, pair=(1.0, 2.0)):
        return x * pair[0] + offset()

    def other(x, pair=(1.0, 2.0)):
        return x * pair[1] - offset()

    nonlocal_value = 3.0
    traced = lt.trace(lambda x: step(x))
    x = lt.ones([2])
    called_often(traced, x)
    assert traced(x).tolist() == [4.0, 4.0]
    nonlocal_value = 5.0
    assert traced(x).tolist() == [6.0, 6.0]
    step.__defaults__ = ((10.0, 20.0),)
    assert traced(x).tolist() == [15.0, 15.0]
    step.__code__ = other.__code__
    assert traced(x).tolist() == [15.0, 15.0]
    step.__defaults__ = None
    with pytest.raises(TypeError, match="pair"):
        traced(x)
    step = other
    called_often(traced, x)
    assert traced(x).tolist() == [-3.0, -3.0]


def test_nothing_keeps_what_was_taken_away():
    m = Scaled()
    traced = lt.trace(m)
    x = lt.ones([1, 2])
    called_often(traced, x)
    weight, layer, shift = (weakref.ref(o) for o in (m.layers[0].weight, m.layers[1], m.shift))
    m.layers[0].weight = nn.Parameter(lt.ones([2, 2]))
    m.layers[1] = nn.Linear(2, 2)
    m.shift = lt.ones([2])
    assert weight() is None and shift() is None  # at once: nobody else refers to them
    gc.collect()
    assert layer() is None
    assert traced(x).tolist() == m(x).tolist()


def test_nothing_keeps_a_dead_module():
    class Holder:
        model = None

    def step(x):
        return Holder.model(x)

    kept = lt.trace(step)
    x = lt.ones([1, 2])
    for _ in range(3):
        Holder.model = Scaled()
        own = lt.trace(Holder.model)
        called_often(own, x)
        called_often(kept, x)
        assert kept(x).tolist() == Holder.model(x).tolist()
        dead = [weakref.ref(o) for o in (Holder.model, Holder.model.layers[0].weight)]
        Holder.model = own = None
        gc.collect()
        assert [r() for r in dead] == [None, None]


def test_inputs_are_their_owners_again_after_an_error():
    def fails(value):
        if failing:
            raise ValueError("no more")
        return value * 2

    m = Scaled()
    spec = lt.ones([1, 2])
    traced = lt.trace(lambda x: m(lt.callback(fails, x, result=spec)))
    failing = False
    x = lt.ones([1, 2])
    called_often(traced, x)
    failing = True
    for _ in range(3):
        with pytest.raises(Exception, match="no more"):
            traced(x)
    weight = weakref.ref(m.layers[0].weight)
    m.layers[0].weight = nn.Parameter(lt.full([2, 2], 0.5))
    assert weight() is None
    failing = False
    assert traced(x).tolist() == m(x * 2).tolist()


def test_calls_of_two_threads_while_a_third_writes():
    m = Scaled()
    traced = lt.trace(m)
    x = lt.ones([1, 2])
    called_often(traced, x)
    wanted, wrong = {}, []
    for value in (1.0, 2.0):
        m.shift = lt.full([2], value)
        wanted[str(m(x).tolist())] = value

    def call():
        for _ in range(300):
            got = str(traced(x).tolist())
            if got not in wanted:
                wrong.append(got)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        m.shift = lt.full([2], 1.0)
        m.shift = lt.full([2], 2.0)
    assert wrong == []


def test_one_tensor_at_two_places():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
            self.second.weight = self.first.weight

        def forward(self, x):
            return self.second(self.first(x) * 2)

    m = Tied()
    traced = lt.trace(m)
    x = lt.ones([1, 2])
    called_often(traced, x)

    def apart():
        m.second.weight = nn.Parameter(lt.full([2, 2], 3.0))

    def the_first():
        m.first.weight = nn.Parameter(lt.full([2, 2], 4.0))

    def together():
        m.first.weight = m.second.weight

    def both_at_once():
        m.second.weight = m.first.weight = nn.Parameter(lt.full([2, 2], 5.0))

    for change in (apart, the_first, together, both_at_once, apart, both_at_once):
        change()
        for _ in range(3):
            assert traced(x).tolist() == m(x).tolist()
    assert traced.counts["traces"] == 2


def test_state_of_an_optimizer_replaced():
    def made():
        lt.manual_seed(0)
        model = nn.Linear(2, 2)
        optimizer = lt.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            loss = (model(x) * model(x)).sum()
            loss.backward()
            optimizer.step()
            return loss

        return model, optimizer, step

    eager, traced = made(), made()
    run = lt.trace(traced[2])
    x = lt.ones([1, 2])

    def buffer(model, optimizer):
        optimizer.state[model.weight]["momentum_buffer"] = lt.full([2, 2], 2.0)

    def parameter(model, optimizer):
        model.weight = nn.Parameter(lt.full([2, 2], 0.5))

    def group(model, optimizer):
        optimizer.param_groups[0]["params"][0] = model.weight
        optimizer.state[model.weight] = {"momentum_buffer": lt.zeros([2, 2])}

    def rate(model, optimizer):
        optimizer.param_groups[0]["lr"] = 0.05

    for change in (None, buffer, parameter, group, rate, buffer):
        for model, optimizer, _ in (eager, traced):
            if change is not None:
                change(model, optimizer)
        for _ in range(4):
            assert run(x).tolist() == eager[2](x).tolist()
        for mine, other in zip(traced[0].parameters(), eager[0].parameters()):
            assert mine.tolist() == other.tolist()


def test_bound_runs_what_serves_the_call():
    traced = lt.trace(lambda x: x + 1)
    x = lt.ones([2])
    assert traced._engine.bound((x,), {}) is None
    traced(x)
    assert traced._engine.bound((x,), {})()[0].tolist() == [2.0, 2.0]


def test_what_a_callback_takes_away_during_a_call_is_still_given():
    class Held:
        def __init__(self):
            self.items = [1.5, 2.5]

    held, empty = Held(), [False]

    def callback(x):
        if empty[0]:
            held.items = []
        return x * 2

    @lt.trace
    def f(x):
        return lt.callback(callback, x, result=x), held.items

    x = lt.ones(3)
    for _ in range(4):
        f(x)
    empty[0] = True
    y, items = f(x)
    assert (y.tolist(), items) == ([2, 2, 2], [1.5, 2.5])


def test_a_view_whose_base_is_written_has_another_history():
    base, w = lt.zeros(4), lt.ones(4, requires_grad=True)
    view = base[:2]

    @lt.trace
    def f(x):
        return (view * x).sum()

    x = lt.tensor([2.0, 3.0])
    for _ in range(4):
        f(x)
    base.copy_(w)
    f(x).backward()
    assert w.grad.tolist() == [2, 3, 0, 0]


class Helper:
    pass


class OtherHelper:
    pass


def of_the_helpers_class(holder):
    """Guards that the holder's helper is a Helper, whichever: what a plan takes another one for."""
    plain = (False, False, False)
    rows = [
        ("constant", -1, id(holder), "anything", holder, plain),
        ("dict", 0, None, "anything", None, plain),
        ("key", 1, "helper", "type", Helper, plain),
    ]
    return _lathe.Guards(rows)


def test_the_class_of_an_object_that_took_anothers_place():
    holder = type("Holder", (), {})()
    holder.helper = Helper()
    guards = of_the_helpers_class(holder)
    for _ in range(3):
        assert guards.hold((), {})
    holder.helper = Helper()
    for _ in range(3):
        assert guards.hold((), {})
    holder.helper.__class__ = OtherHelper  # nothing is written to the holder
    assert not guards.hold((), {})


def test_an_object_that_is_gone_is_not_looked_at():
    holder = type("Holder", (), {})()
    holder.helper = Helper()
    guards = of_the_helpers_class(holder)
    for _ in range(3):
        assert guards.hold((), {})
    place = id(holder.helper)
    holder.helper = Helper()
    assert guards.hold((), {})
    others = [OtherHelper() for _ in range(100)]  # one of them where the first helper was
    assert place in map(id, others)
    for _ in range(3):
        assert guards.hold((), {})
