"""lathe.trace: equal to the function undecorated, by bytes, or refused with the user's line."""

import random

import pytest
from networks import SmallCNN

import lathe as lt
import lathe.nn.functional as F
from lathe import nn, optim


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B")) if t.numel() else b""


def test_equals_eager_for_many_shapes_with_one_trace():
    def layer(x, w, b):
        return F.gelu(x @ w + b)

    traced = lt.trace(layer)
    lt.manual_seed(3)
    for m in (4, 1, 0, 7):
        for k in (3, 1, 0):
            for n in (5, 1, 0, 33):
                args = lt.randn(m, k), lt.randn(k, n), lt.randn(n)
                assert bits(traced(*args)) == bits(layer(*args))
    assert traced.counts["traces"] == 1
    assert traced.counts["node_by_node"] == 0


def train(wrap, steps=6):
    lt.manual_seed(0)
    net = SmallCNN()
    opt = optim.Adam(net.parameters(), lr=1e-2)

    def step(x, y):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss

    step = wrap(step)
    x, y = lt.randn(16, 1, 8, 8), lt.randint(0, 10, (16,))
    losses = [bits(step(x, y)) for _ in range(steps)]
    return losses, [bits(t) for t in net.state_dict().values()]


def test_a_whole_training_step_gives_the_same_bits():
    assert train(lambda f: f) == train(lt.trace)


def test_a_module_in_another_mode_is_traced_again():
    lt.manual_seed(0)
    net = SmallCNN()
    traced = lt.trace(lambda x: net(x))
    x = lt.randn(2, 1, 8, 8)
    with lt.no_grad():
        net.eval()
        assert bits(traced(x)) == bits(net(x))
        net.train()
        lt.manual_seed(5)
        a = bits(traced(x))
        lt.manual_seed(5)
        assert a == bits(net(x))


def test_the_mode_of_a_module_may_be_set_and_set_back():
    net = lt.nn.Sequential(lt.nn.Dropout(1.0))

    def f(x):
        net.eval()
        kept = net(x)
        return kept, net.train()(x)

    assert [y.tolist() for y in lt.trace(f)(lt.ones(2))] == [[1, 1], [0, 0]]
    assert net.training
    traced = lt.trace(lambda x: net.eval()(x))
    for _ in range(3):
        assert traced(lt.ones(2)).tolist() == [1, 1] and not net[0].training
    assert traced.counts["traces"] == 2  # in training and after


def test_an_argument_that_an_optimizer_has_too_is_one_tensor():
    def step(p, optimizer):
        optimizer.zero_grad()
        loss = p.square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def run(step):
        p = lt.linspace(-1, 1, 5).requires_grad_()
        optimizer = lt.optim.SGD([p], lr=0.1)
        return [bits(step(p, optimizer)) for _ in range(3)], bits(p.detach()), bits(p.grad)

    assert run(lt.trace(step)) == run(step)


def test_an_argument_that_a_global_is_too_is_one_tensor():
    kept = {}

    def f(x):
        x.add_(1)
        return kept["q"] * 2

    traced = lt.trace(f)
    for n in (2, 3):
        q, other = lt.ones(n), lt.zeros(n)
        kept["q"] = q
        for x in (q, other, q, other):
            expected = (x + 1).tolist(), ((q + 1 if x is q else q) * 2).tolist()
            got = traced(x).tolist()
            assert (x.tolist(), got) == expected


@pytest.mark.parametrize("pass_it", [lambda l, q: (l, l), lambda l, q: (l, q), lambda l, q: (l, 0)])
def test_a_list_of_arguments_that_a_global_has_too_holds_one_tensor(pass_it):
    kept = {}

    def f(items, other):
        kept["items"][0][0].add_(1)
        also = other[0][0] if isinstance(other, list) else other
        return items[0][0] * 2 + also

    def run(f):
        q = lt.ones(3)
        kept["items"] = [[q]]
        arguments = pass_it(kept["items"], q)
        return [f(*arguments).tolist() for _ in range(3)], q.tolist()

    assert run(lt.trace(f)) == run(f)


def test_rebound_globals_and_attributes_are_noticed():
    class Config:
        pass

    config = Config()
    config.scale = 2.0
    config.act = lt.relu
    traced = lt.trace(lambda x: config.act(x) * config.scale)
    x = lt.tensor([-1.0, 1.0])
    assert traced(x).tolist() == [0.0, 2.0]
    config.scale = 3.0
    assert traced(x).tolist() == [0.0, 3.0]
    config.act = lt.neg
    assert traced(x).tolist() == [3.0, -3.0]


