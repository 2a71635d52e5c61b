"""Questions about dtypes, constructors named after one, and tensors that stand for numbers."""

import copy
import pickle

import numpy as np
import pytest

import lathe as lt

FLOATS = {lt.float16: np.float16, lt.float32: np.float32, lt.float64: np.float64}


@pytest.mark.parametrize("dtype", FLOATS)
def test_limits_of_floats_are_numpys(dtype):
    ours, theirs = lt.finfo(dtype), np.finfo(FLOATS[dtype])
    for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution"):
        assert getattr(ours, name) == pytest.approx(float(getattr(theirs, name)), rel=1e-3)
    assert (ours.eps, ours.max, ours.tiny) == (theirs.eps, theirs.max, theirs.tiny)


def test_limits_of_bfloat16_and_of_complex_dtypes():
    info = lt.finfo(lt.bfloat16)
    assert (info.eps, info.max, info.resolution) == (2.0**-7, (2 - 2.0**-7) * 2.0**127, 0.01)
    assert lt.finfo(lt.complex64) == lt.finfo(lt.float32) == lt.finfo()


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_limits_of_integers_are_numpys(name):
    ours, theirs = lt.iinfo(getattr(lt, name)), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)


def test_limits_are_of_one_kind_only():
    for ask, dtype in ((lt.finfo, lt.int8), (lt.iinfo, lt.float32), (lt.iinfo, lt.bool)):
        with pytest.raises(lt.TypeError, match="no such limits"):
            ask(dtype)


def test_promotion_and_casting_by_category():
    assert lt.promote_types(lt.int8, lt.uint8) is lt.int16
    assert lt.promote_types("float16", lt.bfloat16) is lt.float32
    assert lt.can_cast(lt.int64, lt.float16) and not lt.can_cast(lt.float16, lt.int64)
    assert not lt.can_cast(lt.uint8, lt.bool) and lt.can_cast(lt.float64, lt.complex64)


def test_result_types_rank_tensors_before_numbers():
    small = lt.ones(2, dtype=lt.int8)
    assert lt.result_type(small, 1000) is lt.int8
    assert lt.result_type(small, 1.5) is lt.float32
    assert lt.result_type(small, lt.tensor(1)) is lt.int8
    assert (
        lt.result_type(lt.tensor(1.5, dtype=lt.float64), lt.ones(2, dtype=lt.int32)) is lt.float64
    )
    assert lt.result_type(1, 2.5) is lt.float32
    with pytest.raises(lt.TypeError):
        lt.result_type(lt.float32, 1)


def test_legacy_constructors_take_sizes_or_data():
    assert lt.FloatTensor(2, 3).shape == (2, 3) and lt.Tensor(2, 3).dtype is lt.float32
    assert lt.LongTensor([1.5, 2]).tolist() == [1, 2]
    assert lt.IntTensor((2, 3)).dtype is lt.int32 and lt.BoolTensor().shape == (0,)
    x = lt.tensor([1, 2])
    lt.LongTensor(x)[0] = 5  # the same memory
    assert x.tolist() == [5, 2] and lt.Tensor(x).dtype is lt.int64
    for wrong in (
        lambda: lt.Tensor(3.5),
        lambda: lt.Tensor([1], [2]),
        lambda: lt.LongTensor(x * 1.0),
    ):
        with pytest.raises(lt.TypeError):
            wrong()


def test_types_of_tensors():
    x = lt.ones(2)
    assert x.type() == "lathe.FloatTensor" and isinstance(x, lt.FloatTensor)
    assert not isinstance(x, lt.DoubleTensor) and not isinstance(1.0, lt.FloatTensor)
    assert isinstance(lt.nn.Parameter(x), lt.FloatTensor)
    for kind in (lt.LongTensor, "torch.LongTensor", "lathe.LongTensor", lt.int64, "int64"):
        assert x.type(kind).dtype is lt.int64
    with pytest.raises(lt.ValueError):
        x.type("NoTensor")


def test_the_default_type_by_its_class():
    try:
        lt.set_default_tensor_type(lt.DoubleTensor)
        assert lt.get_default_dtype() is lt.float64
    finally:
        lt.set_default_tensor_type("torch.FloatTensor")
    assert lt.get_default_dtype() is lt.float32


def test_tensors_without_axes_stand_for_numbers():
    x = lt.ones(2, 3)
    assert lt.add(x, 1, alpha=lt.tensor(3)).tolist() == [[4] * 3] * 2
    assert lt.full((2,), lt.tensor(2.5)).tolist() == [2.5, 2.5]
    assert lt.zeros(lt.tensor(2), 3).shape == x.view(lt.tensor(2), 3).shape == (2, 3)
    assert x.transpose(lt.tensor(0), 1).shape == (3, 2)
    with pytest.raises(lt.TypeError):
        lt.zeros(lt.tensor(2.5))
    with pytest.raises(lt.TraceError):
        lt.trace(lambda a, b: a.transpose(b, 1))(x, lt.tensor(0))


def test_a_factor_that_is_a_tensor_keeps_its_history():
    x, factor = lt.ones(2, 3), lt.tensor(3.0, requires_grad=True)
    for add in (lt.add, lt.trace(lambda a, b, alpha: lt.add(a, b, alpha=alpha))):
        result = add(x, 2, alpha=factor)
        assert result.tolist() == [[7] * 3] * 2
        assert lt.autograd.grad(result.sum(), factor)[0].item() == 12


