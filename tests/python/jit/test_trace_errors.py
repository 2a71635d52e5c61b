"""A traced function that catches an op's error: sizes tell whether it is met, at every call."""

import contextlib

import pytest

import lathe as lt
from lathe.nn import functional as F

FAILS = {  # on two elements; works on four
    "select": lambda x: x[3] * 1,
    "matmul": lambda x: x @ lt.ones(4),
    "view": lambda x: x.view(-1, 4) * 1,
    "view of a fixed size": lambda x: x.view(4) * 1,
    "reshape": lambda x: x.reshape(2, 2) * 1,
    "expand": lambda x: x.expand(4) * 1,
    "narrow": lambda x: x.narrow(0, 1, 2) * 1,
    "split": lambda x: x.split([2, 2])[0] * 1,
    "unfold": lambda x: x.unfold(0, 3, 1) * 1,
    "add": lambda x: x + lt.ones(4),
    "cat": lambda x: lt.cat([x.view(1, -1), lt.ones(1, 4)]),
    "stack": lambda x: lt.stack([x, lt.ones(4)]),
    "topk": lambda x: x.topk(3).values,
    "linear": lambda x: F.linear(x, lt.ones(2, 4)),
    "conv2d": lambda x: F.conv2d(x.view(1, 1, 1, -1), lt.ones(1, 1, 1, 3)),
    "max_pool2d": lambda x: F.max_pool2d(x.view(1, 1, 1, -1), (1, 3)),
    "in place": lambda x: (x * 1).add_(lt.ones(4)),
}


@pytest.mark.parametrize("sizes", [(2, 4, 2, 4), (4, 2, 4, 2)], ids=["fails first", "works first"])
@pytest.mark.parametrize("name", FAILS)
def test_a_caught_error_is_met_where_eager_meets_it(name, sizes):
    def body(x):
        try:
            return FAILS[name](x)
        except lt.Error:
            return x.sum() * 100

    traced = lt.trace(body)
    for n in sizes:
        x = lt.arange(n, dtype=lt.float32) + 1
        want, got = body(x), traced(x)
        assert (got.shape, got.tolist()) == (want.shape, want.tolist())
    assert traced.counts["traces"] <= 2


def test_a_maximum_of_nothing():
    def body(x):
        try:
            return x.amax()
        except ValueError:
            return lt.zeros(())

    traced = lt.trace(body)
    assert [traced(lt.ones(n)).item() for n in (0, 3, 0, 5)] == [0, 1, 0, 1]


def test_a_saved_function_that_caught_an_error_refuses_sizes_that_have_none(tmp_path):
    lt.save(lambda x: caught(x), tmp_path / "f.lathe", inputs=(lt.ones(2),))
    program = lt.load(tmp_path / "f.lathe")
    assert program(lt.ones(3)).item() == 300
    with pytest.raises(
        lt.ShapeError, match=r"saved for inputs of other sizes\n.*3 and 5\n.*3 >= s0"
    ):
        program(lt.ones(5))


def caught(x):
    try:
        return x[3] * 1
    except IndexError:
        return x.sum() * 100


def test_an_error_at_a_later_call_is_the_ops_own_with_the_numbers():
    traced = lt.trace(lambda x, w: x @ w)
    traced(lt.ones(2, 3), lt.ones(3, 4))
    with pytest.raises(lt.ShapeError, match="inner sizes differ") as error:
        traced(lt.ones(2, 3), lt.ones(5, 4))
    assert "a[2, 3] @ b[5, 4]" in error.value.got
    assert traced.counts["traces"] == 1
    assert traced(lt.ones(6, 5), lt.ones(5, 4)).shape == (6, 4)


def test_the_named_tuple_of_an_op_is_a_result():
    traced = lt.trace(lambda x: (x.sort(), [x.max(0)]))
    traced(lt.ones(2))
    (values, indices), [largest] = traced(lt.tensor([3.0, 1.0, 2.0]))
    assert (values.tolist(), indices.tolist()) == ([1, 2, 3], [1, 2, 0])
    assert (largest.values.item(), largest.indices.item()) == (3, 0)
    assert type(largest) is type(lt.ones(1).max(0))


