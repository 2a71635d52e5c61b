"""Rows RW, VL and CG: what rewriting does to a graph, the table of implementations, kernels."""

import re

import numpy as np
import pytest
from compare import bits, same
from rows import shows

import lathe as lt
from lathe import nn
from lathe.nn import functional as F  # noqa: N812


def calls(text, op):
    """How often the op stands in a graph's text."""
    return len(re.findall(rf"= {op}\(", text))


def without_lines(text):
    return re.sub(r" +#.*", "", text)


@shows("RW-01", "one pipeline of named passes to a fixed point, with counts and times")
def test_rw_01_pipeline():
    f = lt.trace(lambda x: (x + 0) * 1 + (x * 2) + (x * 2))
    f(lt.ones(3))
    for name in ("merge_common", "eliminate_dead", "fold_constants", "canonicalise"):
        assert name in f.explain(verbose=True)
    assert "nodes" in f.explain(verbose=True) and " ms" in f.explain(verbose=True)


@shows("RW-02", "two spellings of one function are one graph after the pipeline")
def test_rw_02_canonical_form():
    spellings = [
        lambda x, y: x * 2 + 1 - y,
        lambda x, y: 1 + 2 * x - y,
        lambda x, y: ((x - 0) * 2 + 1) * 1 - y,
    ]
    texts = set()
    for spelling in spellings:
        f = lt.trace(spelling)
        x, y = lt.randn(3), lt.randn(3)
        assert same(f(x, y), spelling(x, y))
        texts.add(without_lines(f.optimised))
    assert len(texts) == 1
    other = lt.trace(lambda x, y: y - (x * 2 + 1))
    other(lt.randn(3), lt.randn(3))
    assert without_lines(other.optimised) not in texts


@shows(
    "RW-05",
    "neighbouring axes of a kernel become one loop, also where sizes are free: those that the "
    "program knows to be equal are one symbol",
)
def test_rw_05_axes_collapse(tmp_path):
    def axes(shape):
        spec = lt.InputSpec(shape)
        lt.save(lambda a, b: a + b, tmp_path / "add.lathe", inputs=(spec, spec))
        program = lt.load(tmp_path / "add.lathe")
        x, y = lt.randn(4, 5, 6), lt.randn(4, 5, 6)
        assert same(program(x, y), x + y)
        return int(re.search(r"\((\d+) axes", program.explain(verbose=True))[1])

    assert axes((4, 5, 6)) == axes((None, None, None)) == 1


@shows("RW-09", "what is known is computed once, with eager's bits; random numbers never are")
def test_rw_09_constant_folding(tmp_path):
    table = lt.tensor([0.3, -2.0, 7.5])

    def f(x):
        return x * (table.exp() + table.tanh() / 3).sqrt() + lt.rand(3)

    lt.save(f, tmp_path / "f.lathe", inputs=(lt.ones(3),))
    program = lt.load(tmp_path / "f.lathe")
    assert calls(program.graph, "exp") == calls(program.graph, "rand") == 1
    text = program.optimised
    assert calls(text, "exp") == calls(text, "tanh") == calls(text, "sqrt") == 0
    assert calls(text, "rand") == 1
    x = lt.randn(3)
    lt.manual_seed(5)
    want = [f(x), f(x)]
    lt.manual_seed(5)
    assert same(program(x), want[0]) and same(program(x), want[1])
    assert bits(want[0]) != bits(want[1])


@shows("RW-12", "dead results go, also inside branches and loops")
def test_rw_12_dead_in_blocks():
    @lt.script
    def f(x):
        if x.sum() > 0:
            dead = x.exp()  # noqa: F841
            y = x * 2
        else:
            y = x
        i = lt.tensor(0)
        while i < 3:
            unused = y.tanh()  # noqa: F841
            y = y + 1
            i = i + 1
        return y

    assert f(lt.ones(2)).tolist() == [5, 5] and f(-lt.ones(2)).tolist() == [2, 2]
    assert calls(f.optimised, "exp") == calls(f.optimised, "tanh") == 0
    assert calls(f.optimised, "add") == 2 and "while" in f.optimised


