"""Ops that a program adds: docs/custom-ops.md as it is written, and what it says about errors.

Ops stay for the life of a process, so everything here runs in processes of its own.
"""

import os
import subprocess

import pytest
from built import ROOT
from custom_ops import BLOCKS, run, zero_out_library


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("custom")
    zero_out_library(where)
    return where


def shared_object(folder, name, body, entry="LATHE_OPS(Op)"):
    source = folder / f"{name}.cpp"
    source.write_text(f"#include <lathe/custom_op.h>\n#include <stdexcept>\n{body}\n{entry}\n")
    target = folder / f"lib{name}.so"
    subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Werror", "-fPIC", "-shared", "-I", ROOT / "include"]
        + [source, "-o", target],
        check=True,
    )
    return target


ZERO_OUT = """
import lathe as lt

@lt.library.custom_op("zero_out(Tensor x) -> Tensor", shape=lambda x: x,
                      gradient=lambda saved, dy: lt.zero_out(dy), saves=())
def zero_out(x):
    y = lt.zeros_like(x)
    y.view(-1)[:1] = x.reshape(-1)[:1]
    return y
"""


def test_the_page_runs(folder):
    assert run("\n".join(code for kind, code in BLOCKS if kind == "python"), folder) == ""


def test_it_is_a_row_like_others(folder):
    run(
        ZERO_OUT
        + """
assert lt.zero_out is zero_out and lt.ops.zero_out(lt.ones(2)).tolist() == [1.0, 0.0]
assert "zero_out(Tensor x) -> Tensor" in lt.zero_out.__doc__
assert lt.zero_out(lt.ones(3, 4).T[1:]).tolist()[0] == [1.0, 0.0, 0.0]
assert not hasattr(lt.Tensor, "zero_out_")
x = lt.ones(3, dtype=lt.float64, requires_grad=True)
assert lt.autograd.gradcheck(lt.zero_out, x)
a = lt.tensor([2.0, 3.0], requires_grad=True)
y = (lt.zero_out(a * a) * a).sum()
g, = lt.autograd.grad(y, [a], create_graph=True)
gg, = lt.autograd.grad(g.sum(), [a])
assert g.tolist() == [12.0, 0.0] and gg.tolist() == [12.0, 0.0], (g, gg)
""",
        folder,
    )


def test_a_traced_step_with_a_gradient_has_eager_bits(folder):
    run(
        ZERO_OUT
        + """
def step(x, w):
    w = w.detach().requires_grad_()
    loss = (lt.zero_out((x @ w).tanh()) * 3).sum()
    return loss, *lt.autograd.grad(loss, [w])

traced = lt.trace(step)
for n in (2, 5, 3):
    x, w = lt.randn(n, 4), lt.randn(4, 3)
    for a, b in zip(step(x, w), traced(x, w)):
        assert a.detach().numpy().tobytes() == b.detach().numpy().tobytes()
assert traced.counts["traces"] == 1, traced.counts
""",
        folder,
    )


def test_a_saved_program_needs_the_op(folder):
    save = """
f = lambda x: lt.zero_out(x * 2) + 1
lt.save(f, "zero.lathe", inputs=(lt.ones(2, 3),))
x = lt.randn(4, 5)
assert lt.load("zero.lathe")(x).numpy().tobytes() == f(x).numpy().tobytes()
"""
    run(ZERO_OUT + save, folder)
    run(ZERO_OUT + "assert lt.load('zero.lathe')(lt.ones(2, 1)).tolist() == [[3], [1]]", folder)
    refused = "with says(lt.FileError, 'zero_out', 'no op of this name', 'zero.lathe'):\n"
    run(SAY + refused + "    lt.load('zero.lathe')", folder)
    later = ZERO_OUT.replace("saves=()", "saves=(), version=2")
    run(SAY + later + "with says(lt.Error, 'zero_out'):\n    lt.load('zero.lathe')", folder)


def test_a_saved_program_with_a_c_op(folder):
    load = "import lathe as lt\nlt.library.load('libzero_out.so')\n"
    run(
        load
        + "lt.save(lambda x: lt.leaky(x + 1), 'leaky.lathe', inputs=(lt.ones(2),))\n"
        + "assert lt.load('leaky.lathe')(lt.tensor([-3.0])).tolist() == lt.leaky(lt.tensor([-2.0]))"
        + ".tolist()",
        folder,
    )
    run(load + "assert lt.load('leaky.lathe')(lt.tensor([1.0, 2.0])).tolist() == [2, 3]", folder)