# ── elements decide ─────────────────────────────────────────────────────────────────────────────

GOOD, BAD = lt.tensor([0, 1]), lt.tensor([0, 9])
WHERE = {  # of BAD, and of a matrix or numbers that are like it; works for GOOD
    "index": lambda x, i: x[i],
    "gather": lambda x, i: x.gather(0, i),
    "embedding": lambda x, i: F.embedding(i, x.reshape(2, 2)),
    "cross_entropy": lambda x, i: F.cross_entropy(x.reshape(2, 2), i.long()),
    "floor_divide": lambda x, i: (x.long() + 7)[:2] // (9 - i),
    "inv": lambda x, i: lt.linalg.inv(lt.eye(2) * (9 - i).float()),
    "cholesky": lambda x, i: lt.linalg.cholesky(lt.eye(2) * (9 - i).float()),
    "write": lambda x, i: x.clone().index_add_(0, i, lt.ones(2)),
}


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("order", ["fails first", "works first"])
@pytest.mark.parametrize("name", WHERE)
def test_an_error_that_elements_decide_is_caught(name, order, capture):
    def body(x, i):
        try:
            return WHERE[name](x, i)
        except RuntimeError:
            return x * 100

    captured = capture(body)
    x = lt.arange(4.0) + 1
    for i in (BAD, GOOD, BAD, GOOD) if order == "fails first" else (GOOD, BAD, GOOD):
        want, got = body(x, i), captured(x, i)
        assert (got.dtype, got.tolist()) == (want.dtype, want.tolist())
    assert captured.counts["traces"] == 1
    assert "calls ran as they are" in captured.explain()