@shows(
    "RW-08",
    "a chain of 20 pointwise ops is one kernel; bias and relu are a convolution's epilogue",
)
def test_rw_08_fusion(flag):
    def chain(x):
        for _ in range(10):
            x = (x * 1.5).tanh()
        return x

    flag("engine", "llvm")
    f = lt.trace(chain)
    x = lt.randn(100)
    assert same(f(x), chain(x))
    assert f.counts["generated_runs"] == 1
    conv = nn.Conv2d(2, 3, 3)
    g = lt.trace(lambda x: F.relu(conv(x)))
    with lt.no_grad():
        images = lt.randn(2, 2, 6, 6)
        assert same(g(images), F.relu(conv(images)))
    steps = dict(re.findall(r"(?m)^  (\d+)\. (.*?) -> ", g.explain(verbose=True)))
    (hot,) = re.findall(r"(\d+)\. group.*\n +fused into step (\d+) as", g.explain(verbose=True))
    assert steps[hot[0]] == "group of 2 ops" and steps[hot[1]] == "convolution2d"


@shows(
    "RW-13",
    "partly: each convolution of a network takes its bias and relu along: no step of their own. "
    "Not: ResNet-50",
)
def test_rw_13_conv_bias_relu():
    net = nn.Sequential()
    for k in range(5):
        net.append(nn.Conv2d(1 if k == 0 else 3, 3, 3, padding=1)).append(nn.ReLU())
    program = lt.freeze(net, lt.InputSpec((None, 1, 6, 6)))
    x = lt.randn(2, 1, 6, 6)
    assert same(program(x), net.eval()(x).detach())
    text = program.explain(verbose=True)
    assert len(re.findall(r"(?m)^  \d+\. convolution2d", text)) == 5
    assert len(re.findall(r"fused into step \d+ as its epilogue", text)) == 5
    assert len(re.findall(r"(?m)^  \d+\. ", text)) == 10


@shows(
    "RW-16",
    "partly: `freeze` leaves out what only training needs (dropout, gradients); the bits of "
    "evaluation stay. Not: a command, printing and checks",
)
def test_rw_16_training_only():
    net = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.5), nn.Tanh(), nn.Dropout(0.1))
    x = lt.randn(3, 4)
    training = lt.trace(lambda x: net(x))
    training(x)
    assert "dropout" in training.graph or "bernoulli" in training.graph
    program = lt.freeze(net, lt.InputSpec((None, 4)))
    assert "dropout" not in program.graph and "bernoulli" not in program.graph
    assert same(program(x), net.eval()(x).detach())


def batch_norms(decomposed):
    """Networks of a layer and its batch norm, as one op or as the arithmetic that it is."""

    class Apart(nn.Module):
        def __init__(self, layer, norm):
            super().__init__()
            self.layer = layer
            shape = (-1, 1, 1)
            self.mean = norm.running_mean.view(shape)
            self.scale = norm.weight.detach().view(shape) * lt.rsqrt(
                norm.running_var.view(shape) + norm.eps
            )
            self.shift = norm.bias.detach().view(shape)

        def forward(self, x):
            return (self.layer(x) - self.mean) * self.scale + self.shift

    for settings in ({}, {"bias": False}, {"groups": 2}):
        layer, norm = nn.Conv2d(2, 4, 3, **settings), nn.BatchNorm2d(4)
        with lt.no_grad():
            norm.weight.uniform_(0.5, 2)
            norm.bias.normal_()
            for _ in range(3):
                norm(layer(lt.randn(4, 2, 6, 6)))
        norm.eval()
        yield Apart(layer, norm) if decomposed else nn.Sequential(layer, norm).eval()


def largest_error(net, x):
    program = lt.freeze(net, lt.InputSpec((None, *x.shape[1:])))
    with lt.no_grad():
        want = net(x)
    return program, ((program(x) - want).abs().max() / want.abs().max()).item()


@shows(
    "RW-18",
    "partly: batch norm goes into the weights of a convolution, with and without a bias, and "
    "grouped; within 1e-5. Not: into a linear layer",
)
def test_rw_18_fold_batch_norms():
    for net in batch_norms(decomposed=False):
        program, error = largest_error(net, lt.randn(3, 2, 6, 6))
        assert 0 < error < 1e-5 and "approximate rewrites of batch norm" in program.note
        assert calls(program.optimised, "rsqrt") == calls(program.optimised, "mul") == 0


@shows("RW-24", "batch norm is folded in both spellings: one op, and subtract, scale and shift")
def test_rw_24_fold_old_batch_norms():
    for net in batch_norms(decomposed=True):
        program, error = largest_error(net, lt.randn(3, 2, 6, 6))
        assert error < 1e-5
        assert calls(program.optimised, "rsqrt") == calls(program.optimised, "mul") == 0


PASSES = ["eliminate_dead", "merge_common", "fold_constants", "move_invariants", "canonicalise",
          "simplify_algebra", "clean_casts", "clean_views", "fuse_pointwise",
          "read_in_pieces", "join_siblings"]  # fmt: skip