def test_c_op_on_the_sim_device_and_in_threads(folder):
    run(
        """
import lathe as lt, threading
lt.library.load("libzero_out.so")
assert [o.__name__ for o in lt.library.load("./libzero_out.so")] == ["zero_out", "leaky"]
x = lt.tensor([-1.0, 2.0])
y = lt.leaky(x.to(device="sim"), 0.5)
assert str(y.device) == "sim" and y.to(device="cpu").tolist() == [-0.5, 2.0]
def work():
    for _ in range(200):
        assert lt.leaky(x, 0.5).tolist() == [-0.5, 2.0]
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
f = lt.trace(lambda x: lt.leaky(x * 2) + x)
assert f(x).tolist() == (lt.leaky(x * 2) + x).tolist()
""",
        folder,
    )


SAY = """
import lathe as lt
def says(kind, *parts):
    class Says:
        def __enter__(self): return self
        def __exit__(self, cls, error, traceback):
            assert cls is not None and issubclass(cls, kind), error
            for part in (*parts, "at:", "next:"):
                assert part in str(error), (part, str(error))
            return True
    return Says()
"""

PYTHON_REFUSALS = """
op = lt.library.custom_op
with says(lt.TypeError, "needs a shape rule"):
    op("f(Tensor x) -> Tensor", shape=None)
with says(lt.NameError, "relu", "name already"):
    op("relu(Tensor x) -> Tensor", shape=lambda x: x)
with says(lt.NameError, "numpy", "name already"):
    op("numpy(Tensor x) -> Tensor", shape=lambda x: x)
with says(lt.ValueError, "no lists of tensors"):
    op("f(Tensor[] xs) -> Tensor", shape=lambda x: x)(lambda x: x)
with says(lt.ValueError, "writes to nothing"):
    op("f(Tensor(!) x) -> Tensor", shape=lambda x: x)(lambda x: x)
with says(lt.NameError, "neither an argument nor a result", "z"):
    op("f(Tensor x) -> Tensor", shape=lambda x: x, gradient=lambda s, d: d, saves=["z"])(print)

f = op("f1(Tensor x) -> Tensor", shape=lambda x: x)(lambda x: lt.ones(2))
with says(lt.ShapeError, "f1", "not what the shape rule says", "f32[2]", "f32[3]"):
    f(lt.ones(3))
f = op("f2(Tensor x) -> Tensor", shape=lambda x: x)(lambda x: "text")
with says(lt.TypeError, "f2", "no tensor", "str"):
    f(lt.ones(3))
f = op("f3(Tensor x) -> Tensor", shape=lambda x: 3)(lambda x: x)
with says(lt.TypeError, "f3", "TensorSpec", "int"):
    f(lt.ones(3))
f = op("f4(Tensor x) -> Tensor", shape=lambda x: (x, x))(lambda x: x)
with says(lt.ValueError, "f4", "another number of results", "2"):
    f(lt.ones(3))
f = op("f5(Tensor x) -> Tensor", shape=lambda x: x)(lambda x: (x, x))
with says(lt.ValueError, "f5", "another number of results", "2"):
    f(lt.ones(3))
with says(lt.TypeError, "f5", "wrong type", "2.5"):
    f(2.5)
with says(lt.UnsupportedError, "f5", "custom.kernel", "device"):
    f(lt.ones(3, device="sim"))
f = op("f6(Tensor x, Tensor y) -> Tensor", shape=lambda x, y: x, saves=["x"],
       gradient=lambda s, dy: (dy * s.y, None))(lambda x, y: x.clone())
with says(lt.ValueError, "f6", "not saved", "y"):
    f(lt.ones(3, requires_grad=True), lt.ones(3)).sum().backward()
f = op("f7(Tensor x) -> Tensor", shape=lambda x: x, gradient=lambda s, dy: (dy, dy))(lambda x: x)
with says(lt.ValueError, "f7", "another number of results"):
    f(lt.ones(3, requires_grad=True)).sum().backward()
x = lt.ones(3)
y = f(x)
y.add_(1)
assert x.tolist() == [1, 1, 1], "a kernel that returns its argument gives a copy"
f = op("f8(Tensor x) -> Tensor", shape=lambda x: x)(lambda x: 1 / 0)
try:
    f(x)
except ZeroDivisionError as error:
    assert "user.py" or error
else:
    raise AssertionError("a kernel's own exception is the caller's")
f = op("f9(Tensor x) -> Tensor", shape=lambda x: x)(lambda x: x)
with says(lt.AutogradError, "does not depend"):
    f(lt.ones(3, requires_grad=True)).sum().backward()
"""


