"""Rows CP, XA and EX: programs built, saved, shown and run, in C++ and through the C interface."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
from built import LIBRARY, ROOT
from compare import bits, same
from consumers import CONSUMER, compiled, needs_library
from rows import shows

import lathe as lt
from lathe import nn
from lathe.nn import functional as F  # noqa: N812


def halving(x):
    """Data decides how often."""
    n = lt.tensor(0)
    while x.abs().sum() > 1:
        x = x / 2
        n = n + 1
    return x + n


@shows("SC-09", "a scripted function runs in a C++ program that has no Python in it")
@needs_library
def test_sc_09_without_python(tmp_path, cpp):
    lt.save(lt.script(halving), tmp_path / "halving.lathe", inputs=(lt.ones(3),))
    for scale in (0.1, 30.0):
        x = lt.randn(5) * scale
        (tmp_path / "x").write_bytes(bits(x))
        assert cpp("run", tmp_path / "halving.lathe", tmp_path / "x", 5) == bits(halving(x))
    for binary in (cpp.program, LIBRARY / "liblathe.so"):
        env = os.environ | {"LD_LIBRARY_PATH": str(LIBRARY)}
        linked = subprocess.run(["ldd", binary], capture_output=True, text=True, env=env).stdout
        assert "libc.so" in linked and "python" not in linked.lower()


@shows(
    "SC-16",
    "a script reads the function's syntax tree; the same function built by a C++ lambda is the "
    "same graph, line for line and by its hash",
)
@needs_library
def test_sc_16_one_graph_from_both(cpp):
    @lt.script
    def f(x, w, b):
        return F.softmax(x @ w + b * 2.0, -1) - x.sum(1, keepdim=True)

    ours = lt.jit.capture(f, (lt.ones(2, 3), lt.ones(3, 4), lt.ones(4))).graph
    theirs = cpp("graph").decode()

    def lines(text, names):
        for k, name in enumerate(names):
            text = re.sub(rf"%{name}\b", f"%in{k}", text)
        text = re.sub(r" *#.*", "", text)
        return [line for line in text.splitlines() if " = " in line and "size" not in line]

    assert lines(ours, "xwb") == lines(theirs, ("x0", "x1", "x2")) and len(lines(ours, "")) > 7
    assert lt.jit.parse(ours).hash == lt.jit.parse(theirs).hash


@shows(
    "CP-02",
    "no Python, no LLVM, no vendor and no writable disk: the library alone runs a program, with "
    "the same bits",
)
@needs_library
def test_cp_02_the_library_alone(tmp_path, cpp):
    net = nn.Sequential(nn.Linear(6, 4), nn.GELU(), nn.Linear(4, 2))
    lt.save(lambda x: net(x.view(-1, 6)), tmp_path / "net.lathe", inputs=(lt.ones(12),))
    x = lt.randn(18)
    (tmp_path / "x").write_bytes(bits(x))
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(LIBRARY / "liblathe.so", alone / "liblathe.so.0")
    assert [p.name for p in alone.iterdir()] == ["liblathe.so.0"]
    said = cpp(
        "run", tmp_path / "net.lathe", tmp_path / "x", 18, library=alone,
        LATHE_CACHE_DIR="/proc/nowhere", HOME="/proc", TMPDIR="/proc",
    )  # fmt: skip
    assert said == bits(net(x.view(3, 6)))


@shows("EX-17", "the library that runs a saved program, compiler left out, has less than 12 MB")
@needs_library
def test_ex_17_size():
    assert (LIBRARY / "liblathe.so").stat().st_size < 12 << 20
    linked = subprocess.run(["ldd", LIBRARY / "liblathe.so"], capture_output=True, text=True).stdout
    assert "libc.so" in linked and "LLVM" not in linked


@shows(
    "CP-03",
    "partly: tensors, ops and gradients in C++: logistic regression there has Python's loss curve, "
    "bit for bit. Not: modules and optimizers",
)
@needs_library
def test_cp_03_training_in_cpp(tmp_path, cpp):
    lt.manual_seed(9)
    x = lt.randn(64, 3)
    t = (x @ lt.tensor([1.0, -2.0, 0.5]) > 0).float()
    (tmp_path / "x").write_bytes(bits(x))
    (tmp_path / "t").write_bytes(bits(t))
    w, b = lt.zeros(3, requires_grad=True), lt.zeros(1, requires_grad=True)
    want, losses = b"", []
    for _ in range(20):
        y = lt.sigmoid(x @ w + b)
        loss = -(t * y.log() + (1.0 - t) * (1.0 - y).log()).mean()
        by_w, by_b = lt.autograd.grad(loss, [w, b])
        with lt.no_grad():
            w.copy_(w - by_w * 0.5)
            b.copy_(b - by_b * 0.5)
        want += bits(loss)
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]
    assert cpp("train", tmp_path / "x", tmp_path / "t") == want + bits(w)


@shows("XA-02", "axpy in C++ in less than 25 lines: graph, handle, results")
@needs_library
def test_xa_02_axpy(tmp_path):
    lines = (CONSUMER / "axpy.cpp").read_text().splitlines()
    assert len(lines) <= 25
    program = compiled(tmp_path, "axpy")
    env = os.environ | {"LD_LIBRARY_PATH": str(LIBRARY)}
    said = subprocess.run([program], capture_output=True, text=True, check=True, env=env).stdout
    assert said.split() == ["7", "11", "15"]


@shows("XA-01", "construct, compile to a handle, execute: many times, from eight threads")
@shows("XA-06", "a builder's sizes are symbols; a scalar broadcasts: 50 lengths through one handle")
@shows(
    "XA-05",
    "partly: a wrong shape is a typed exception, never an abort, and names the line of the `add` "
    "and both shapes. Not: parameters by name",
)
@needs_library
def test_xa_01_handles(cpp):
    text = cpp("handle").decode()
    handle, eager = text.split("ShapeError\n")[1:]
    assert "axpy: " in handle and "3 and 4" in handle
    assert "add: the shapes do not broadcast" in eager and "[3] and [4]" in eager
    assert re.search(r"at: +.*seeds\.cpp:\d+", eager)


@shows("XA-04", "a graph of constants alone folds to one constant")
@needs_library
def test_xa_04_constants(cpp):
    text = cpp("constants").decode()
    assert "constant [7.0, 11.0, 15.0]" in text and "mul(" not in text and "add(" not in text


CTYPES = """
import array, ctypes, sys
assert not any("lathe" in name for name in sys.modules)
c = ctypes.CDLL(sys.argv[1])
for name in ("lathe_last_error", "lathe_op_name"):
    getattr(c, name).restype = ctypes.c_char_p