@shows(
    "RW-26",
    "common expressions are merged and dead ones go; every pass alone, left out, or in the "
    "pipeline keeps the bits",
)
def test_rw_26_common_and_dead(flag):
    def f(x):
        dead = x.exp().sum()  # noqa: F841
        y = x.sort()[0] + x.sort()[0]
        z = (1 * (y.T.T + 0).to(lt.float64)).to(lt.float32) * lt.full((), 2.0).exp()
        return (z.unsqueeze(0).squeeze(0) - 0).tanh() * z

    traced = lt.trace(f)
    x = lt.tensor([[-0.0, 1.5, float("nan")], [float("inf"), -2.0, 0.0]])
    want = f(x)
    assert same(traced(x), want)
    steps = [line for line in traced.explain(verbose=True).splitlines() if "own.sort" in line]
    assert len(steps) == 1
    for name in PASSES:
        assert name in traced.explain(verbose=True)
        for off in (name, ",".join(p for p in PASSES if p != name), "all"):
            flag("rewrites_off", off)
            assert same(lt.trace(lambda x: f(x))(x), want), off


@shows("RW-27", "`x * 1` goes; `x + 0` stays, as it makes -0 to 0; NaN, -0 and inf keep their bits")
def test_rw_27_algebra():
    x = lt.tensor([-0.0, 0.0, float("nan"), float("inf"), -float("inf"), 1e-42])
    for f, op, kept in (
        (lambda x: x * 1, "mul", 0),
        (lambda x: x / 1, "div", 0),
        (lambda x: x - 0, "sub", 0),
        (lambda x: x + 0, "add", 1),
        (lambda x: x * 0, "mul", 1),
        (lambda x: x - x, "sub", 1),
        (lambda x: 0 - x, "sub", 1),
    ):
        traced = lt.trace(f)
        assert same(traced(x), f(x)), op
        assert calls(traced.graph, op) == 1 and calls(traced.optimised, op) == kept, op


@shows("RW-28", "the gradient of `x @ w + b` keeps no product of the forward pass")
def test_rw_28_no_forward_product():
    def gradients(x, w, b):
        w, b = w.detach().requires_grad_(), b.detach().requires_grad_()
        return lt.autograd.grad((x @ w + b).sum(), [w, b])

    traced = lt.trace(gradients)
    x, w, b = lt.randn(2, 3), lt.randn(3, 4), lt.randn(4)
    for got, want in zip(traced(x, w, b), gradients(x, w, b)):
        assert same(got, want)
    assert calls(traced.graph, "mm") == 2 and calls(traced.optimised, "mm") == 1
    assert "permute" in traced.optimised, "the one that is left is x's transpose times dy"


@shows("RW-29", "rules match inside the blocks of `if` and `while`")
def test_rw_29_rules_in_blocks():
    @lt.script
    def f(x):
        if x.sum() > 0:
            y = x * 1 - 0
        else:
            y = x / 1 + x * 1
        i = lt.tensor(0)
        while i < 2:
            y = y * 1 * 2
            i = i + 1
        return y

    x = lt.tensor([-0.0, 3.0])
    assert same(f(x), x * 4) and same(f(-x), -x * 2 * 4)
    assert calls(f.graph, "mul") == 4 and calls(f.optimised, "mul") == 1
    assert calls(f.optimised, "div") == calls(f.optimised, "sub") == 0


@shows(
    "RW-34",
    "partly: trace, script and a saved program go through the same passes to the same graph. "
    "Not: ONNX",
)
def test_rw_34_one_graph(tmp_path):
    def f(x, y):
        return (x * 1 + y) * 2 + (y + x)

    traced, scripted, x, y = lt.trace(f), lt.script(f), lt.randn(3), lt.randn(3)
    assert same(traced(x, y), scripted(x, y))
    assert without_lines(traced.optimised) == without_lines(scripted.optimised)
    lt.save(f, tmp_path / "f.lathe", inputs=(x, y))
    program = without_lines(lt.load(tmp_path / "f.lathe").optimised)
    for k, name in enumerate(("x", "y")):
        program = program.replace(f"%{name}", f"%t{k}")
    ops = [re.findall(r"= (\w+)", t) for t in (program, without_lines(traced.optimised))]
    assert ops[0] == ops[1]


# ── the table ───────────────────────────────────────────────────────────────────────────────────


