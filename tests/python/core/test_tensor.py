"""lathe.Tensor as a Python object: made from data, read, shared with NumPy, copied, printed."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import lathe as lt

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
]


def test_data_decides_shape_and_dtype():
    assert lt.tensor(3).dtype is lt.int64 and lt.tensor(3).shape == ()
    assert lt.tensor(2.5).dtype is lt.float32
    assert lt.tensor([True, False]).dtype is lt.bool
    assert lt.tensor([True, 2]).dtype is lt.int64
    assert lt.tensor([1, 2.5]).dtype is lt.float32
    assert lt.tensor([1, 2j]).dtype is lt.complex64
    assert lt.tensor([]).dtype is lt.float32 and lt.tensor([[], []]).shape == (2, 0)
    assert lt.tensor(((1, 2), [3, 4])).tolist() == [[1, 2], [3, 4]]
    assert lt.tensor([lt.tensor(1.5), 2]).tolist() == [1.5, 2.0]
    assert lt.tensor(range(3)).tolist() == [0, 1, 2]
    assert lt.tensor([np.float32(1.5), np.int64(2)]).tolist() == [1.5, 2.0]
    assert lt.tensor([1, 2], dtype="int8").dtype is lt.int8
    assert lt.Tensor([1, 2]).dtype is lt.float32


def test_default_dtype():
    lt.set_default_dtype(lt.float64)
    assert lt.tensor(1.5).dtype is lt.zeros(2).dtype is lt.get_default_dtype() is lt.float64
    with pytest.raises(lt.Error):
        lt.set_default_dtype(lt.int32)


@pytest.mark.parametrize(
    "data, error",
    [
        ([[1, 2], [3]], ValueError),
        ([[1, 2], 3], ValueError),
        ([1, [2]], ValueError),
        ("abc", TypeError),
        ([1, "a"], TypeError),
        ([None], TypeError),
        (object(), TypeError),
        (2**70, OverflowError),
    ],
)
def test_data_that_is_none(data, error):
    with pytest.raises(error) as caught:
        lt.tensor(data)
    assert isinstance(caught.value, lt.Error)


def test_a_list_inside_itself():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="nested too deep"):
        lt.tensor(data)


def test_a_list_that_changes_while_it_is_read():
    class Shrinks:
        def __init__(self, owner):
            self.owner = owner

        def __index__(self):
            self.owner.clear()
            return 1

    data = []
    data += [Shrinks(data), 2, 3]
    with pytest.raises((ValueError, TypeError, IndexError)):
        lt.tensor(data)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_both_ways(dtype):
    array = (np.random.default_rng(0).random((3, 4)) * 10).astype(dtype)
    copied = lt.tensor(array)
    assert copied.dtype is getattr(lt, dtype)
    back = copied.numpy()
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    np.testing.assert_array_equal(np.asarray(copied), array)
    np.testing.assert_array_equal(np.array(copied.T), array.T)
    np.testing.assert_array_equal(np.from_dlpack(copied), array)
    shared, also = lt.from_numpy(array), lt.from_dlpack(array)
    array[1, 2] = 1
    assert shared[1, 2].item() == also[1, 2].item() == 1
    shared[0, 0] = 0
    assert array[0, 0] == 0


def test_shared_memory_outlives_its_owner():
    array = np.arange(4.0)
    tensor, view = lt.from_numpy(array), lt.arange(3.0).numpy()
    del array
    gc.collect()
    assert tensor.tolist() == [0, 1, 2, 3] and view.tolist() == [0, 1, 2]
    held = memoryview(lt.arange(5))
    assert held.tolist() == [0, 1, 2, 3, 4] and held.format == "l"


def test_arrays_that_cannot_be_shared():
    array = np.arange(6.0)
    for bad in (array[::-1], array.astype(">f8"), array.astype("U3"), np.array([1], "longdouble")):
        with pytest.raises(lt.Error):
            lt.from_numpy(bad)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        lt.from_numpy(array)
    np.testing.assert_array_equal(lt.tensor(array[::-1]).numpy(), array[::-1])
    with pytest.raises(TypeError, match="no buffer"):
        lt.from_numpy([1, 2])


def test_what_numpy_cannot_hold():
    with pytest.raises(lt.DTypeError, match="float"):
        lt.ones(2, dtype=lt.bfloat16).numpy()
    with pytest.raises(lt.AutogradError, match="detach"):
        lt.ones(2, requires_grad=True).numpy()
    with pytest.raises(lt.AutogradError, match="detach"):
        np.asarray(lt.ones(2, requires_grad=True))


def test_dlpack_capsules_are_used_once():
    class Once:
        def __init__(self):
            self.capsule = lt.ones(2).__dlpack__()

        def __dlpack__(self, **_):
            return self.capsule

    source = Once()
    assert lt.from_dlpack(source).tolist() == [1, 1]
    with pytest.raises(TypeError, match="used before"):
        lt.from_dlpack(source)
    with pytest.raises(TypeError, match="DLPack"):
        lt.from_dlpack([1])
    lt.ones(3).__dlpack__(max_version=(1, 0))  # a capsule nobody takes


def test_mixed_with_numpy():
    x, array = lt.ones(3), np.full(3, 2.0, "float32")
    for result in (x + array, array + x, np.float32(2) + x - 0, x * np.int64(3)):
        assert isinstance(result, lt.Tensor)
    assert (array * x).tolist() == [2, 2, 2]


def test_numbers():
    assert lt.tensor(7).item() == 7 and lt.tensor(True).item() is True
    assert lt.tensor(1 + 2j).item() == 1 + 2j and float(lt.tensor(2)) == 2.0
    assert int(lt.tensor(-2.7)) == -2 and [5, 6][lt.tensor(1)] == 6 and complex(1 + 0j) == 1
    assert bool(lt.tensor(0.5)) and not lt.tensor(0)
    assert lt.tensor(2**62 - 1).item() == 2**62 - 1
    assert lt.tensor(-(2**63)).item() == -(2**63)
    for bad in (lambda: bool(lt.ones(2)), lambda: float(lt.ones(0)), lambda: lt.ones(2).item()):
        with pytest.raises(ValueError, match="one element"):
            bad()
    with pytest.raises(TypeError):
        [1][lt.tensor(0.0)]
    with pytest.raises(ValueError):
        int(lt.tensor(float("nan")))
    with pytest.raises(ValueError, match="imaginary"):
        float(lt.tensor(1j))


def test_sizes():
    x = lt.zeros(2, 3, 4)
    assert x.shape == x.size() == (2, 3, 4) and type(x.shape) is tuple
    assert x.size(-1) == x.size(dim=2) == 4 and len(x) == 2
    assert x.dim() == x.ndim == 3 and x.numel() == 24 and x.nbytes == 96
    assert x.stride() == (12, 4, 1) and x.T.stride() == (1, 4, 12)
    assert x.is_contiguous() and not x.T.is_contiguous()
    assert x[1, 1:].storage_offset() == 16
    assert x.T.shape == (4, 3, 2) and x.mT.shape == (2, 4, 3)
    with pytest.raises(IndexError):
        x.size(3)
    with pytest.raises(TypeError):
        len(lt.tensor(1))


def test_sizes_one_by_one_or_together():
    x = lt.arange(24)
    for y in (x.view(2, 3, 4), x.view((2, 3, 4)), x.view([2, 3, 4]), x.view(size=(2, 3, 4))):
        assert y.shape == (2, 3, 4)
    assert x.reshape(-1, 6).shape == (4, 6) and x.view(2, 12).permute(1, 0).shape == (12, 2)
    assert lt.zeros(2, 3).shape == lt.zeros((2, 3)).shape == lt.zeros(size=(2, 3)).shape
    assert lt.ones(()).shape == lt.zeros(0).sum().shape == ()
    assert x.view(4, 6).sum(0, 1).shape == () and x.view(4, 6).sum(0, True).shape == (1, 6)
    assert x.view(4, 6).sum(axis=1, keepdims=True).shape == (4, 1)
    assert lt.rand(2, 2, dtype=lt.float64).dtype is lt.float64


def test_conversions():
    x = lt.tensor([0.0, 1.6, -1.6])
    assert x.int().tolist() == x.long().tolist() == [0, 1, -1]
    assert x.bool().tolist() == [False, True, True]
    assert x.half().dtype is lt.float16 and x.double().dtype is lt.float64
    assert x.to(lt.float32) is x and x.to("cpu") is x and x.to("float16").dtype is lt.float16
    assert x.to(lt.tensor(1)).dtype is lt.int64 and x.to(dtype=lt.int8).dtype is lt.int8
    assert x.to(lt.float32, copy=True) is not x
    assert x.type_as(lt.tensor(1)).dtype is lt.int64 and x.to(float).dtype is lt.float64
    with pytest.raises(lt.DeviceError, match="cpu, sim"):
        x.to("tpu")


def test_devices():
    x = lt.arange(6.0).reshape(2, 3).to("sim")
    assert str(x.device) == "sim" and x.device == lt.device("sim") == "sim"
    assert (x + 1).cpu().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert x.tolist() == x.cpu().tolist() == x.numpy().tolist() and x[1, 2].item() == 5
    assert "device='sim'" in repr(x)
    with pytest.raises(lt.DeviceError):
        x + lt.ones(3)
    assert (x + lt.tensor(1.0)).sum().item() == 21  # a number may be anywhere
    assert lt.zeros(2, device="sim").device.type == "sim"
    assert pickle.loads(pickle.dumps(lt.device("sim"))) == "sim" and hash(x.device)


def test_operators_are_ops():
    a, b = lt.tensor([1.0, 4.0]), lt.tensor([2.0, 3.0])
    assert (a + b).tolist() == [3, 7] and (a - b).tolist() == [-1, 1]
    assert (a * b).tolist() == [2, 12] and (b / a).tolist() == [2, 0.75]
    assert (a // b).tolist() == [0, 1] and (a % b).tolist() == [1, 1]
    assert (a**b).tolist() == [1, 64] and (2**a).tolist() == [2, 16]
    assert (1 - a).tolist() == [0, -3] and (1 / b)[0].item() == 0.5
    assert (-a).tolist() == [-1, -4] and (+a) is a and abs(-a).tolist() == [1, 4]
    assert (a @ b).item() == 14
    assert (a < b).tolist() == [True, False] and (a >= b).tolist() == [False, True]
    assert (a == a).tolist() == [True, True] and (a != b).tolist() == [True, True]
    assert (a == None) is False and (a != None) is True  # noqa: E711
    t, f = lt.tensor([True, False]), lt.tensor([True, True])
    assert (t & f).tolist() == [True, False] and (t | f).tolist() == [True, True]
    assert (t ^ f).tolist() == [False, True] and (~t).tolist() == [False, True]
    assert 4 in a and 5 not in a
    for bad in (lambda: a + "x", lambda: a @ None, lambda: pow(a, 2, 3)):
        with pytest.raises(TypeError):
            bad()


def test_operators_in_place():
    x = y = lt.tensor([1.0, 2.0])
    x += 1
    x *= lt.tensor([2.0, 3.0])
    x -= 1
    x /= 2
    x **= 2
    assert x is y and x.tolist() == [2.25, 16]
    n = lt.tensor([7, 8])
    n //= 2
    n %= 3
    assert n.tolist() == [0, 1]
    with pytest.raises(lt.DTypeError, match="does not fit into the dtype"):
        n += 1.5
    assert n.tolist() == [0, 1]
    with pytest.raises(lt.ShapeError):
        n += lt.ones(3, 2, dtype=lt.int64)


def test_fills():
    x = lt.ones(2, 2)
    assert x.zero_() is x and x.sum().item() == 0
    assert x.fill_(3).tolist() == [[3, 3], [3, 3]]
    assert x.copy_(lt.tensor([1, 2])).tolist() == [[1, 2], [1, 2]]
    assert x.clamp_(max=1).tolist() == [[1, 1], [1, 1]]
    assert x.masked_fill_(lt.tensor([True, False]), 9).tolist() == [[9, 1], [9, 1]]
    assert x.uniform_(2, 3).min().item() >= 2 and x.normal_().shape == (2, 2)


def test_named_results():
    values, indices = lt.tensor([3.0, 1.0, 2.0]).sort()
    assert values.tolist() == [1, 2, 3] and indices.tolist() == [1, 2, 0]
    top = lt.tensor([3.0, 1.0, 2.0]).topk(2)
    assert top.values.tolist() == [3, 2] and top.indices.tolist() == [0, 2]
    x = lt.tensor([[1.0, 5.0], [7.0, 2.0]])
    assert (
        x.max().item() == 7
        and x.max(1).indices.tolist() == [1, 0]
        and x.min(0, True)[0].shape == (1, 2)
    )
    assert lt.max(x, lt.tensor(4.0)).tolist() == [[4, 5], [7, 4]]


def test_python_objects():
    x = lt.ones(2)
    alive = weakref.ref(x)
    assert len({x: 1, lt.ones(2): 2}) == 2 and x in [x]
    del x
    assert alive() is None

    class Sub(lt.Tensor):
        def doubled(self):
            return self * 2

    s = Sub([1.0, 2.0])
    s.note = "kept"
    assert s.doubled().tolist() == [2, 4] and type(s + 1) is lt.Tensor and s.note == "kept"
    assert copy.deepcopy(s).note == "kept" and type(copy.deepcopy(s)) is Sub
    cycle = Sub([1.0])
    cycle.me = cycle
    gone = weakref.ref(cycle)
    del cycle
    gc.collect()
    assert gone() is None
    with pytest.raises(AttributeError):
        lt.ones(1).note = 1


def test_copies():
    x = lt.tensor([1.0, 2.0], requires_grad=True)
    deep, shallow, back = copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))
    with lt.no_grad():
        x[0] = 9
    assert deep.tolist() == back.tolist() == [1, 2] and shallow.tolist() == [9, 2]
    assert deep.requires_grad and shallow.requires_grad and back.requires_grad
    with pytest.raises(lt.AutogradError):
        copy.deepcopy(x * 2)
    with pytest.raises(lt.AutogradError):
        pickle.dumps(x * 2)
    for d in (lt.float32, lt.relu, lt.ones(2, dtype=lt.bfloat16).dtype):
        assert pickle.loads(pickle.dumps(d)) is copy.deepcopy(d) is d


def test_text():
    assert repr(lt.tensor([1.0, 2.5])) == "tensor([1.0000, 2.5000])"
    assert repr(lt.tensor(1.0, requires_grad=True)) == "tensor(1., requires_grad=True)"
    assert repr(lt.tensor(1.0, requires_grad=True) * 2) == "tensor(2., grad_fn=<mul>)"
    assert repr(lt.float32) == "lathe.float32" and repr(lt.device("cpu")) == "device(type='cpu')"
    assert f"{lt.tensor(2.5):.2f}" == "2.50" and f"{lt.ones(1)}" == "tensor([1.])"
    lt.set_printoptions(precision=2)
    assert repr(lt.tensor([1.234])) == "tensor([1.23])"
    lt.set_printoptions(precision=4)


def test_iteration():
    assert [r.tolist() for r in lt.arange(4).view(2, 2)] == [[0, 1], [2, 3]]
    a, b = lt.tensor([1, 2])
    assert a.item() + b.item() == 3
    with pytest.raises(TypeError):
        iter(lt.tensor(1))


def test_data_attribute():
    x = lt.tensor([1.0, 2.0], requires_grad=True)
    x.data = lt.tensor([3.0, 4.0])
    assert x.tolist() == [3, 4] and x.requires_grad and x.is_leaf
    x.data = lt.ones(3, dtype=lt.float64)
    assert x.shape == (3,) and x.dtype is lt.float64
    x.data[0] = 5
    assert x[0].item() == 5
    x, order = lt.ones(2, 3, 4, 5), lt.channels_last
    x.data = lt.ones(2, 3, 4, 5).contiguous(memory_format=order)
    assert x.is_contiguous(memory_format=order) and x.sum().item() == 120
    x.data = lt.zeros(1).expand(2, 3, 4, 5)  # overlaps itself: its elements are copied
    assert x.is_contiguous() and x.add_(1).sum().item() == 120
