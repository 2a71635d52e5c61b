"""Sizes that only running tells (masks, nonzero, unique ...) inside of a program."""

import numpy as np
import pytest

import lathe as lt

X = lt.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 3.0]])


def bits(value):
    if isinstance(value, (tuple, list)):
        return [bits(v) for v in value]
    if isinstance(value, lt.Tensor):
        return value.dtype, tuple(value.shape), value.detach().contiguous().numpy().tobytes()
    return value


@pytest.fixture(params=[lt.trace, lt.script], ids=["trace", "script"])
def capture(request):
    return request.param


@pytest.fixture
def strict():
    before = lt.get_flag("fallback_is_error")
    lt.set_flag("fallback_is_error", True)
    yield
    lt.set_flag("fallback_is_error", before)


OPS = {
    "nonzero": lambda x: lt.nonzero(x),
    "nonzero_tuple": lambda x: lt.nonzero(x, as_tuple=True),
    "argwhere": lambda x: lt.argwhere(x),
    "where": lambda x: lt.where(x > 0),
    "masked_select": lambda x: x.masked_select(x > 0),
    "mask": lambda x: x[x > 0] * 2,
    "mask_rows": lambda x: x[x.sum(1) > 3],
    "unique": lambda x: lt.unique(x),
    "unique_all": lambda x: lt.unique(x, return_inverse=True, return_counts=True),
    "unique_rows": lambda x: lt.unique(x, dim=0),
    "unique_consecutive": lambda x: lt.unique_consecutive(x),
    "bincount": lambda x: lt.bincount(x.flatten().to(lt.int64)),
    "one_hot": lambda x: lt.nn.functional.one_hot(x.flatten().to(lt.int64)),
    "repeat_interleave": lambda x: x.repeat_interleave(x[0].to(lt.int64), 1),
    "assign": lambda x: assigned(x),
    "scatter": lambda x: lt.zeros_like(x).masked_scatter(x > 0, x[x > 0] + 1),
}
CHAINS = {
    "sum": lambda x: x[x > 0].sum() + x[x > 1].mean(),
    "sort": lambda x: lt.sort(x[x > 0])[0],
    "two_of_one_mask": lambda x: x[x > 0] + (x * 2)[x > 0],
    "matmul": lambda x: x[x[:, 0] >= 0] @ x[x[:, 0] >= 0].T,
    "cat": lambda x: lt.cat([x[x > 0], x[x <= 0]]),
    "slice": lambda x: x[x > 0][1:] - x[x > 0][:-1],
    "softmax": lambda x: lt.softmax(x[x > 0], 0),
    "size": lambda x: (x[x > 0].shape[0] * 2 + 1) * lt.ones(2),
    "zeros": lambda x: lt.zeros(x[x > 0].shape[0], 2) + 1,
    "arange": lambda x: lt.arange(x[x > 0].shape[0]),
    "select": lambda x: x[x >= 0][0],
    "reshape": lambda x: x[x >= 0].reshape(-1, 3),
    "stack": lambda x: lt.stack([x[x > 0], x[x > 0].exp()]).cumsum(1),
    "again": lambda x: lt.unique(x[x > 0])[lt.unique(x[x > 0]) < 3],
    "topk": lambda x: lt.topk(x[x > 0], 1)[0],
}


def assigned(x):
    y = x.clone()
    y[y > 1] = y[y > 1] * 10
    return y


def inputs():
    rng = np.random.default_rng(3)
    for shape in ((2, 3), (4, 3), (1, 3), (7, 3), (2, 3)):
        yield lt.tensor(rng.integers(0, 4, shape).astype("float32"))


@pytest.mark.parametrize("name", [*OPS, *CHAINS])
def test_one_program_for_all_data(name, capture, strict):
    f = (OPS | CHAINS)[name]
    g = capture(f)
    for x in inputs():
        if name == "reshape":
            x = x.abs()
        if name in ("select", "topk") and x.max() <= 0:
            x = x + 1
        assert bits(g(x)) == bits(f(x))
    assert g.counts["traces"] == 1, g.reasons()


def test_sizes_that_do_not_meet_are_eagers_error():
    def f(x):
        return x[x > 0] + x[x > 2]

    g = lt.trace(f)
    same = lt.tensor([3.0, 0.0, 4.0])
    assert bits(g(same)) == bits(f(same))
    lone = lt.tensor([3.0, 1.0, 0.0])  # one of the two is 1: eager broadcasts
    assert bits(g(lone)) == bits(f(lone))
    bad = lt.tensor([3.0, 1.0, 5.0, 1.0])
    with pytest.raises(lt.ShapeError, match="do not broadcast"):
        g(bad)
    assert g.counts["traces"] == 1
    assert "2 calls ran as they are: a size that data decides" in g.explain(verbose=True)


def test_nothing_is_done_twice_where_a_call_is_left():
    state = lt.zeros(1)

    def f(x):
        noise = lt.rand(2)
        state.add_(1)
        return x[x > 0] + x[x > 2], noise

    g = lt.trace(f)
    x = lt.tensor([3.0, 1.0, 0.0])
    lt.manual_seed(5)
    g(lt.tensor([3.0, 0.0]))
    want_noise = [lt.rand(2), lt.rand(2)]
    lt.manual_seed(5)
    g(lt.tensor([3.0, 0.0]))
    before = state.item()
    assert bits(g(x)[1]) == bits(want_noise[0])
    assert state.item() == before + 1


