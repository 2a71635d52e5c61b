"""Rows QC, TL, PV, IO and IR: low precision, programs on arrays, graphs as text."""

import re

import numpy as np
import pytest
from compare import same
from rows import shows
from test_high_level import digits

import lathe as lt
from lathe import nn

torch = lt


# ── low precision ───────────────────────────────────────────────────────────────────────────────


@shows(
    "QC-06", "`half()` halves a model's bytes; a chain in f16 is one kernel, conversions and all"
)
def test_qc_06_half(flag):
    flag("engine", "llvm")
    net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
    before = sum(p.nbytes for p in net.parameters())
    net.half()
    assert sum(p.nbytes for p in net.parameters()) * 2 == before
    f = lt.trace(lambda x: ((x.float() * 3 + 1).half().tanh() * x).exp())
    x = lt.randn(50).half()
    y = f(x)
    assert y.dtype == lt.float16
    assert f.counts["generated_runs"] == 1 and f.counts["op_runs"] == 0
    assert same(y, ((x.float() * 3 + 1).half().tanh() * x).exp())


# ── tensor languages ────────────────────────────────────────────────────────────────────────────


def bilateral_slice(th, grid, guide, input, device="cpu"):
    """As the seed has it, for `import lathe as th` and `Variable` from lathe.autograd."""
    Variable = th.autograd.Variable  # noqa: N806
    bs, c, gd, gh, gw = grid.shape
    _, ci, h, w = input.shape
    xx = Variable(th.arange(0, w).to(device).view(1, -1).repeat(h, 1))
    yy = Variable(th.arange(0, h).to(device).view(-1, 1).repeat(1, w))
    gx = ((xx * 0.5) / w) * gw
    gy = ((yy * 0.5) / h) * gh
    gz = th.clamp(guide, 0.0, 1.0) * gd
    fx = th.clamp(th.floor(gx - 0.5), min=0)
    fy = th.clamp(th.floor(gy - 0.5), min=0)
    fz = th.clamp(th.floor(gz - 0.5), min=0)
    wx = gx - 0.5 - fx
    wy = gy - 0.5 - fy
    wx = wx.unsqueeze(0).unsqueeze(0)
    wy = wy.unsqueeze(0).unsqueeze(0)
    wz = th.abs(gz - 0.5 - fz)
    wz = wz.unsqueeze(1)
    fx = fx.long().unsqueeze(0).unsqueeze(0)
    fy = fy.long().unsqueeze(0).unsqueeze(0)
    fz = fz.long()
    cx = th.clamp(fx + 1, max=gw - 1)
    cy = th.clamp(fy + 1, max=gh - 1)
    cz = th.clamp(fz + 1, max=gd - 1)
    fz = fz.view(bs, 1, h, w)
    cz = cz.view(bs, 1, h, w)
    batch_idx = th.arange(bs).view(bs, 1, 1, 1).long().to(device)
    out = []
    co = c // (ci + 1)
    for c_ in range(co):
        c_idx = (
            th.arange((ci + 1) * c_, (ci + 1) * (c_ + 1)).view(1, ci + 1, 1, 1).long().to(device)
        )
        a = 0
        for z, by_z in ((fz, 1 - wz), (cz, wz)):
            for y, by_y in ((fy, 1 - wy), (cy, wy)):
                for x, by_x in ((fx, 1 - wx), (cx, wx)):
                    a = a + grid[batch_idx, c_idx, z, y, x] * by_x * by_y * by_z
        o = th.sum(a[:, :-1, ...] * input, 1) + a[:, -1, ...]
        out.append(o.unsqueeze(1))
    return th.cat(out, 1)


