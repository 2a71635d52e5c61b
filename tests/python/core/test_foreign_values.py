"""Every kind of value that NumPy and ctypes have, at every door: a tensor or a typed error.

In a process of its own, since what this looks for ends a process.
"""

import subprocess
import sys

import numpy as np
import pytest

import lathe as lt

VALUES = """
import array, ctypes, sys, warnings
import numpy as np
import lathe as lt

warnings.simplefilter("ignore")
kinds = ("? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 g F D G M8[D] m8[s] M8 S3 S0 U3 U0 V4 V0 O f4,i4 "
         ">f4 >f8 >i4 >u2 >c8 >f2 >M8[s] >U2 3f4").split()
kinds += [[("a", "f4", (2,)), ("b", "O")], [("f", "f4")], []]
values = {}
for kind in kinds:
    for shape in ((), (0,), (2,), (2, 2)):
        made = np.zeros(shape, kind)
        values[f"array {kind} {shape}"] = made
        if shape == ():
            values[f"number {kind}"] = made[()]
values |= {
    "not a time": np.datetime64("NaT"), "year": np.datetime64("2020"), "a": np.timedelta64(5),
    "number as text": np.str_("3"), "text": np.str_(""), "bytes": np.bytes_(b"a"),
    "void": np.void(b"abc"), "record": np.rec.array([(1, 2.0)], dtype="i4,f4")[0],
    "negative": np.zeros((4, 4), "f4")[::-1], "steps": np.zeros((4, 4), "f4")[::2, ::2],
    "field": np.zeros(3, "i1,f4")["f1"], "expanded": np.broadcast_to(np.float32(1), (3, 3)),
    "masked": np.ma.array([1.0, 2.0], mask=[0, 1]), "matrix": np.matrix([[1.0]]),
    "tensors": np.array([lt.ones(2)], dtype=object), "itself": np.empty(1, object),
    "dtype": np.dtype("f4"), "class": np.float32, "iterator": np.nditer(np.ones(2)),
    "flat": np.ones(2).flat, "view": memoryview(np.ones((2, 2))), "py bytes": b"ab",
    "array": array.array("f", [1, 2]), "letters": array.array("u", "ab"),
    "c array": (ctypes.c_float * 3)(), "c matrix": (ctypes.c_int * 2 * 3)(),
    "c pointers": (ctypes.POINTER(ctypes.c_int) * 3)(), "c int": ctypes.c_int(3),
    "c turned": (ctypes.c_float.__ctype_be__ * 2)(),
}
values["itself"][0] = values["itself"]
if hasattr(np.dtypes, "StringDType"):
    values["strings"] = np.array(["a", "b"], np.dtypes.StringDType())

x = lt.ones(2, 2)
def put(value, key=0):
    y = lt.ones(2, 2)
    y[key] = value
doors = {
    "tensor": lt.tensor, "Tensor": lt.Tensor, "as_tensor": lt.as_tensor,
    "from_numpy": lt.from_numpy, "frombuffer": lt.frombuffer,
    "tensor f32": lambda v: lt.tensor(v, dtype=lt.float32),
    "tensor i64": lambda v: lt.tensor(v, dtype=lt.int64),
    "as_tensor f32": lambda v: lt.as_tensor(v, dtype=lt.float32),
    "in a list": lambda v: lt.tensor([v, v]),
    "in a list i64": lambda v: lt.tensor([v, v], dtype=lt.int64),
    "item": put, "key": lambda v: x[v], "put at key": lambda v: put(1.0, v),
    "x + v": lambda v: x + v, "v + x": lambda v: v + x, "x += v": lambda v: lt.ones(2).__iadd__(v),
    "x == v": lambda v: x == v, "x ** v": lambda v: x**v, "x @ v": lambda v: x @ v,
    "fill_": lambda v: lt.ones(2).fill_(v), "copy_": lambda v: lt.ones(2, 2).copy_(v),
    "data": lambda v: setattr(lt.ones(2), "data", v), "to": x.to,
    "grad": lambda v: setattr(lt.ones(2, requires_grad=True), "grad", v),
    "alpha": lambda v: lt.add(x, x, alpha=v),
}
operators = {"x + v", "v + x", "x += v", "x == v", "x ** v", "x @ v"}
"""
SWEEP = (
    VALUES
    + """
for name in lt.ops.__all__ if hasattr(lt.ops, "__all__") else dir(lt.ops):
    op = getattr(lt.ops, name)
    if name.startswith("_") or not callable(op):
        continue
    doors[f"ops.{name}(v)"] = op
    doors[f"ops.{name}(x, v)"] = lambda v, op=op: op(x, v)
    doors[f"ops.{name}(x, x, v)"] = lambda v, op=op: op(x, x, v)
part, parts = map(int, sys.argv[1:])
for door, f in list(doors.items())[part::parts]:
    for name, value in values.items():
        print(f"{door}: {name}", file=sys.stderr, flush=True)
        try:
            f(value)
        except lt.Error:
            pass
        except TypeError as error:  # Python's own word for two operands that do not know each other
            assert door in operators, (door, name, error)
        except Exception as error:
            # NumPy's own, where its operator comes first
            theirs = type(error).__module__.startswith("numpy")
            assert door == "v + x" and theirs, (door, name, error)
"""
)