@shows("VL-01", "`lt.table` prints the entries of an op in order, and what each says to operands")
def test_vl_01_table(flag):
    order = ["own.gemm", "onednn.matmul", "onednn.conv", "openblas.gemm", "eigen.gemm",
             "cublas.gemm", "cudnn.conv", "reference.contract"]  # fmt: skip
    for op in ("mm", "convolution2d"):
        rows = re.findall(r"(\d+)\. ([\w.]+) \((defined|pinned)\)", lt.table(op))
        assert [name for _, name, _ in rows] == order
        assert [int(k) for k, _, _ in rows] == list(range(1, 9))
    x, w = lt.ones(1, 2, 5, 5), lt.ones(3, 2, 3, 3)
    said = dict(line.split(": ", 1) for line in lt.table("convolution2d", x, w).splitlines())
    assert said["own.gemm (defined)"] == "chosen (1 of 8)"
    assert said["eigen.gemm (pinned)"] == "does not know this op (convolution2d)"
    for name in ("own.gemm", "onednn", "reference.contract"):
        flag("disabled", name)
        said = dict(line.split(": ", 1) for line in lt.table("convolution2d", x, w).splitlines())
        off = [entry for entry, word in said.items() if word == f"disabled by flag ({name})"]
        assert off and all(entry.startswith(name) for entry in off)
    assert lt.table("exp").splitlines() == [
        "1. own.simd (defined)",
        "2. reference.body (defined)",
    ]


ORDER = ["own.gemm", "onednn.matmul", "openblas.gemm", "eigen.gemm", "reference.contract"]


@shows(
    "VL-02",
    "partly: own, oneDNN, OpenBLAS, Eigen, reference, in this order; each step is forced by "
    "switching off those before it, with the same sums. Not: the GPU's",
)
def test_vl_02_order(flag):
    x, w = lt.randn(7, 33), lt.randn(33, 5)
    exact = x.double().numpy() @ w.double().numpy()
    for k, name in enumerate(ORDER):
        flag("disabled", ",".join(ORDER[:k]))
        chosen = [line for line in lt.table("mm", x, w).splitlines() if ": chosen" in line]
        assert len(chosen) == 1 and chosen[0].startswith(name)
        y = x @ w
        traced = lt.trace(lambda x, w: x @ w)
        assert same(traced(x, w), y) and f"{name} (" in traced.explain(verbose=True)
        np.testing.assert_allclose(y.numpy(), exact, rtol=1e-5, atol=1e-5)


@shows(
    "VL-03",
    "partly: oneDNN, OpenBLAS and Eigen, each a folder with one list of entries; cuBLAS and cuDNN "
    "stand in the table with the reason that they are absent. Not: MIOpen",
)
def test_vl_03_libraries():
    said = lt.table("mm", lt.ones(2, 3), lt.ones(3, 2))
    for name in ("onednn.matmul", "openblas.gemm", "eigen.gemm"):
        assert f"{name} (pinned): usable" in said
    for name in ("cublas.gemm", "cudnn.conv"):
        assert f"{name} (pinned): built without CUDA" in said


@shows(
    "VL-07",
    "no elementwise op has a kernel of its own: one entry runs all from their functions, and each "
    "other kind shares its entries; the count is printed",
)
def test_vl_07_kernels_written_by_hand():
    entries, rows = {}, {}
    for row in lt._lathe._definitions():
        if row["kind"] != "composite":
            entries.setdefault(row["kind"], set()).add(lt.table(row["name"]))
            rows[row["kind"]] = rows.get(row["kind"], 0) + 1
    assert entries["elementwise"] == {"1. own.simd (defined)\n2. reference.body (defined)"}
    assert all(len(texts) == 1 for texts in entries.values()), entries
    own = {kind: next(iter(t)).count("own.") for kind, t in entries.items()}
    print(f"kernels of ours: {sum(own.values())} entries for {sum(rows.values())} rows")
    assert rows["elementwise"] > 70 and sum(own.values()) <= 20


@shows(
    "VL-08",
    "partly: with our own products off, a network runs on the vendors' alone, eager and compiled "
    "alike. Not: as a row of the benchmarks",
)
def test_vl_08_all_vendors(flag):
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)
    )
    x = lt.randn(3, 1, 8, 8)
    with lt.no_grad():
        ours = net(x)
        flag("disabled", "own.gemm,reference")
        traced = lt.trace(lambda x: net(x))
        theirs = traced(x)
        assert same(theirs, net(x))
    np.testing.assert_allclose(theirs.numpy(), ours.numpy(), rtol=1e-4, atol=1e-5)
    chosen = re.findall(r"([\w.]+) \(pinned\): chosen", traced.explain(verbose=True))
    assert chosen == ["onednn.conv", "onednn.matmul"]


