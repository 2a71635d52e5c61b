"""Guards after many calls in which nothing changed: whatever is written then is seen."""

import pytest

import lathe as lt

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


def test_bound_runs_what_serves_the_call():
    traced = lt.trace(lambda x: x + 1)
    x = lt.ones([2])
    assert traced._engine.bound((x,), {}) is None
    traced(x)
    assert traced._engine.bound((x,), {})()[0].tolist() == [2.0, 2.0]