class Counts(lt.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = lt.nn.Parameter(lt.arange(4.0))
        self.register_buffer("seen", lt.zeros(()))
        self.calls, self.said = 0, []

    def forward(self, x, i):
        self.calls += 1
        self.seen.add_(1)
        x.mul_(2)
        noise = lt.rand(2)
        self.said.append("drawn")
        out = (self.weight * x)[i] * noise
        self.said.append("read")
        self.seen.mul_(2)
        return out


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("grad", [True, False])
def test_what_a_call_that_fails_leaves_is_as_eager_leaves_it(capture, grad):
    def left(wrap):
        lt.manual_seed(3)
        model = Counts()
        called, out, x = wrap(model), [], lt.ones(4)
        with lt.set_grad_enabled(grad):
            for i in (GOOD, BAD, GOOD, BAD):
                try:
                    y = called(x, i)
                    if grad:
                        y.sum().backward()
                    out.append(y.tolist())
                except IndexError as e:
                    out.append(str(e).splitlines()[:3])
                state = model.calls, model.seen.item(), list(model.said), x.tolist()
                out.append((state, lt.rand(2).tolist()))
        return out, None if model.weight.grad is None else model.weight.grad.tolist()

    assert left(capture) == left(lambda model: model)


def test_what_was_called_in_order_is_not_called_again(capsys):
    @lt.trace
    def f(x, i):
        print("summed", x.sum())
        return x[i]

    f(lt.ones(3), GOOD)
    with pytest.raises(IndexError):
        f(lt.ones(3), BAD)
    assert capsys.readouterr().out == "summed tensor(3.)\n" * 2


def test_with_a_fallback_as_an_error_the_function_has_to_raise_it(flag):
    def body(x, i):
        try:
            return x[i]
        except IndexError:
            return x

    flag("fallback_is_error", "1")
    traced = lt.trace(body)
    traced(lt.ones(3), GOOD)
    with pytest.raises(lt.TraceError, match="does not raise"):
        traced(lt.ones(3), BAD)
    with pytest.raises(IndexError):
        lt.trace(lambda x, i: x[i])(lt.ones(3), BAD)


# ── what is seen before it raises ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_a_hook_that_raises_comes_after_the_writes(capture):
    def pack(t):
        calls.append(1)
        raise KeyError("full")

    calls, w, x = [], lt.ones(3, requires_grad=True), lt.zeros(3)
    captured = capture(lambda x: (x.add_(1) * w).sin())
    for k in (1, 2):
        with lt.autograd.graph.saved_tensors_hooks(pack, lambda t: t), pytest.raises(KeyError):
            captured(x)
        assert x.tolist() == [k] * 3 and len(calls) == k
    assert "ran as they were" not in captured.explain()


def test_a_checkpoint_stops_in_a_traced_function():
    from lathe.utils.checkpoint import checkpoint

    w = lt.ones(3, requires_grad=True)
    checkpoint(lt.trace(lambda x: x.sin()), w, use_reentrant=False).sum().backward()
    assert lt.equal(w.grad, lt.cos(w.detach()))


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_a_view_of_a_leaf_is_not_written(capture):
    captured = capture(lambda x: x.add_(1) * 2)
    captured(lt.zeros(3))
    leaf = lt.zeros(3, requires_grad=True)
    for _ in range(2):
        with pytest.raises(lt.AutogradError, match="a leaf that requires grad"):
            captured(leaf[:])
    assert leaf.tolist() == [0, 0, 0]
    with lt.no_grad():
        captured(leaf[:])
    assert leaf.tolist() == [1, 1, 1]


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_a_size_that_was_presumed_and_is_not_prints_once(capture, capsys):
    def f(x):
        print("summed", x.sum())
        picked = x[x > 1]
        return (picked * lt.tensor([1.0, 2.0])).sum()

    captured = capture(f)
    for x in ([2.0, 2.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 3.0]):
        assert captured(lt.tensor(x)).item() == f(lt.tensor(x)).item()
    said = capsys.readouterr().out.splitlines()
    assert said == ["summed tensor(4.)"] * 2 + ["summed tensor(2.)"] * 2 + ["summed tensor(5.)"] * 2


def test_prints_of_scripts_in_scripts_come_in_order(capsys):
    @lt.script
    def inner(x):
        print("inner")
        return x

    def called(x):
        return inner(x)

    @lt.script
    def outer(x, most):
        print("outer")
        y = lt.callback(called, x, result=x)
        if y.sum() > most:
            raise ValueError("too much")
        return y

    outer(lt.ones(3), lt.tensor(5.0))
    outer(lt.ones(3), lt.tensor(5.0))
    assert capsys.readouterr().out.split() == ["outer", "inner"] * 2
    with pytest.raises(ValueError, match="too much"):
        outer(lt.ones(3), lt.tensor(1.0))
    said = capsys.readouterr().out.split()
    assert said[:2] == ["outer", "inner"] and said.count("outer") == 1
    outer(lt.ones(3), lt.tensor(5.0))
    assert capsys.readouterr().out.split() == ["outer", "inner"]


def test_a_callback_that_is_interrupted_is_behind_what_was_printed(capsys):
    def interrupted(a):
        if stop:
            raise KeyboardInterrupt
        return a

    @lt.script
    def f(x):
        print("before")
        y = lt.callback(interrupted, x, result=x)
        if y.sum() > 50:
            raise ValueError("too much")
        return y

    stop = []
    f(lt.ones(3))
    stop.append(1)
    with pytest.raises(KeyboardInterrupt):
        f(lt.ones(3))
    assert capsys.readouterr().out.split() == ["before"] * 2


def test_what_a_callback_has_drawn_is_given_back():
    def f(x, i):
        return x[i] + lt.callback(lambda a: a + lt.rand(2), x[:2], result=x[:2])

    def drawn(f):
        lt.manual_seed(1)
        for i in (GOOD, BAD):
            with contextlib.suppress(IndexError):
                f(lt.ones(3), i)
        return lt.rand(2).tolist()

    assert drawn(lt.trace(f)) == drawn(f)
