"""What the three functions of a custom op may give, and what they are told otherwise.

Ops stay for the life of a process, so everything here runs in processes of its own.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

MAKE = """
import lathe as lt, numpy as np, itertools
numbers = itertools.count()
last = None

def make(**parts):
    global last
    last = f"made_{next(numbers)}"
    kernel = parts.pop("kernel", lambda x: x.clone())
    parts = {"shape": lambda x: x, "gradient": lambda saved, dy: dy} | parts
    return lt.library.custom_op(f"{last}(Tensor x) -> Tensor", **parts)(kernel)

def step(op):
    def f(x):
        return lt.autograd.grad(op(x).sum(), [x], allow_unused=True)[0]
    return f

def captured(f):
    def g(x):
        x = x.detach().requires_grad_()
        return f(x)
    return g

def ways(f):
    yield f
    yield lt.trace(captured(f))
    yield lt.script(captured(f))

def refused(f, kind, *says):
    for way in ways(f):
        try:
            got = way(lt.ones(3, requires_grad=True))
        except lt.Error as error:
            assert isinstance(error, kind), repr(error)
            for text in (last, *says):
                assert text in str(error), (text, str(error))
        else:
            raise AssertionError(got)

class Thing:
    __array_interface__ = {"shape": "no"}

NO_TENSORS = {
    "str": "a", "int": 1, "float": 1.5, "bool": True, "object": object(), "dict": {"a": 1},
    "bytes": b"x", "set": {1}, "dtype": lt.float32, "datetime64": np.datetime64("2020"),
    "ndarray": np.array(["a"]), "generator": (i for i in ()), "Thing": Thing(),
}
"""


def run(code):
    with tempfile.TemporaryDirectory() as folder:  # a script is read in its file
        program = Path(folder) / "program.py"
        program.write_text(MAKE + code)
        done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stdout + done.stderr)


def test_what_is_no_tensor():
    run("""
for name, value in NO_TENSORS.items():
    for given in (value, [value], (value,)):
        refused(step(make(gradient=lambda saved, dy: given)), TypeError, "the gradient gives", name)
        refused(make(kernel=lambda x: given), TypeError, "the kernel gives", name)
        refused(make(shape=lambda x: given), TypeError, "the shape rule gives", name)
refused(make(kernel=lambda x: None), TypeError, "the kernel gives", "NoneType")
refused(make(shape=lambda x: None), TypeError, "the shape rule gives", "NoneType")
for none in ((), (lt.ones(3), None)):
    refused(step(make(gradient=lambda saved, dy: none)), ValueError, "another number of results")
    refused(make(kernel=lambda x: none), lt.Error)
""")


def test_gradients_of_numpy_and_none():
    run("""
array = np.array([1, 2, 3], "float32")
for given in (lt.tensor, np.copy):
    for pack in (lambda g: g, lambda g: [g], lambda g: (g,)):
        f = step(make(gradient=lambda saved, dy: pack(given(array))))
        assert f(lt.ones(3, requires_grad=True)).tolist() == [1, 2, 3]
        traced = lt.trace(captured(f))
        for first in (1, 5, 1):  # a trace sees the array change, or refuses one that NumPy made
            array[0] = first
            try:
                assert traced(lt.ones(3, requires_grad=True)).tolist() == [first, 2, 3]
            except lt.TraceError:
                assert given is np.copy
for none in (None, [None], (None,)):
    x = lt.ones(3, requires_grad=True)
    make(gradient=lambda saved, dy: none)(x).sum().backward()
    assert x.grad is None
# The array stays its author's.
x = lt.ones(3, requires_grad=True)
op = make(gradient=lambda saved, dy: array)
op(x).sum().backward()
op(x).sum().backward()
assert x.grad.tolist() == [2, 4, 6] and array.tolist() == [1, 2, 3]
""")


@pytest.mark.parametrize(
    "given",
    [
        "lt.ones(7)",
        "lt.ones(())",
        "lt.ones(1)",
        "lt.ones(2, 3)",
        "lt.ones(3, dtype=lt.float64)",
        "lt.ones(3, dtype=lt.int64)",
        "lt.ones(3, device='sim')",
        "np.ones(3)",
        "np.ones(4, 'float32')",
    ],
)
def test_a_gradient_that_is_not_like_its_argument(given):
    run(f"""