def test_in_place_writes_reach_the_caller():
    def bump(x):
        x[0] += 1
        return x * 2

    a, b = lt.zeros(2, 3), lt.zeros(2, 3)
    assert bits(lt.trace(bump)(a)) == bits(bump(b))
    assert bits(a) == bits(b)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x / x.max().item(),
        lambda x: x * 2 if x.sum() > 0 else x,
        lambda x: x * float(x.sum()),
        lambda x: x + len(f"{x.sum()}") if bool(x.sum() > 1) else x,
        lambda x: x * random.random(),
    ],
)
def test_what_depends_on_data_or_chance_is_refused_at_the_users_line(function):
    with pytest.raises(lt.TraceError, match=r"test_trace\.py"):
        lt.trace(function)(lt.tensor([1.0, 2.0]))


def test_changes_of_python_state_are_repeated():
    calls, seen = [], {}

    def f(x):
        calls.append(1)
        seen["last"] = y = x + len(calls)
        return y

    traced = lt.trace(f)
    for n in range(1, 4):
        y = traced(lt.zeros(1))
        assert y.tolist() == [n] and calls == [1] * n and seen["last"] is y


held, level = lt.zeros(1), 1


def test_a_tensor_that_is_put_where_another_was_is_a_change_of_state():
    def keeps_it(x):
        global held
        held = x * 2
        return x + 1

    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.state = lt.zeros(2)

        def forward(self, x):
            self.state = self.state + x
            return self.state * 1

    cell = Cell()
    before = held, cell.state
    for function, line in ((keeps_it, 2), (cell, 1)):
        code = getattr(function, "forward", function).__code__
        where = rf"(?s)changed Python state.*test_trace.py:{code.co_firstlineno + line}\b"
        with pytest.raises(lt.TraceError, match=where):
            lt.jit.capture(function, (lt.ones(2),))
    assert held is before[0] and cell.state is before[1], "undone"
    keep, step = lt.trace(keeps_it), lt.trace(cell)
    for n in range(1, 4):
        assert keep(lt.full((2,), n)).tolist() == [n + 1] * 2 and held.tolist() == [2 * n] * 2
        assert step(lt.ones(2)).tolist() == [n] * 2 == cell.state.tolist()
    assert keep.counts["traces"] == step.counts["traces"] == 1


def test_a_global_may_change_while_the_function_runs():
    def louder(x):
        global level
        old, level = level, level * 100
        try:
            return x * level
        finally:
            level = old

    global level
    traced, x = lt.trace(louder), lt.ones(2)
    for level, traces in ((1, 1), (2, 2), (1, 2)):
        assert traced(x).tolist() == [level * 100] * 2 and traced.counts["traces"] == traces
    level = 1

    def counts(x):
        global level
        level += 1
        return x + level

    traced = lt.trace(counts)
    for n in range(2, 5):
        assert traced(x).tolist() == [n + 1] * 2 and level == n
    level = 1

    def defines(x):
        global not_there_before
        not_there_before = 1
        return x

    lt.trace(defines)(x)
    assert globals().pop("not_there_before") == 1


def test_gradients_through_a_traced_call():
    def f(x):
        return (x.sin() * x).sum()

    x = lt.randn(5, requires_grad=True)
    y = x.detach().requires_grad_()
    lt.trace(f)(x).backward()
    f(y).backward()
    assert bits(x.grad) == bits(y.grad)


def test_explain_names_lines_choices_and_reasons():
    traced = lt.trace(lambda x, w: F.relu(x @ w) + 1)
    traced(lt.randn(2, 3), lt.randn(3, 4))
    text = traced.explain(verbose=True)
    assert "test_trace.py" in text and "chosen" in text and "built without CUDA" in text


def test_a_derivative_may_read_a_parameter_itself():
    """Convolution's does: what the tape keeps is the parameter's memory, not the parameter."""

    def train(wrap):
        lt.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 3))
        opt = optim.SGD(net.parameters(), lr=0.1)

        @wrap
        def step(x):
            opt.zero_grad()
            net(x).square().sum().backward()
            opt.step()

        x = lt.randn(2, 1, 6, 6)
        for _ in range(3):
            step(x)
        return [bits(t) for t in net.state_dict().values()]

    assert train(lambda f: f) == train(lt.trace)