P = ctypes.c_void_p

def check(status):
    assert status == 0, c.lathe_last_error().decode()

program = P()
check(c.lathe_program_load(sys.argv[2].encode(), ctypes.byref(program)))
for values in ([1.0, 4.0, 9.0], [], [2.25]):
    data = (ctypes.c_float * len(values))(*values)
    sizes, x = (ctypes.c_int64 * 1)(len(values)), P()
    check(c.lathe_tensor_copy(data, int(sys.argv[3]), sizes, 1, ctypes.byref(x)))
    out, count = (P * 1)(), ctypes.c_size_t()
    check(c.lathe_program_run(program, ctypes.byref(x), 1, out, 1, ctypes.byref(count)))
    result = (ctypes.c_float * len(values))()
    check(c.lathe_tensor_read(P(out[0]), result, ctypes.sizeof(result)))
    print(*result)
    c.lathe_tensor_release(P(out[0]))
    c.lathe_tensor_release(x)
assert c.lathe_program_load(b"nowhere.lathe", ctypes.byref(P())) != 0
print(c.lathe_last_error().decode().splitlines()[0])
c.lathe_program_release(program)
"""


@shows(
    "XA-12",
    "the C interface from another language: a program runs through ctypes, errors are statuses",
)
@needs_library
def test_xa_12_ctypes(tmp_path):
    lt.save(lambda x: x.sqrt() + 1, tmp_path / "f.lathe", inputs=(lt.ones(3),))
    header = (ROOT / "include/lathe/lathe.h").read_text()
    number = re.search(r"LATHE_F32 = (\d+)", header)[1]
    done = subprocess.run(
        [sys.executable, "-c", CTYPES, LIBRARY / "liblathe.so", tmp_path / "f.lathe", number],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, empty, second, error = done.stdout.split("\n")[:4]
    assert first == "2.0 3.0 4.0" and empty == "" and second == "2.5"
    assert error.startswith("load: ")


@shows(
    "XA-10",
    "partly: a decorator on part of a model; the rest stays eager, with the same bits. "
    "Not: a list of the boundaries",
)
def test_xa_10_part_of_a_model():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 5), nn.Linear(5, 2)
            self.seen = []

        @lt.trace
        def block(self, x):
            return F.gelu(self.first(x)).softmax(-1)

        def forward(self, x):
            y = self.block(x)
            self.seen.append(float(y.sum()))  # eager: a trace refuses this
            return self.second(y)

    net, x = Net(), lt.randn(3, 4)
    with lt.no_grad():
        for _ in range(3):
            want = net.second(F.gelu(net.first(x)).softmax(-1))
            assert same(net(x), want)
    assert len(net.seen) == 3


@shows("CP-12", "a saved program needs no Python source and no pickle")
def test_cp_12_no_pickle(tmp_path):
    net = nn.Linear(3, 2)
    lt.save(net, tmp_path / "n.lathe", inputs=(lt.ones(1, 3),))
    x = lt.randn(5, 3)
    np.save(tmp_path / "x.npy", x.numpy())
    np.save(tmp_path / "y.npy", net(x).detach().numpy())
    code = (
        "import sys, numpy as np, lathe as lt\n"
        "y = lt.load('n.lathe')(lt.from_numpy(np.load('x.npy')))\n"
        "assert y.numpy().tobytes() == np.load('y.npy').tobytes()\n"
        "assert 'pickle' not in open('n.lathe', 'rb').read().decode('latin1')\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def command(*words, ok=True):
    done = subprocess.run(
        [sys.executable, "-m", "lathe", *map(str, words)], capture_output=True, text=True
    )
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout if ok else done.stderr


@shows(
    "CP-13",
    "a file has graph, weights and the names, dtypes and symbolic sizes of its inputs; "
    "`python -m lathe show` prints them",
)
def test_cp_13_signature(tmp_path):
    net = nn.Linear(30, 20)
    lt.save(net, tmp_path / "n.lathe", inputs=(lt.InputSpec((None, 30), name="pixels"),))
    program = lt.load(tmp_path / "n.lathe")
    assert program.inputs == [("pixels", lt.float32, (None, 30))]
    assert "f32[" in program.graph and "const#" in program.graph
    said = command("show", tmp_path / "n.lathe")
    assert "the program Linear" in said and "input pixels: float32[*, 30]" in said
    assert re.search(r"output .*: float32\[\*, 20\]", said) and program.graph.strip() in said
    lt.save({"a": lt.ones(2, 3), "b": {"c": lt.zeros(4, dtype=lt.int64)}}, tmp_path / "s")
    assert "a: float32[2, 3]" in command("show", tmp_path / "s")
    assert "b.c: int64[4]" in command("show", tmp_path / "s")
    assert "no such file" in command("show", tmp_path / "gone", ok=False).lower()
    assert "1. own.gemm" in command("table", "mm")
    assert "show FILE" in command(ok=False)


@shows("EX-04", "every step of a graph has its implementation and reasons; nothing fails for want "
       "of a vendor")  # fmt: skip
def test_ex_04_every_step_is_explained(flag):
    f = lt.trace(lambda x, w: (x @ w).softmax(-1).cumsum(0))
    x, w = lt.randn(4, 5), lt.randn(5, 6)
    y = f(x, w)
    assert "own.gemm (defined): chosen" in f.explain(verbose=True) and "onednn.matmul" in f.explain(
        verbose=True
    )
    flag("disabled", "onednn,openblas,eigen")
    assert same((x @ w).softmax(-1).cumsum(0), y)


@shows("EX-05", "partly: a chain of 100 equal ops keeps few buffers. Not: branches that overlap")
def test_ex_05_buffers_of_a_chain(tmp_path):
    def chain(x):
        for _ in range(100):
            x = x.cumsum(0)
        return x

    x = lt.randn(1000)
    lt.save(chain, tmp_path / "chain.lathe", inputs=(x,))
    program = lt.load(tmp_path / "chain.lathe")
    assert same(program(x), chain(x))
    assert program.peak_bytes((1000,)) <= 3 * 4096


@shows("EX-12", "a write inside a graph (running statistics) is kept and seen after the call")
def test_ex_12_writes():
    eager, traced = nn.BatchNorm2d(3), nn.BatchNorm2d(3)
    f = lt.trace(lambda x: traced(x))
    for _ in range(3):
        x = lt.randn(4, 3, 2, 2)
        assert same(f(x), eager(x))
    assert same(traced.running_mean, eager.running_mean)
    assert same(traced.running_var, eager.running_var)
    assert traced.num_batches_tracked.item() == 3


@shows(
    "EX-13",
    "a program is defined on specs without data, compiled, and run with values, twice",
)
def test_ex_13_declarative():
    def f(x, y):
        return (x @ y).relu()

    x, y = lt.InputSpec((None, 4)), lt.InputSpec((4, None))
    program = lt.jit.capture(f, (x, y))
    program.compile()
    assert "not compiled yet" not in program.explain(verbose=True)
    for n in (2, 5):
        a, b = lt.randn(n, 4), lt.randn(4, n)
        assert same(program(a, b), f(a, b))


@shows("EX-14", "no session, no placeholder; feeding by name works")
def test_ex_14_by_name(tmp_path):
    lt.save(lambda x, y: x - y, tmp_path / "f.lathe", inputs=(lt.ones(2), lt.ones(2)))
    f = lt.load(tmp_path / "f.lathe")
    assert f(y=lt.ones(2), x=lt.ones(2) * 3).tolist() == [2, 2]


@shows("EX-15", "a program's file and text come back equal")
def test_ex_15_round_trip(tmp_path):
    lt.save(lambda x: F.gelu(x) + 1, tmp_path / "a.lathe", inputs=(lt.ones(2),))
    a = lt.load(tmp_path / "a.lathe")
    a.save(tmp_path / "b.lathe")
    assert (tmp_path / "a.lathe").read_bytes() == (tmp_path / "b.lathe").read_bytes()
    assert lt.load(tmp_path / "b.lathe").graph == a.graph