refused(step(make(gradient=lambda saved, dy: {given})), lt.ShapeError,
        "the gradient for 'x' is not like 'x'")
""")


def test_a_gradient_of_one_of_several_arguments():
    run("""
@lt.library.custom_op("scaled(Tensor x, Tensor w) -> Tensor", shape=lambda x, w: x,
                      gradient=lambda saved, dy: (dy * saved.w, dy * saved.x))
def scaled(x, w):
    return x * w

x, w = lt.ones(2, 3, requires_grad=True), lt.ones(3, requires_grad=True)
scaled(x, w.detach()).sum().backward()  # the gradient for w is not asked for
assert x.grad.shape == (2, 3)
try:
    scaled(x, w).sum().backward()
except lt.ShapeError as error:
    assert "scaled: the gradient for 'w'" in str(error), error
else:
    raise AssertionError(w.grad)
""")


def test_a_shape_rule_that_describes_no_tensor():
    run("""
for shape in ((1.5,), (None,), ("a",), (lt.ones(2),), {"a": 1}):
    refused(make(shape=lambda x: x.like(shape=shape)), TypeError, "describes no tensor")
for dtype in ("x", 3, np.float32):
    refused(make(shape=lambda x: x.like(dtype=dtype)), TypeError, "describes no tensor")
refused(make(shape=lambda x: lt.library.TensorSpec(x.shape, x.dtype, "x")), TypeError,
        "describes no tensor")
last = "TensorSpec"
for shape in ("ab", 3, 1.5):
    f = make(shape=lambda x: x.like(shape=shape))
    last = "TensorSpec"
    refused(f, TypeError, "tuple of sizes")
refused(make(shape=lambda x: x.like(shape=(-1,))), lt.ShapeError, "negative")
assert make(shape=lambda x: x.like(shape=[np.int64(3)]))(lt.ones(3)).tolist() == [1, 1, 1]
""")


FLOATS = """
@lt.library.custom_op("as_many(Tensor x, float v, float[] w=[]) -> Tensor",
                      shape=lambda x, v, w: x.like(shape=(RULE,)))
def as_many(x, v, w):
    return lt.ones(RULE)

def program(x, v, w):
    return as_many(x, v, [w]) + 1

traced = lt.trace(program)
for v, w in ((0.5, 1.0), (0.75, 1.0), (1.5, 1.0), (0.75, 2.0), (0.5, 1.0), (0.75, 1.0)):
    x = lt.ones(3)
    assert traced(x, v, w).tolist() == program(x, v, w).tolist(), (v, w)
lt.save(lambda x: program(x, 0.75, 1.0), FILE, inputs=(lt.ones(3),))
assert lt.load(FILE)(lt.ones(3)).tolist() == program(x, 0.75, 1.0).tolist()
"""


@pytest.mark.parametrize(
    "rule", ["int(v * 4)", "2 if v > 0.6 else 3", "int(w[0] + v)", "round(v / 0.25)"]
)
def test_a_shape_rule_that_asks_for_a_float(rule, tmp_path):
    """Another program for each of its answers, and a graph whose types can be worked out again."""
    file = repr(str(tmp_path / "as_many.lathe"))
    run(FLOATS.replace("RULE", rule).replace("FILE", file))


def test_a_shape_rule_that_does_not_look_at_a_float():
    run("""
@lt.library.custom_op("scale(Tensor x, float v) -> Tensor", shape=lambda x, v: x)
def scale(x, v):
    return x * v

traced = lt.trace(lambda x, v: scale(x, v))
for v in (0.5, 0.75, 2.0, 3.0):
    assert traced(lt.ones(2), v).tolist() == [v, v]
assert traced.counts["traces"] == 2, traced.counts
""")