@shows(
    "VL-12", "an op needs no vendor: code for elementwise ones is generated from their functions"
)
def test_vl_12_no_vendor_needed(flag):
    flag("engine", "llvm")
    flag("fallback_is_error", True)
    flag("disabled", "onednn,openblas,eigen")
    f = lt.trace(lambda x: F.softplus(x).erf().lerp(x, 0.25))
    x = lt.randn(50)
    y = f(x)
    assert f.counts["generated_runs"] == 1
    flag("engine", "simd")
    assert same(F.softplus(x).erf().lerp(x, 0.25), y)


# ── kernels ─────────────────────────────────────────────────────────────────────────────────────


@shows(
    "CG-01", "with every vendor off, and without LLVM, all still runs: interpreted, the same bits"
)
def test_cg_01_without_vendors(flag):
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 3))
    x = lt.randn(2, 1, 8, 8)
    want = net(x)
    flag("disabled", "onednn,openblas,eigen")
    for engine in ("simd", "llvm", "nodes"):
        flag("engine", engine)
        assert same(lt.trace(lambda x: net(x))(x), want)


@shows(
    "CG-05",
    "operands that are the same memory, and a result written over its operand, are right in "
    "generated code, for lengths about a vector's",
)
def test_cg_05_aliased_operands(flag):
    flag("engine", "llvm")

    @lt.trace
    def twice(x):
        y = x[1:] + x[:-1]
        x.add_(x)
        x[1:].mul_(x[:-1])
        return y + x[1:]

    for n in (1, 2, 16, 17, 64, 65, 1000):
        a = np.arange(n, dtype=np.float32) + 1
        x = lt.from_numpy(a.copy())
        shifted = a[1:] + a[:-1]
        doubled = a + a
        doubled[1:] = doubled[1:] * doubled[:-1].copy()
        np.testing.assert_array_equal(twice(x).numpy(), shifted + doubled[1:])
        np.testing.assert_array_equal(x.numpy(), doubled)


@shows(
    "CG-07",
    "partly: a number of Python's is part of the code, behind a guard, until another one is found: "
    "then it is an input. A wrong result comes of neither. Not: sizes, strides or sparsity",
)
def test_cg_07_guarded_numbers():
    f = lt.trace(lambda x, scale: (x * scale).tanh())
    x = lt.randn(5)
    for scale, traces in ((2.0, 1), (2.0, 1), (3.0, 2), (2.0, 2), (0.0, 2), (-0.0, 2)):
        assert same(f(x, scale), (x * scale).tanh())
        assert f.counts["traces"] == traces, scale


@shows("CG-12", "the written-out sigmoid is one kernel")
def test_cg_12_sigmoid(flag):
    flag("engine", "llvm")
    f = lt.trace(lambda x: 1 / (1 + (-x).exp()))
    f(lt.ones(3))
    assert f.counts["generated_runs"] == 1


@shows(
    "CG-13",
    "partly: composites are expanded to ops that engines run, and the expansion is printed. "
    "Not: a composite that a vendor takes whole",
)
def test_cg_13_composites():
    f = lt.trace(lambda x, t: F.cross_entropy(F.layer_norm(x, (4,)), t))
    x, t = lt.randn(3, 4), lt.tensor([0, 3, 1])
    assert same(f(x, t), F.cross_entropy(F.layer_norm(x, (4,)), t))
    kinds = {row["name"]: row["kind"] for row in lt._lathe._definitions()}
    used = set(re.findall(r"= (\w+)\(", f.graph))
    assert kinds["cross_entropy"] == kinds["layer_norm"] == "composite"
    assert len(used) > 6 and all(kinds[name] != "composite" for name in used)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int8"])
@shows("CG-15", "kernels of f64, f32, f16, bf16 and integers from one body, generated or not")
def test_cg_15_dtypes(flag, dtype):
    dtype = getattr(lt, dtype)
    x = (lt.randn(100) * 5).to(dtype)

    def f(x):
        return (x * x + x).abs().maximum(x) - 3

    results = []
    for engine in ("llvm", "simd"):
        flag("engine", engine)
        traced = lt.trace(lambda x: f(x))
        results.append(traced(x))
        word = "generated" if engine == "llvm" else "simd"
        assert traced.counts[f"{word}_runs"] == 1
    assert results[0].dtype == dtype
    assert same(results[0].double(), results[1].double()) and same(
        f(x).double(), results[0].double()
    )