def test_what_is_refused_in_python(folder):
    run(SAY + PYTHON_REFUSALS, folder)


BAD_LIBRARIES = {
    "throws": (
        'throw std::runtime_error("the kernel is tired");',
        "lt.ValueError, 'op_throws', 'the kernel is tired', 'f32[2]'",
    ),
    "fails": ('c.fail("not today");', "lt.ValueError, 'op_fails', 'not today'"),
    "dtype": ("c.input<int64_t>(0);", "lt.ValueError, 'op_dtype', 'no code for this dtype'"),
    "output": ("c.output<double>(0);", "lt.ValueError, 'op_output', 'another dtype'"),
    "missing": ("c.output<float>(3);", "lt.ValueError, 'op_missing', 'does not have'"),
    "argument": ("c.input<float>(7);", "lt.Error, 'op_argument'"),
    "attribute": ("c.real(0);", "lt.ValueError, 'op_attribute', 'reads a number'"),
    "memory": ("c.scratch<char>(size_t{1} << 46);", "lt.MemoryError, 'memory'"),
    "odd": ("throw 3;", "lt.ValueError, 'op_odd', 'no std::exception'"),
}


def test_what_a_shared_object_does_wrong_is_an_error(folder):
    checks = []
    structs = []
    for name, (code, expected) in BAD_LIBRARIES.items():
        structs.append(
            f"struct Op_{name} {{\n"
            f'  static constexpr const char* schema = "op_{name}(Tensor x) -> Tensor";\n'
            '  static constexpr const char* doc = "";\n'
            "  static void infer(lathe::custom::Infer& c) "
            "{ c.result(0, c.dtype(0), c.shape(0)); }\n"
            f"  static void compute(lathe::custom::Compute& c) {{ (void)c; {code} }}\n}};"
        )
        checks.append(f"with says({expected}):\n    lt.op_{name}(lt.ones(2))")
    names = ", ".join(f"Op_{name}" for name in BAD_LIBRARIES)
    shared_object(folder, "bad", "\n".join(structs), f"LATHE_OPS({names})")
    run(SAY + "lt.library.load('libbad.so')\n" + "\n".join(checks), folder)


def test_libraries_that_are_none(folder):
    (folder / "text.so").write_text("no library")
    taken = """struct Op {
      static constexpr const char* schema = "relu(Tensor x) -> Tensor";
      static constexpr const char* doc = "";
      static void infer(lathe::custom::Infer&) {}
      static void compute(lathe::custom::Compute&) {}
    };"""
    shared_object(folder, "taken", taken)
    shared_object(folder, "empty", "", "int nothing;")
    shared_object(
        folder,
        "future",
        "",
        'extern "C" __attribute__((visibility("default"))) int32_t lathe_ops_v1('
        "const lathe_op_host*) { return 1; }",
    )
    run(
        SAY
        + """
for name, what in [("nothing.so", "cannot be opened"), ("text.so", "cannot be opened"),
                   ("libempty.so", "brings no ops")]:
    with says(lt.FileError, "load_library", what, name):
        lt.library.load(name)
with says(lt.NameError, "relu", "already"):
    lt.library.load("libtaken.so")
with says(lt.UnsupportedError, "another interface", "libfuture.so"):
    lt.library.load("libfuture.so")
""",
        folder,
    )


def test_no_shape_rule_does_not_compile(folder):
    bad = folder / "bad_op.cpp"
    bad.write_text(
        "#include <lathe/custom_op.h>\nstruct Op {\n"
        '  static constexpr const char* schema = "f(Tensor x) -> Tensor";\n'
        '  static constexpr const char* doc = "";\n'
        "  static void compute(lathe::custom::Compute&) {}\n};\nLATHE_OPS(Op)\n"
    )
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", "-I", ROOT / "include", bad],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "infer" in done.stderr


@pytest.mark.skipif(not os.path.exists("/usr/bin/clang++-14"), reason="clang is not here")
def test_the_header_under_clang_and_all_warnings(folder):
    subprocess.run(
        ["clang++-14", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        + ["-I", ROOT / "include", folder / "zero_out.cpp"],
        check=True,
    )
