"""Rows EX of the executor and of custom ops: running a graph, its threads, memory and streams."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from compare import same
from consumers import needs_library
from custom_ops import run, zero_out_library
from rows import shows

import lathe as lt

GRAPH = """graph f(%x: f32[4], %y: f32[4]) -> (f32[4]) {
  %0: f32[4] = add(%x, %y)
  %1: f32[4] = tanh(%0)
  %2: f32[4] = call @g(%1)
  return %2
}
graph g(%x: f32[4]) -> (f32[4]) {
  %0: f32[4] = cumsum@2(%x, 0)
  return %0
}
"""


@shows(
    "EX-03",
    "`lathe.run(graph, inputs)` in Python and in C++, of a text or a program, inputs by position "
    "or by name: the same numbers; `Program.kernels` lists the kernel chosen for each node",
)
@needs_library
def test_ex_03_run(cpp, tmp_path, flag):
    flag("engine", "llvm")
    x, y = lt.tensor([1.0, 2.0, 3.0, 4.0]), lt.ones(4)
    want = (x + y).tanh().cumsum(0)
    program = lt.jit.parse(GRAPH)
    for graph in (GRAPH, program):
        assert same(lt.run(graph, [x, y]), want) and same(lt.run(graph, {"y": y, "x": x}), want)
    assert same(lt.run("graph f(%x: f32[4]) { %0 = neg(%x) return %0 }", x), -x)
    program.compile()
    kernels = [("add", "generated"), ("tanh", "generated"), ("call", "own.structure"),
               ("cumsum", "own.scan")]  # fmt: skip
    assert [row[:2] for row in program.kernels] == kernels
    (op, kernel, line), *_ = lt.jit.capture(lambda x: x.sort()[0], (x,)).kernels
    assert (op, kernel) == ("sort", "own.sort") and re.search(r"test_executor\.py:\d+", line)
    with pytest.raises(lt.TypeError, match="there is no graph to run"):
        lt.run(lambda x: x, [x])
    (tmp_path / "graph.txt").write_text(GRAPH)
    numbers, *listed, error = cpp("run_graph", tmp_path / "graph.txt").decode().split("\n")
    assert [float(n) for n in numbers.split()] == pytest.approx(want.tolist(), rel=1e-8)
    assert [tuple(row.split()[:1]) for row in listed] == [(op,) for op, _ in kernels]
    assert "own.scan" in listed[-1] and error == "NameError"


WHY = "import lathe as lt; print(lt.threads()); print(lt.get_num_threads())"


def threads_of_a_process(**variables):
    env = {k: v for k, v in os.environ.items() if k != "LATHE_THREADS"} | variables
    code = [sys.executable, "-c", WHY]
    text, count = subprocess.run(
        code, env=env, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert text.startswith(f"{count} thread"), (text, count)
    return int(count), text


@shows(
    "EX-08",
    "one pool, sized by affinity and by the cgroup's quota; `lathe.threads()` says in Python and "
    "C++ how many threads there are, and which of affinity, quota, environment and flag says so",
)
@needs_library
def test_ex_08_threads(cpp):
    before = os.sched_getaffinity(0)
    count, text = threads_of_a_process()
    assert count <= len(before) and "the affinity allows" in text and "quota" in text
    try:
        os.sched_setaffinity(0, {min(before)})  # children inherit it
        count, text = threads_of_a_process()
        assert count == 1 and f"(1 of {os.cpu_count()} processors)" in text
        count, text = threads_of_a_process(LATHE_THREADS="3")
        assert count == 3 and "LATHE_THREADS, a variable of the environment, says 3" in text
        assert "without it 1: " in text
        first, second = cpp("threads", LATHE_THREADS="0").decode().splitlines()
    finally:
        os.sched_setaffinity(0, before)
    assert first.startswith("1 thread: ") and "(1 of " in first
    assert second.startswith("5 threads: the flag threads says 5; without it 1: ")


# ── what eager and compiled steps have in common ────────────────────────────────────────────────


def index_select(x, i):
    return x.index_select(0, i)


@shows(
    "EX-16",
    "eager and compiled steps take memory of one allocator (the block that one frees the other "
    "gets, one limit binds both), go to one stream in order, are noted by one profiler, and raise "
    "the same typed errors: a test each",
)
def test_ex_16_errors():
    traced = lt.trace(index_select)
    traced(lt.ones(3), lt.tensor([0]))
    said = []
    for way in (index_select, traced):
        with pytest.raises(lt.IndexError) as caught:
            way(lt.ones(3), lt.tensor([0, 7]))
        said.append((caught.value.op, caught.value.problem, caught.value.got))
    assert said[0] == said[1]


@pytest.mark.serial
def test_ex_16_one_allocator(flag):
    def eager(x):
        return x.cumsum(0)

    compiled, x = lt.trace(eager), lt.ones(1500, 1000)
    compiled(x)
    places = []
    for way in (eager, compiled, eager):
        y = way(x)
        places.append(y.data_ptr())
        del y
    assert places[0] == places[1] == places[2], "what one frees is what the other gets"

    def large(x):
        return lt.zeros(x.shape[0] * 4000, 4000).cumsum(0)

    flag("max_memory", "64M")
    for way in (large, lt.trace(large)):
        with pytest.raises(lt.MemoryError, match="at most 64.0 MiB in all"):
            way(lt.ones(40))


def test_ex_16_one_stream():
    def eager(x):
        return ((x * 2 + 1).softmax(-1) @ x.T).relu()

    compiled = lt.trace(eager)
    x = lt.randn(5, 6)
    far = x.to("sim")
    assert same(compiled(far).to("cpu"), eager(x)) and "@sim" in compiled.explain(verbose=True)
    for _ in range(20):  # what was handed over before is done before
        far.add_(1)
        got = compiled(far)
        far.add_(1)
        x.add_(1)
        assert same(got.to("cpu"), eager(x))
        x.add_(1)
    index_select(far, lt.tensor([9]).to("sim"))  # fails later, on the stream
    with pytest.raises(lt.IndexError, match="index_select: an index is out of range"):
        compiled(far)


def test_ex_16_one_profiler():
    compiled, x = lt.trace(index_select), lt.ones(3)
    compiled(x, lt.tensor([0]))
    with lt.profiler.profile() as p:
        index_select(x, lt.tensor([0, 2]))
        compiled(x, lt.tensor([0, 2]))
    noted = [(e.kind, e.kernel, e.bytes_read, e.bytes_written) for e in p.events()
             if e.name == "index_select" and e.kernel]  # fmt: skip
    assert noted == [("op", "own.index", 28, 8), ("step", "own.index", 28, 8)]


# ── another back end ────────────────────────────────────────────────────────────────────────────


class Numbers:
    """A back end that has three ops in float32, and NumPy to compute them with."""

    name = "numbers"
    ops = {"mm": np.matmul, "add": np.add, "relu": lambda x: np.maximum(x, np.float32(0))}

    def __init__(self):
        self.compiled, self.runs = [], 0

    def refuses(self, op, inputs, results):
        if op not in self.ops:
            return f"there is no {op} here"
        return None if results[0].dtype == lt.float32 else f"{results[0].dtype} is not served"

    def compile(self, program):
        self.compiled.append(program)
        steps = re.findall(r"%(\w+): .*? = (\w+)\((.*?)\)", program.graph)
        (results,) = re.findall(r"return (.*?)\s*(?:#|\n)", program.graph)

        def run(*tensors):
            self.runs += 1
            values = {
                f"%{n}": t.numpy() for (n, *_), t in zip(program.inputs, tensors, strict=True)
            }
            for name, op, given in steps:
                values[f"%{name}"] = self.ops[op](*[values[g.strip()] for g in given.split(",")])
            return [values[r.strip()] for r in results.split(",")]

        return run


@shows(
    "EX-09",
    "`Program.partition(backend)`: neighbouring nodes that a plug-in back end takes become one "
    "call of what it compiles, the rest stays; `parts` lists for each node its part, or why it "
    "stays",
)
def test_ex_09_partition(tmp_path):
    def f(x, w, b):
        h = (x @ w + b).relu()
        side = x.exp()  # not taken, and not in the way: it needs nothing of the part
        h = (h @ w + b).relu()
        y = h.sort(-1)[0]
        return y @ w + b, side.sum() * h.double().sum()

    x, w, b = lt.randn(4, 4), lt.randn(4, 4), lt.randn(4)
    spec = tuple(lt.InputSpec(tuple(t.shape)) for t in (x, w, b))
    program, backend = lt.jit.capture(f, spec), Numbers()
    parted = program.partition(backend)
    told = {}
    for op, part, why, line in parted.parts:
        told.setdefault(part, []).append(op)
        assert (part is None) == (why != "") and "test_executor.py" in line
    assert told[0] == ["mm", "add", "relu"] * 2 and told[1] == ["mm", "add"]
    assert {"exp", "sort", "sum"} <= set(told[None])
    reasons = {op: why for op, part, why, _ in parted.parts if part is None}
    assert reasons["sort"] == "there is no sort here"
    assert [re.findall(r"= (\w+)\(", p.graph) for p in backend.compiled] == [told[0], told[1]]
    for _ in range(3):
        for got, want in zip(parted(x, w, b), program(x, w, b), strict=True):
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)
    assert backend.runs == 6 and "callback of <numbers f_part0>" in parted.explain(verbose=True)
    assert "mm" not in re.findall(r"= (\w+)\(", parted.graph)

    open_sizes = lt.jit.capture(f, (x, w, b)).partition(backend).parts
    assert {why for _, _, why, _ in open_sizes if "sizes" in why} == {
        "its sizes are known only when it runs"
    }

    @lt.script
    def loop(x, w):
        while x.abs().sum() < 1000:
            x = (x @ w).relu() + x
        print("done")
        return x

    scripted = lt.jit.capture(loop, spec[:2]).partition(backend)
    assert same(scripted(abs(x), abs(w)), loop(abs(x), abs(w)))
    whys = {op: (part, why) for op, part, why, _ in scripted.parts}
    assert whys["mm"][0] is not None and "control flow" in whys["while"][1]
    assert "among effects" in whys["ordered_callback"][1]
    with pytest.raises(lt.UnsupportedError, match="a file cannot hold"):
        parted.save(tmp_path / "f.lathe")
    with pytest.raises(lt.TypeError, match="this is no back end"):
        program.partition(object())
    backend.compile = lambda part: lambda *tensors: 3
    with pytest.raises(lt.TypeError, match="the part gives something that is no tensor"):
        program.partition(backend)(x, w, b)


# ── custom ops ──────────────────────────────────────────────────────────────────────────────────

SCRIPTED = """
def halved(x):
    n = 0
    while x.abs().sum() > 1:
        x = lt.{op}(x * 2) // 4 + (x - x)
        n += 1
    if x.sum() >= 0:
        x = lt.{op}(x + 1)
    return x + n