@pytest.mark.parametrize("part", range(4))
def test_every_value_at_every_door(part):
    done = subprocess.run(
        [sys.executable, "-c", SWEEP, str(part), "4"], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


@pytest.mark.parametrize("value", [np.datetime64("2020"), np.timedelta64(1, "D")])
def test_a_date_is_no_number(value):
    """Its buffer is that of its bytes."""
    for make in (lt.tensor, lt.as_tensor, lambda v: lt.tensor([v]), lambda v: lt.ones(2) + v):
        with pytest.raises(lt.Error) as raised:
            make(value)
        assert isinstance(raised.value, TypeError)


def test_what_has_no_buffer_says_why():
    with pytest.raises(lt.DTypeError, match="cannot include dtype 'M' in a buffer"):
        lt.tensor(np.zeros(2, "M8[D]"))
    with pytest.raises(lt.DTypeError, match="cannot include dtype 'M' in a buffer"):
        lt.from_numpy(np.zeros(2, "M8[D]"))
    fixed = np.ones(2)
    fixed.flags.writeable = False
    with pytest.raises(lt.ValueError, match="read-only"):
        lt.from_numpy(fixed)


def test_buffers_without_strides():
    import ctypes

    numbers = (ctypes.c_float * 3)(1, 2, 3)
    assert lt.tensor(numbers).tolist() == [1, 2, 3]
    shared = lt.frombuffer(numbers)
    numbers[1] = 7
    assert shared.tolist() == [1, 7, 3]
    table = (ctypes.c_int * 2 * 3)((1, 2), (3, 4), (5, 6))
    assert lt.tensor(table).tolist() == [[1, 2], [3, 4], [5, 6]]


def test_arrays_without_axes_in_a_list():
    made = lt.tensor([np.array(1.5), np.array(2), 3])
    assert made.dtype is lt.float64 and made.tolist() == [1.5, 2.0, 3.0]
    assert lt.tensor([np.array(True), np.array(False)]).dtype is lt.bool
    assert lt.tensor([np.array(1 + 2j)]).tolist() == [1 + 2j]


# As PyTorch has it: what has a dtype of its own keeps it, beside Python's numbers too.
SEQUENCES = [
    ([np.float64(1.5), 2.5], lt.float64),
    ([np.float32(1.5), 2.5], lt.float32),
    ([np.float16(1.5)], lt.float16),
    ([np.float16(1.5), 1], lt.float16),
    ([np.float16(1.5), 1.5], lt.float32),
    ([np.int32(1)], lt.int32),
    ([np.int32(1), 2], lt.int64),
    ([np.uint8(1), np.int8(2)], lt.int16),
    ([np.longlong(1)], lt.int64),
    ([np.bool_(True), False], lt.bool),
    ((np.float64(1), np.int32(1)), lt.float64),
    ([[np.float64(1)], [2]], lt.float64),
    ([np.complex128(1j), 2.0], lt.complex128),
    ([np.complex64(1j)], lt.complex64),
    ([np.float64(1), 1j], lt.complex128),
    ([np.ones(2), np.zeros(2)], lt.float64),
    ([np.ones(2, np.int32), [3, 4]], lt.int64),
    ([lt.tensor(1, dtype=lt.int32)], lt.int32),
    ([lt.tensor(1.5, dtype=lt.float64), 2.0], lt.float64),
    ([lt.tensor(1.5).half(), lt.tensor(1.5).half()], lt.float16),
    ([], lt.float32),
]


@pytest.mark.parametrize("data, dtype", SEQUENCES, ids=repr)
def test_numbers_in_a_sequence_keep_their_dtype(data, dtype):
    made = lt.tensor(data)
    assert made.dtype is dtype
    assert made.tolist() == np.array(data).tolist() if data and dtype is not lt.float16 else True
    assert lt.as_tensor(data).dtype is dtype
    assert lt.tensor(data, dtype=lt.complex64).dtype is lt.complex64


def test_functions_of_numpy_give_tensors():
    x = lt.tensor([[1.0, 4.0], [9.0, 16.0]])
    cases = {
        "roots": (np.sqrt(x), lt.sqrt(x)),
        "of two": (np.add(np.ones((2, 2)), x), x.double() + 1),
        "flags": (np.isnan(x), lt.isnan(x)),
        "no axes": (np.sqrt(lt.tensor(4.0)), lt.tensor(2.0)),
        "integers": (np.abs(lt.tensor([-1, 2])), lt.tensor([1, 2])),
        "a reduction": (np.add.reduce(x), x.sum(0)),
        "an inverse": (np.linalg.inv(lt.eye(2, dtype=lt.float64)), lt.eye(2, dtype=lt.float64)),
    }
    for name, (made, expected) in cases.items():
        assert isinstance(made, lt.Tensor) and made.dtype is expected.dtype, name
        assert made.tolist() == expected.tolist(), name
    pairs = np.divmod(lt.tensor([7.0]), 2)
    assert [p.item() for p in pairs] == [3.0, 1.0]
    objects = np.frompyfunc(lambda v: [v], 1, 1)(lt.ones(2))
    assert objects.dtype == object and isinstance(objects, np.ndarray)