@shows(
    "TL-10",
    "partly: the bilateral slice of the seed: values against plain loops, gradients against "
    "differences; traced with eager's bits. Not: 4 MPix within 4 GiB, PyTorch beside it",
)
def test_tl_10_bilateral_slice():
    lt.set_default_dtype(lt.float64)
    rng = np.random.default_rng(0)
    shapes = ((1, 6, 3, 4, 5), (1, 6, 7), (1, 2, 6, 7))
    grid, guide, image = (lt.from_numpy(rng.random(s)) for s in shapes)
    out = bilateral_slice(torch, grid, guide, image)
    g, u, v = grid.numpy(), guide.numpy(), image.numpy()
    want = np.zeros((1, 2, 6, 7))
    for o in range(2):
        for y in range(6):
            for x in range(7):
                at = np.array([u[0, y, x] * 3, y * 0.5 / 6 * 4, x * 0.5 / 7 * 5])
                low = np.maximum(np.floor(at - 0.5), 0)
                weight = at - 0.5 - low
                weight[0] = abs(weight[0])
                high = np.minimum(low + 1, [2, 3, 4])
                for corner in range(8):
                    upper = [(corner >> 2) & 1, (corner >> 1) & 1, corner & 1]
                    z, r, c = (int(high[k] if upper[k] else low[k]) for k in range(3))
                    part = np.prod([weight[k] if upper[k] else 1 - weight[k] for k in range(3)])
                    a = g[0, 3 * o : 3 * o + 3, z, r, c] * part
                    want[0, o, y, x] += a[:2] @ v[0, :, y, x] + a[2]
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-12)
    traced = lt.trace(lambda a, b, c: bilateral_slice(torch, a, b, c))
    assert same(traced(grid, guide, image), out)
    leaves = [t.requires_grad_() for t in (grid, guide, image)]
    bilateral_slice(torch, *leaves).backward(lt.ones_like(out))
    assert all(t.grad is not None for t in leaves)
    small = [lt.from_numpy(rng.random(s)).requires_grad_() for s in ((1, 2, 2, 2, 2), (1, 2, 2))]
    fixed = lt.from_numpy(rng.random((1, 1, 2, 2)))
    assert lt.autograd.gradcheck(lambda a, b: bilateral_slice(torch, a, b, fixed), tuple(small))


@shows(
    "TL-16",
    "partly: a random forest of scikit-learn as gathers and comparisons: its predictions. "
    "Not: a converter in the library",
)
def test_tl_16_random_forest():
    ensemble = pytest.importorskip("sklearn.ensemble", reason="scikit-learn is not installed")
    images, classes = digits()
    forest = ensemble.RandomForestClassifier(10, max_depth=6, random_state=0)
    forest.fit(images, classes)
    trees = [e.tree_ for e in forest.estimators_]
    most = max(t.node_count for t in trees)

    def table(name, dtype):
        rows = [np.resize(getattr(t, name), most) for t in trees]
        return lt.from_numpy(np.stack(rows).astype(dtype))

    leaf = lt.from_numpy(
        np.stack([np.resize(t.children_left, most) for t in trees]).astype(np.int64)
    )
    left, right = table("children_left", np.int64), table("children_right", np.int64)
    feature, threshold = table("feature", np.int64), table("threshold", np.float64)
    votes = np.zeros((10, most, 10))
    for k, t in enumerate(trees):
        values = t.value[:, 0]
        votes[k, : t.node_count] = values / values.sum(1, keepdims=True)
    votes = lt.from_numpy(votes)

    @lt.trace
    def predict(x):
        n = x.shape[0]
        node = lt.zeros(10, n, dtype=lt.int64)
        for _ in range(6):
            value = lt.gather(x.T, 0, lt.clamp_min(lt.gather(feature, 1, node), 0))
            below = value <= lt.gather(threshold, 1, node)
            child = lt.where(below, lt.gather(left, 1, node), lt.gather(right, 1, node))
            node = lt.where(lt.gather(leaf, 1, node) < 0, node, child)
        picked = lt.stack([votes[k].index_select(0, node[k]) for k in range(10)])
        return picked.mean(0).argmax(1)

    for count in (300, 1, 77):
        got = predict(lt.from_numpy(images[:count]))
        np.testing.assert_array_equal(got.numpy(), forest.predict(images[:count]))
    assert predict.counts["traces"] == 1


@shows(
    "TL-18",
    "partly: a traced gradient is a graph that is printed, rewritten, run, and differentiated "
    "again. Not: from one graph object to another in Python",
)
def test_tl_18_derivative_as_a_graph():
    def f(x):
        return (x.tanh() * x).sum()

    first = lt.trace(lt.func.grad(f))
    second = lt.trace(lt.func.grad(lambda x: lt.func.grad(f)(x).sum()))
    x = lt.randn(4, dtype=lt.float64)
    t = np.tanh(x.numpy())
    np.testing.assert_allclose(first(x).numpy(), t + x.numpy() * (1 - t * t), rtol=1e-12)
    want = 2 * (1 - t * t) * (1 - x.numpy() * t)
    np.testing.assert_allclose(second(x).numpy(), want, rtol=1e-12)
    for traced in (first, second):
        assert "tanh(" in traced.graph and "group" in traced.optimised


# ── printing, other arrays, graphs ──────────────────────────────────────────────────────────────