script = lt.script(halved)
for n in (5, 3, 0):
    x = (lt.arange(n) + 3).to(lt.{dtype})
    assert script(x).tolist() == halved(x).tolist(), (script(x), halved(x))
assert script.counts["node_by_node"] == 0 and "{op}" in script.explain(verbose=True)
lt.save(script, "{op}.lathe", inputs=(lt.ones(3, dtype=lt.{dtype}),))
loaded = lt.load("{op}.lathe")
x = (lt.arange(7) + 50).to(lt.{dtype})
assert loaded(x).tolist() == halved(x).tolist()
assert loaded(x[:0]).tolist() == [], loaded(x[:0])
assert ("{op}", "custom.kernel") in [row[:2] for row in loaded.kernels]
"""


def run_file(folder, code):
    """A script is read from its source: the code has to be in a file."""
    (folder / "program.py").write_text(code)
    run("import program", folder)


@shows(
    "EX-01",
    "the seed's op in as many lines of C++ and of Python: eager, with gradient, traced, in a "
    "script (in a loop and a branch that data decide), saved; empty input gives empty output",
)
def test_ex_01_custom_op_everywhere(tmp_path):
    library = zero_out_library(tmp_path)
    in_cpp = f"import lathe as lt\nlt.library.load({str(library)!r})\n"
    run_file(tmp_path, in_cpp + SCRIPTED.format(op="zero_out", dtype="int32"))
    in_python = """