def test_memory_formats_are_orders_of_axes():
    x = lt.arange(120.0).reshape(2, 3, 4, 5)
    y = x.contiguous(memory_format=lt.channels_last)
    assert y.stride() == (60, 1, 15, 3) and y.dim_order() == (0, 2, 3, 1)
    assert y.is_contiguous(memory_format=lt.channels_last) and not y.is_contiguous()
    assert y.contiguous(memory_format="channels_last").data_ptr() == y.data_ptr()
    assert lt.equal(x, y) and lt.equal(x.to(memory_format=lt.channels_last), y)
    assert x.clone(memory_format=lt.contiguous_format).is_contiguous()
    traced = lt.trace(lambda a: a.contiguous(memory_format=lt.channels_last) * 2)
    assert lt.equal(traced(x), x * 2)
    for format, error in ((lt.channels_last_3d, lt.ShapeError), ("sideways", lt.ValueError)):
        with pytest.raises(error):
            x.contiguous(memory_format=format)
    assert isinstance(lt.channels_last, lt.memory_format) and x.layout is lt.strided
    assert pickle.loads(pickle.dumps(lt.channels_last)) is copy.copy(lt.channels_last)


def test_questions_with_one_answer():
    x = lt.tensor([2])
    assert lt.is_nonzero(x) and not lt.is_conj(x) and lt.get_device(x) == -1
    assert not x.is_cuda and not x.is_sparse and x.is_cpu and x.nelement() == 1
    assert x.dtype.is_signed and not lt.uint8.is_signed and lt.complex64.to_real() is lt.float32
    assert x.is_set_to(x.view(1)) and not x.is_set_to(x.clone())


# ── ops whose results are of another dtype than one would guess: as in PyTorch ─────────────────


@pytest.mark.parametrize("name", ["any", "all"])
def test_truth_of_uint8_is_uint8(name):
    ask = getattr(lt, name)
    x = lt.tensor([[0, 2, 0], [0, 1, 3]], dtype=lt.uint8)
    for dim in (None, 0, (0, 1)):
        got, want = ask(x, dim), ask(x.to(lt.bool), dim)
        assert got.dtype is lt.uint8 and want.dtype is lt.bool
        assert got.tolist() == want.to(lt.uint8).tolist()
    assert ask(x[:, :0], 1).tolist() == [name == "all"] * 2
    assert lt.trace(ask)(x).tolist() == ask(x).tolist()
    assert ask(x.to(lt.int8)).dtype is ask(x.to(lt.uint16)).dtype is lt.bool


def test_truth_of_complex_numbers():
    x = lt.tensor([[0, 1j], [0, 0]], dtype=lt.complex64)
    assert x.any(1).tolist() == [True, False] and x.any().item()
    assert not x.all().item() and x[:1, 1:].all().item()


def test_factors_of_bools_are_bools():
    x = lt.tensor([[True, False, False], [False, True, False]])
    row, column = lt.tensor([True, False]), lt.tensor([True, False, True])
    for beta, alpha in ((1, 1), (2, 3), (0.5, 0.5), (0, 2), (True, False), (0, 0)):
        got = lt.addr(x, row, column, beta=beta, alpha=alpha)
        want = (x.numpy() & bool(beta)) | (np.outer(row.numpy(), column.numpy()) & bool(alpha))
        assert got.dtype is lt.bool
        assert got.tolist() == want.tolist()


def test_means_of_windows_of_integers():
    x = lt.arange(-8, 16).reshape(1, 1, 4, 6)
    pool = lt.nn.functional.avg_pool2d
    for dtype in (lt.int64, lt.int32, lt.int8):
        got = pool(x.to(dtype), 3, 2, 1)
        assert got.dtype is dtype
        assert got.flatten().tolist() == [-2, -2, 0, 3, 6, 8]
        assert pool(x.to(dtype), 2).flatten().tolist() == [-4, -2, 0, 7, 9, 11]
    more = pool(x, 3, 2, 1, count_include_pad=False)
    assert more.flatten().tolist() == [-4, -3, -1, 4, 6, 8]
    assert pool(x, 2, divisor_override=3).flatten().tolist() == [-6, -3, 0, 10, 12, 15]
    assert pool(lt.full((1, 2, 2), 255, dtype=lt.uint8), 2).tolist() == [[[255]]]
    for refused in (
        lambda: pool(x > 0, 2),
        lambda: lt.nn.functional.adaptive_avg_pool3d(x, 2),
        lambda: lt.nn.functional.adaptive_avg_pool1d(x[0], 2),
    ):
        with pytest.raises(lt.DTypeError):
            refused()


def test_signs_of_zeros():
    zeros = lt.tensor([-0.0, 0.0])
    assert not lt.signbit(lt.sign(zeros)).any().item()
    turned = lt.view_as_real(lt.sgn(lt.complex(zeros, -zeros)))
    assert not lt.signbit(turned).any().item()
    for dtype in (lt.float32, lt.float64):
        x = lt.tensor([-0.0, 0.0, 4.0, -4.0], dtype=dtype)
        for y in (2.0, -2.0):
            got = x % y
            want = np.remainder(x.numpy(), np.full(4, y, x.numpy().dtype))
            assert got.tolist() == want.tolist()
            assert lt.signbit(got).tolist() == np.signbit(want).tolist()


def test_masked_running_sums_stay_in_their_dtype():
    x, mask = lt.tensor([100, 100, 100]), lt.tensor([True, False, True])
    for dtype, total in ((lt.int8, -56), (lt.uint8, 200), (lt.int32, 200), (lt.int64, 200)):
        got = lt.masked.cumsum(x.to(dtype), 0, mask=mask)
        assert got.dtype is lt.masked.cumprod(x.to(dtype), 0, mask=mask).dtype is dtype
        assert got.tolist() == lt.tensor([100, 100, total]).tolist()
    assert lt.masked.cumsum(x, 0, dtype=lt.int32, mask=mask).dtype is lt.int32
    assert lt.masked.sum(x.to(lt.int8), 0, mask=mask).dtype is lt.int64