def test_a_branch_in_python_is_refused_with_advice():
    def f(x):
        y = x[x > 0]
        if y.shape[0] == 0:
            return x.flatten()
        return y

    with pytest.raises(lt.TraceError, match=r"(?s)branches on a size.*lathe\.script"):
        lt.trace(f)(X)
    g = lt.script(f)
    for x in (X, -X, X * 0):
        assert bits(g(x)) == bits(f(x))
    assert g.counts["traces"] == 1


@pytest.mark.parametrize("ask", [
    lambda n: n > 3, lambda n: bool(n), lambda n: int(n) + 1, lambda n: list(range(n)),
    lambda n: [0] * n, lambda n: {n: 1}, lambda n: abs(n), lambda n: 1.0 / n,
])  # fmt: skip
def test_the_number_itself_is_refused(ask):
    with pytest.raises(lt.TraceError, match="only running the program tells"):
        lt.trace(lambda x: (ask(x[x > 0].shape[0]), x)[1])(X)


def test_gradients(capture, strict):
    def loss(x, w):
        y = x[w > 0] * w.masked_select(w > 0)
        return (y.sin() * y).sum() + x[lt.nonzero(w < 0, as_tuple=True)[0]].sum()

    g = capture(loss)

    def step(f, x, w):
        x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
        value = f(x, w)
        return [value, *lt.autograd.grad(value, [x, w])]

    def inside(x, w):
        return step(loss, x, w)

    h = capture(inside)
    lt.manual_seed(1)
    for n in (5, 3, 8, 1):
        x, w = lt.randn(n), lt.randn(n)
        want = step(loss, x, w)
        assert bits(step(g, x, w)) == bits(want)
        assert bits(h(x, w)) == bits(want)
    assert g.counts["traces"] == h.counts["traces"] == 1
    assert g.counts["node_by_node"] == 0


def shrinking(boxes):
    kept = lt.zeros(1)
    boxes = boxes[boxes > 0]
    while boxes.shape[0] > 0:
        kept = kept + boxes[0]
        boxes = boxes[1:]
        boxes = boxes[boxes > 0.5]
    return kept


def test_a_loop_over_a_tensor_that_shrinks(strict):
    g = lt.script(shrinking)
    lt.manual_seed(2)
    for n in (5, 1, 0, 9, 30):
        x = lt.randn(n)
        assert bits(g(x)) == bits(shrinking(x))
    assert g.counts["traces"] == 1, g.reasons()


def test_files_and_text(tmp_path):
    def f(x):
        y = x[x > 0]
        return y * 2, lt.unique(x)

    path = str(tmp_path / "picked.lathe")
    lt.save(f, path, [X])
    program = lt.load(path)
    for x in inputs():
        assert bits(program(x)) == bits(f(x))


@pytest.mark.parametrize(
    "rest",
    [
        lambda v: v.reshape(-1, 3).sum(1),
        lambda v: v.reshape(2, -1).sum(1),
        lambda v: v.unfold(0, 2, 2).sum(1),
        lambda v: v.unfold(0, 3, 1).sum(1),
        lambda v: lt.nn.functional.avg_pool1d(v[None, None], 2)[0, 0],
    ],
)
def test_gradients_of_what_asks_more_of_a_size(rest):
    """Whole rows, and windows: the derivative asks the same of a size that data decides."""

    def function(x):
        return rest(x[x > 0])

    traced = lt.trace(function)
    for count in (6, 12, 18):
        found = []
        for call in (function, traced):
            x = lt.cat([lt.arange(1.0, count + 1), -lt.ones(4)]).requires_grad_()
            call(x).square().sum().backward()
            found.append(x.grad.tolist())
        assert found[0] == found[1]


def put(y, v, mask):
    y = y * 1
    y[mask] = v[:2]
    return y


MEETING = {
    "put": put,
    "fixed": lambda y, v, mask: y[mask] * lt.tensor([2.0, 3.0]) + v[0],
    "given": lambda y, v, mask: y[mask] * v.narrow(0, 0, 2),
    "within": lambda y, v, mask: y[mask] * v.narrow(0, 0, y[mask].shape[0]),
    "beside": lambda y, v, mask: y[mask] * v.narrow(0, y[mask].shape[0], 2),
    "product": lambda y, v, mask: y[mask] @ v[:2],
    "where": lambda y, v, mask: lt.where(lt.tensor([True, False]), y[mask], v[1:3]),
    "counted": lambda y, v, mask: y / lt.bincount(mask.long(), minlength=3).clamp_min(1) * v[0],
    "expanded": lambda y, v, mask: y[mask] * v[:1].expand(2),
    "stretched": lambda y, v, mask: y[mask] - v[:1],
}


@pytest.mark.parametrize("name", MEETING)
def test_a_size_that_meets_another_is_that_one(name, capture):
    """Such a program is kept with its gradient; where data decide otherwise, eager code runs."""
    function = MEETING[name]
    traced = capture(function)
    masks = ([1, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 1])
    for mask in masks:
        found = []
        for call in (function, traced):
            y, v = lt.arange(3.0).requires_grad_(), lt.arange(5.0, 9.0).requires_grad_()
            try:
                result = call(y, v, lt.tensor(mask).bool())
            except lt.Error as e:
                found.append(type(e))
                continue
            result.square().sum().backward()
            found.append([bits(t) for t in (result, y.grad, v.grad)])
        assert found[0] == found[1], mask
    assert traced.counts["traces"] == 1, traced.reasons()
    assert traced.counts["node_by_node"] == 0
