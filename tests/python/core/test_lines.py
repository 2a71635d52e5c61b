"""What goes along the lines of an axis: running extrema, ranks, scans, rolls, windows, sums."""

import numpy as np
import pytest

import lathe as lt
import lathe.nn.functional as F

NAN = float("nan")


@pytest.fixture(params=[1, 4])
def threads(request):
    before = lt.get_num_threads()
    lt.set_num_threads(request.param)
    yield
    lt.set_num_threads(before)


@pytest.fixture(params=["portable", "auto"])
def isa(request):
    before = lt.get_flag("isa")
    lt.set_flag("isa", before if request.param == "auto" else request.param)
    yield
    lt.set_flag("isa", before)


def few_values(shape, dtype, seed=0):
    """Many equal elements; zeros of both signs and, of floats, a NaN here and there."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, shape).astype("float32")
    x[x == 0] *= rng.choice([-1, 1], (x == 0).sum())
    if dtype in (lt.float32, lt.float64, lt.bfloat16):
        x[rng.random(shape) < 0.01] = NAN
    else:
        x = x.astype("int64")
    return lt.tensor(x if dtype is not lt.uint8 else abs(x)).to(dtype)


def last_extremum(x, largest):
    """The places along the last axis."""
    at = np.zeros(x.shape, int)
    best, place = x[..., 0].copy(), np.zeros(x.shape[:-1], int)
    for i in range(x.shape[-1]):
        v = x[..., i]
        take = (v >= best if largest else v <= best) | np.isnan(v)
        best, place = np.where(take, v, best), np.where(take, i, place)
        at[..., i] = place
    return at


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(
    "dtype", [lt.float32, lt.float64, lt.bfloat16, lt.int64, lt.int32, lt.int16, lt.uint8, lt.bool]
)
def test_places_of_running_extrema(dtype):
    for shape in ((1, 1), (3, 700), (700, 3), (40, 600), (600, 40), (2, 50, 70), (0, 4)):
        x = few_values(shape, dtype)
        for given in (x, x.transpose(0, -1).contiguous().transpose(0, -1)):
            for dim in range(len(shape)):
                moved = np.moveaxis(x.to(lt.float64).numpy(), dim, -1)
                for op, largest in ((lt.cummax, True), (lt.cummin, False)):
                    values, at = op(given, dim)
                    want = last_extremum(moved, largest) if x.numel() else moved
                    np.testing.assert_array_equal(np.moveaxis(at.numpy(), dim, -1), want)
                    assert lt.equal(values.nan_to_num(9), lt.gather(x, dim, at).nan_to_num(9))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(
    "dtype", [lt.float32, lt.float64, lt.bfloat16, lt.int64, lt.int32, lt.int16, lt.uint8, lt.bool]
)
def test_ranks_are_those_of_a_sort(dtype):
    for shape in ((1, 1), (3, 127), (3, 129), (500, 7), (2, 40, 90), (2, 5000)):
        x = few_values(shape, dtype)
        wide = lt.randn(*shape).mul(1000).to(dtype)
        for given in (x, wide, x.transpose(0, -1).contiguous().transpose(0, -1)):
            for dim in range(len(shape)):
                values, order = given.sort(dim)
                n = shape[dim]
                for k in {1, n // 3 + 1, n}:
                    got = given.kthvalue(k, dim)
                    assert lt.equal(got.indices, order.select(dim, k - 1))
                missing = (values != values).sum(dim, keepdim=True)
                middle = lt.where(missing > 0, n - missing, (n - 1) // 2)
                want = order.gather(dim, middle).squeeze(dim)
                assert lt.equal(given.median(dim).indices, want)
                middle = ((n - missing - 1) // 2).clamp(0)
                want = order.gather(dim, middle).squeeze(dim)
                assert lt.equal(given.nanmedian(dim).indices, want)


def test_ranks_beyond_an_end_count_as_the_end():
    x = lt.tensor([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]])
    at = lt.ops.places_of_ranks(x, lt.tensor([[-4, 0, 1, 9], [0, 1, 2, 3]]))
    assert at.tolist() == [[1, 1, 2, 0], [2, 0, 1, 1]]
    with pytest.raises(lt.ShapeError, match="not those of the lines"):
        lt.ops.places_of_ranks(x, lt.tensor([0]))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("dtype", [lt.float32, lt.bfloat16, lt.int64, lt.int32])
def test_scans_of_what_lies_otherwise(dtype):
    for shape in ((700, 90), (3, 1100), (40, 3, 600)):
        x = lt.randn(*shape).mul(3).to(dtype)
        for given in (x.transpose(0, -1), x.flip([0]), x[..., ::2], x[..., :1].expand(x.shape)):
            for op in (lt.cumsum, lt.cumprod):
                for dim in range(given.dim()):
                    got, want = op(given, dim), op(given.contiguous(), dim)
                    assert lt.equal(got.nan_to_num(1), want.nan_to_num(1)), (shape, dim)
                    back = lt.ops.cumsum(given, dim, reverse=True)
                    assert lt.equal(back, lt.ops.cumsum(given.contiguous(), dim, reverse=True))


@pytest.mark.parametrize("dtype", [lt.float32, lt.complex64, lt.int32])
def test_rolls(dtype):
    a = np.arange(3 * 5 * 7).reshape(3, 5, 7)
    x = lt.tensor(a).to(dtype)
    for shifts, dims in (((2,), (1,)), ((-9,), (2,)), ((1, -1), (0, 2)), ((5,), ()), ((0,), (0,))):
        want = np.roll(a, shifts if dims else shifts[0], dims or None)
        for given in (x, x.transpose(0, 2).contiguous().transpose(0, 2)):
            np.testing.assert_array_equal(lt.roll(given, shifts, dims).to(lt.int64).numpy(), want)
    if dtype is lt.float32:
        x = x.requires_grad_()
        weight = lt.randn(3, 5, 7)
        lt.roll(x, (1, -2), (0, 2)).backward(weight)
        assert lt.equal(x.grad, lt.roll(weight, (-1, 2), (0, 2)))
    assert lt.roll(lt.zeros(0, 3), 1, 0).shape == (0, 3)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.int64, lt.complex64])
def test_windows_are_added_up_place_by_place(dtype):
    for kernel, stride, dilation, pad in (
        ((3, 3), (1, 1), (1, 1), (1, 1)),
        ((2, 3), (2, 1), (1, 2), (0, 2)),
        ((2, 2), (2, 2), (1, 1), (0, 0)),
        ((3, 1), (4, 3), (2, 1), (1, 0)),
    ):
        size = (11, 14)
        count = [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, p, d, k, s in zip(size, pad, dilation, kernel, stride)
        ]
        x = lt.randn(2, 3 * kernel[0] * kernel[1], count[0] * count[1]).mul(9).to(dtype)
        parts = x.numpy().reshape(2, 3, *kernel, *count)
        want = np.zeros((2, 3, size[0] + 2 * pad[0], size[1] + 2 * pad[1]), parts.dtype)
        for i in range(kernel[0]):
            for j in range(kernel[1]):
                rows = slice(i * dilation[0], i * dilation[0] + stride[0] * count[0], stride[0])
                cols = slice(j * dilation[1], j * dilation[1] + stride[1] * count[1], stride[1])
                want[:, :, rows, cols] += parts[:, :, i, j]
        want = want[:, :, pad[0] : pad[0] + size[0], pad[1] : pad[1] + size[1]]
        options = {"dilation": dilation, "padding": pad, "stride": stride}
        got = F.fold(x, size, kernel, **options)
        np.testing.assert_array_equal(got.numpy(), want)
        if dtype in (lt.float32, lt.float64):
            x = x.requires_grad_()
            dy = lt.randn(2, 3, *size, dtype=dtype)
            F.fold(x, size, kernel, **options).backward(dy)
            assert lt.equal(x.grad, F.unfold(dy, kernel, **options))
            y = dy.clone().requires_grad_()
            F.unfold(y, kernel, **options).backward(x.detach())
            assert lt.equal(y.grad + 0.0, F.fold(x.detach(), size, kernel, **options))


@pytest.mark.usefixtures("isa", "threads")
@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16])
def test_reductions_of_halves_have_the_bits_of_the_reference(dtype):
    for shape in ((1,), (37,), (5000,), (1030, 5), (5, 1030), (600, 70), (3, 40, 33)):
        x = lt.randn(*shape).to(dtype)
        x.reshape(-1)[x.numel() // 2] = NAN
        for given in (x, x.transpose(0, -1), x[..., ::3]):
            for dim in range(given.dim()):
                for op in ("sum", "mean", "amax", "amin", "prod"):
                    got = getattr(given, op)(dim)
                    before = lt.get_flag("disabled")
                    lt.set_flag("disabled", "own.reduce")
                    want = getattr(given, op)(dim)
                    lt.set_flag("disabled", before)
                    assert got.nan_to_num(7).tolist() == want.nan_to_num(7).tolist(), (op, shape)


def put_slices(op, x, dim, index, source):
    if op == "sum":
        return x.index_add(dim, index, source)
    return x.index_reduce(dim, index, source, op)


@pytest.mark.usefixtures("isa", "threads")
@pytest.mark.parametrize(
    "dtype", [lt.float32, lt.float16, lt.bfloat16, lt.int32, lt.uint8, lt.bool, lt.complex64]
)
def test_slices_that_meet_do_so_alike_in_any_layout(dtype):
    rng = np.random.default_rng(2)
    ops = ["sum", "prod"] if dtype is lt.complex64 else ["sum", "prod", "amax", "amin"]
    for width in (1, 15, 16, 300, 1500):
        x, source = (lt.randn(5, width).mul(4).to(dtype) for _ in range(2))
        index = lt.tensor(rng.integers(0, 5, 40))
        many = source.index_select(0, lt.tensor(rng.integers(0, 5, 40)))
        for op in ops:
            got = put_slices(op, x, 0, index, many)
            turned = put_slices(op, x.t().contiguous(), 1, index, many.t().contiguous())
            assert lt.equal(got, turned.t()), (op, width)