def test_a_parameter_written_before_its_derivative_reads_it_is_refused_as_in_eager():
    w = lt.ones(1, 1, 1, 1, requires_grad=True)

    def f(x):
        y = F.conv2d(x * w.sum(), w).sum()
        with lt.no_grad():
            w.add_(1)
        y.backward()

    for function in (f, lt.trace(f)):
        with pytest.raises(lt.AutogradError, match="written to since"):
            function(lt.ones(1, 1, 2, 2))


def test_sizes_are_results_of_their_own():
    traced = lt.trace(lambda x: (x.shape[0] * 2, f"{tuple(x.shape)}", [x.shape[-1]]))
    assert traced(lt.ones(2, 3)) == (4, "(2, 3)", [3])
    assert traced(lt.ones(5, 7)) == (10, "(5, 7)", [7])


def test_sizes_fill_tensors():
    @lt.trace
    def f(x):
        return lt.full((3,), x.shape[0], dtype=lt.int64), lt.full((x.shape[1],), 2 * x.shape[0])

    for n in (2, 3, 0):
        filled, twice = f(lt.ones(n, n + 1))
        assert filled.tolist() == [n] * 3 and twice.tolist() == [2 * n] * (n + 1)
    assert f.counts["traces"] == 1


VIEWS = {
    "turned": lambda x: x.permute(2, 0, 1),
    "windows": lambda x: x.reshape(x.shape[0], 2, 2, 3, 2).permute(0, 1, 3, 2, 4),
    "repeated": lambda x: x[:, :1].expand(x.shape[0], 5, 6),
    "every other": lambda x: x[:, ::2],
    "one": lambda x: x[1, 2, 3],
    "none": lambda x: x[:0],
    "as it is": lambda x: x,
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bool", "int16", "int64", "complex64"])
@pytest.mark.parametrize("view", VIEWS)
def test_copies_of_views_equal_eager(view, dtype):
    """By the code that only moves elements, and past what one thread takes."""
    traced = lt.trace(lambda x: VIEWS[view](x).clone())
    for n in (2, 3, 4000):
        x = (lt.arange(24 * n) % 7).reshape(n, 4, 6).to(getattr(lt, dtype))
        assert lt.equal(traced(x), VIEWS[view](x).clone())


def test_results_are_the_callers_objects_and_share_no_memory():
    def f(x):
        y = x + 1
        return x, y, y, x + 1, x * 1

    x = lt.zeros(2)
    a, b, c, d, e = lt.trace(f)(x)
    assert a is x
    assert b is c
    b.add_(10)
    e.add_(5)
    assert d.tolist() == [1.0, 1.0]
    assert x.tolist() == [0.0, 0.0]


def test_tensors_of_python_numbers_are_part_of_the_program():
    scale = [1.0, 2.0]

    def f(x):
        return x * lt.tensor(scale) + lt.tensor(0.5)

    traced, x = lt.trace(f), lt.ones(2)
    assert bits(traced(x)) == bits(f(x))
    scale[1] = 7.0
    assert bits(traced(x)) == bits(f(x))


def test_a_change_that_cannot_be_repeated_is_refused_and_undone():
    seen = []

    def f(x):
        seen.append(1)
        seen.append(n for n in [x])
        return x

    with pytest.raises(lt.TraceError, match="would be done later"):
        lt.trace(f)(lt.ones(1))
    assert seen == []

    def fails(x):
        seen.append(x * 2)
        raise KeyError("at the end")

    with pytest.raises(KeyError):  # as in eager code: what was done before it stays
        lt.trace(fails)(lt.ones(1))
    assert [y.tolist() for y in seen] == [[2.0]]


def test_elements_of_a_tensor_outside_are_not_read():
    w = lt.tensor(2.0)
    with pytest.raises(lt.TraceError, match=r"test_trace\.py"):
        lt.trace(lambda x: x * w.item())(lt.ones(1))


def test_an_escaped_tensor_is_refused_not_read():
    kept = []

    class Keeper:
        def __call__(self, x):
            return x

    def f(x):
        lt.trace_hook = x * 2
        kept.append(0)
        kept.pop()
        held_by_c.send(x * 2)
        return x

    def collector():
        while True:
            kept.append((yield))

    held_by_c = collector()
    next(held_by_c)
    with pytest.raises(lt.TraceError):
        lt.trace(f)(lt.ones(1))
    assert kept == [] and not hasattr(lt, "trace_hook")


def test_a_detached_tensor_sees_later_writes():
    def through_all(a):
        t = a.detach()
        early = t + 0
        a.mul_(2)
        a[1:].add_(t[:-1].clone())
        return a * 1, t * 1, t[1:] * 10, early, t.detach() - 1

    def of_a_view(a):
        t = a[::2].detach()
        u = t[1:]
        a[2].fill_(7)
        return t * 1, u * 1, a.sum()

    for f in (through_all, of_a_view):
        for wrap in (lt.trace, lt.script):
            compiled = wrap(f)
            for n in (4, 6):
                x, y = lt.arange(n).float(), lt.arange(n).float()
                for got, want in zip(compiled(x), f(y)):
                    assert bits(got) == bits(want)
                assert bits(x) == bits(y)
            assert compiled.counts["traces"] == 1

    def gives_both(a):
        t = a.detach()
        a.mul_(2)
        return a, t

    x = lt.ones(2, requires_grad=True)
    y, t = lt.trace(gives_both)(x * 2)
    y.sum().backward()
    assert y.tolist() == t.tolist() == [4, 4] and not t.requires_grad
    assert x.grad.tolist() == [4, 4]


def test_a_write_through_a_detached_tensor_reaches_what_it_is_detached_of():
    def of_an_argument(a):
        t = a.detach()
        t.add_(1)
        t.data[:1].mul_(3)
        return a * 1, t

    def of_a_result(a):
        a = a.detach().requires_grad_()
        y = a * 2
        y.data.mul_(5)
        y.sum().backward()
        return y.detach(), a.grad

    for f in (of_an_argument, of_a_result):
        got, want = lt.ones(2) * 4, lt.ones(2) * 4
        for one, other in zip(lt.trace(f)(got), f(want)):
            assert one.tolist() == other.tolist()
        assert got.tolist() == want.tolist()


def test_results_that_would_be_made_later_are_refused():
    def yields(x):
        yield x * 2

    def maps(x):
        return x, map(lt.exp, [x])

    async def waits(x):
        return x

    for function in (yields, maps, waits):
        for wrap in (lt.trace, lt.script):
            with pytest.raises((lt.TraceError, lt.ScriptError), match="would be done later") as e:
                wrap(function)(lt.ones(2))
            assert f"test_trace.py:{function.__code__.co_firstlineno}" in str(e.value)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x * (x.shape[0] * 0.5),
        lambda x: x * (0.5 + x.shape[0] - 1.5),
        lambda x: x * (x.shape[0] ** 2 + 2 ** x.shape[0] + x.shape[0] ** 0.5),
        lambda x: x * ((x.shape[0] << 1) + (x.shape[0] >> 1) + (1 << x.shape[0])),
        lambda x: x * (2 if x.shape[0] == 3.0 else 7),
        lambda x: x * (2 if x.shape[0] != 3.0 else 7),
        lambda x: x * (2 if x.shape[0] > 3.5 else 7),
        lambda x: x * (2 if x.shape[0] <= 3.5 else 7),
        lambda x: x * (x.shape[0] // 2.0 + x.shape[0] % 1.5),
        lambda x: x * (x.shape[0] * 1j),
        lambda x: x * ((x.shape[0] & 3) + (x.shape[0] | 8) + (5 ^ x.shape[0])),
        lambda x: x * (abs(x.shape[0] - 9) + ~x.shape[0] + sum(divmod(x.shape[0], 2))),
        lambda x: x * (2 if x.shape[0] == None else +x.shape[0]),  # noqa: E711
    ],
)
def test_sizes_meet_floats_as_the_numbers_they_are(program):
    traced = lt.trace(program)
    for n in (2, 3, 4, 3):
        assert traced(lt.ones(n)).tolist() == program(lt.ones(n)).tolist()


def test_elements_of_another_dtype_where_there_are_none():
    def halves(x):
        y = lt.zeros(x.shape)
        y.copy_(x.real)
        return y.view(lt.float16)

    traced = lt.trace(halves)
    for shape in (3, 2), (0, 4), (2, 0), (0, 0):
        x = lt.zeros(shape, dtype=lt.complex64)
        assert traced(x).shape == halves(x).shape == (shape[0], 2 * shape[1])


def test_a_sample_that_nobody_uses_still_refuses_what_is_no_probability():
    def drawn(p, x):
        lt.bernoulli(p)
        return x + 1

    traced = lt.trace(drawn)
    x = lt.ones(2)
    lt.manual_seed(0)
    assert traced(lt.tensor([0.25, 1.0]), x).tolist() == [2, 2]
    for f in drawn, traced:
        with pytest.raises(lt.ValueError, match="probability outside"):
            f(lt.tensor([0.25, 1.5]), x)