@shows(
    "PV-04",
    "partly: `utils.summary`: parts with kind, result (the batch as *), parameters and "
    "multiplications, bytes and totals. Not: the other costs of PV-12",
)
def test_pv_04_summary():
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10)
    )
    text = lt.utils.summary(net, lt.zeros(5, 1, 8, 8))
    rows = [re.split(r"  +", line) for line in text.splitlines()]
    assert rows[0] == ["part", "kind", "result", "parameters", "multiplications"]
    assert rows[1] == ["0", "Conv2d", "[*, 4, 8, 8]", "40", f"{9 * 4 * 64:,}"]
    assert rows[3] == ["2", "MaxPool2d", "[*, 4, 4, 4]", "0", "0"]
    assert rows[5] == ["4", "Linear", "[*, 10]", "650", "640"]
    assert text.splitlines()[-1] == "690 parameters, 2,760 bytes, 2,944 multiplications"
    assert not net[0]._forward_hooks, "the hooks are gone"


@shows("PV-07", "a symbolic `x + sqrt(y)` prints as readable text with the inputs' names")
def test_pv_07_printing():
    spec = lt.InputSpec((None,))
    graph = lt.jit.capture(lambda x, y: x + y.sqrt(), (spec, spec)).graph
    lines = [line.split("#")[0].strip() for line in graph.splitlines()]
    assert lines[0].startswith("graph ") and "(%x: f32[s0], %y: f32[s1])" in lines[0]
    assert [line for line in lines if "=" in line and "(" in line and "size" not in line][-2:] == [
        "%0: f32[s1] = sqrt(%y)",
        "%1: f32[s1] = add(%x, %0)",
    ]


@shows(
    "IO-08",
    "tensors are iterated, filtered, indexed and handed to matplotlib without a conversion",
)
def test_io_08_native_syntax():
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    pyplot.switch_backend("agg")
    points = lt.tensor([[0.5, 1.0], [-1.0, 2.0], [2.0, -3.0], [1.0, 4.0]])
    kept = [p for p in points if p[0] > 0]
    assert [p.tolist() for p in kept] == [[0.5, 1.0], [2.0, -3.0], [1.0, 4.0]]
    x, y = points[points[:, 0] > 0].T
    figure, axes = pyplot.subplots()
    drawn = axes.scatter(x, y)
    np.testing.assert_array_equal(drawn.get_offsets(), [p.tolist() for p in kept])
    assert max(points, key=lambda p: float(p[1])).tolist() == [1, 4]
    pyplot.close(figure)


@shows(
    "IR-18",
    "partly: of the ops that engines run most are one formula each; their count has a ceiling "
    "here, and everything else is composite. Not: about 60",
)
def test_ir_18_primitives():
    rows = [r for r in lt._lathe._definitions() if r["kind"] != "composite"]
    formulas = [r for r in rows if r["kind"] == "elementwise"]
    print(f"rows: {len(rows)} that engines run, {len(formulas)} of them formulas")
    assert len(rows) <= 320 and len(rows) - len(formulas) <= 130


@shows(
    "IR-21",
    "`freeze` (inference) is one more pass before the one pipeline of training, and says so; the "
    "passes of both are printed",
)
def test_ir_21_use_cases():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).eval()
    spec = lt.InputSpec((None, 1, 5, 5))
    frozen, plain = lt.freeze(net, spec), lt.jit.capture(net, (spec,))

    def passes(program):
        return re.findall(r"(?m)^(\w+) +\d+ -> +\d+ nodes", program.explain(verbose=True))

    assert set(passes(frozen)) == set(passes(plain)) and "fuse_pointwise" in passes(plain)
    assert "batch norm" in frozen.note and plain.note == ""
    assert "rsqrt" not in frozen.graph and "rsqrt" in plain.graph


@shows("IR-07", "numbers stand as operands in a graph's text, and are read back with their bits")
def test_ir_07_literals(tmp_path):
    def f(x):
        return (x**5 * 0.1 + 1e-30).maximum(-float("inf"))

    lt.save(f, tmp_path / "f.lathe", inputs=(lt.ones(3),))
    program = lt.load(tmp_path / "f.lathe")
    for text in ("pow_real(%x, 5)", ", 0.1)", ", 1e-30)", ", -inf)"):
        assert text in program.graph, text
    x = lt.randn(9)
    assert same(program(x), f(x))


@shows(
    "IR-08",
    "partly: the list of passes is printed with what each did; the pipeline can stop after any "
    "number of changes, and the graph is printed as it is then. Not: a command",
)
def test_ir_08_stages(flag):
    def f(x):
        return (x * 1 - 0) + (x * 1 - 0)

    x, texts = lt.randn(3), []
    for limit in range(8):
        flag("rewrite_limit", limit)
        traced = lt.trace(lambda x: f(x))
        assert same(traced(x), f(x)), limit
        texts.append(traced.optimised.count("= mul(") + traced.optimised.count("= sub("))
    assert texts[0] == 4 and texts[-1] == 0 and texts == sorted(texts, reverse=True)
    assert len(set(texts)) > 2, "in steps"