import lathe as lt

@lt.library.custom_op("first(Tensor x) -> Tensor", shape=lambda x: x,
                      gradient=lambda saved, dy: lt.first(dy), saves=())
def first(x):
    y = lt.zeros_like(x)
    y.view(-1)[:1] = x.reshape(-1)[:1]
    return y
"""
    run_file(tmp_path, in_python + SCRIPTED.format(op="first", dtype="float32") + """
x = lt.tensor([5.0, 2.0], requires_grad=True)
step = lambda f: lt.autograd.grad(f(x * x).sum(), [x])[0].tolist()
scripted = lt.script(lambda x: lt.first(x) * 3 if x.sum() > 0 else x)
assert step(scripted) == step(lambda x: lt.first(x) * 3) == [30.0, 0.0]
""")  # fmt: skip


class Squash(lt.autograd.Function):
    """x / (1 + |x|), with a gradient that takes its result."""

    @staticmethod
    def forward(ctx, x):
        y = x / (x.abs() + 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        return dy * (1 - y.abs()).square()


squash = Squash.apply


@shows(
    "EX-19",
    "an op with a gradient of its own in 15 lines of Python, made of Lathe's (`Function`): it "
    "composes (twice differentiated, in scripts and loops), op and gradient fuse with their "
    "neighbours into one kernel, which is compiled, and it is saved",
)
def test_ex_19_op_in_python(tmp_path, flag):
    flag("engine", "llvm")

    def step(x):
        x = x.detach().requires_grad_()
        y = squash(x.exp() * 2) + 1
        return y, *lt.autograd.grad(y.sum(), [x])

    x, traced = lt.randn(1000), lt.trace(step)
    for a, b in zip(traced(x), step(x), strict=True):
        assert same(a.detach(), b.detach())
    counts = traced.counts
    assert (counts["kernels"], counts["generated_runs"], counts["op_runs"]) == (1, 1, 0)
    assert lt.autograd.gradcheck(squash, lt.randn(5, dtype=lt.float64, requires_grad=True))
    leaf = lt.randn(5, dtype=lt.float64, requires_grad=True)
    assert lt.autograd.gradgradcheck(squash, leaf)

    @lt.script
    def repeated(x):
        while x.abs().sum() > 1:
            x = squash(x) * 0.5
        return x

    lt.save(repeated, tmp_path / "squash.lathe", inputs=(lt.ones(3),))
    y = x
    while y.abs().sum() > 1:
        y = squash(y) * 0.5
    assert same(repeated(x), y) and same(lt.load(tmp_path / "squash.lathe")(x), y)
