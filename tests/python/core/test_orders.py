"""Statistics, orders and sets where values are equal, missing or not numbers."""

import numpy as np
import pytest

import lathe as lt

NAN = float("nan")


def test_ties_and_nans_have_one_answer():
    x = lt.tensor([[2, 1, 1, 2, 0], [3, 3, 1, 0, 3]])
    assert [t.tolist() for t in x.mode()] == [[1, 3], [2, 4]]
    assert [t.tolist() for t in lt.tensor([NAN, 1.0, NAN]).mode()][1] == 2
    y = lt.tensor([1.0, 3.0, 3.0, NAN, 2.0, NAN])
    values, at = y.cummax(0)
    np.testing.assert_array_equal(values.numpy(), [1, 3, 3, NAN, NAN, NAN])
    assert at.tolist() == [0, 1, 2, 3, 3, 5]
    assert y.cummin(0).indices.tolist() == [0, 0, 0, 3, 3, 5]
    assert np.isnan(y.median().item()) and y.nanmedian().item() == 2.0
    assert y.median(0).indices.item() == 3
    assert y.nanmean().item() == 2.25 and y.nansum().item() == 9.0
    assert lt.count_nonzero(y).item() == 6


@pytest.mark.parametrize("op", ["median", "nanmedian"])
def test_equal_elements_share_the_gradient_of_a_median_of_all(op):
    x = lt.tensor([[2.0, 1.0, 2.0], [2.0, 5.0, 0.0]], requires_grad=True)
    y = getattr(lt, op)(x)
    assert y.item() == 2.0
    y.backward()
    np.testing.assert_array_equal(
        x.grad.numpy(), np.float32([[1, 0, 1], [1, 0, 0]]) / np.float32(3)
    )
    z = lt.tensor([NAN, 1.0, NAN, 4.0, 1.0], requires_grad=True)
    getattr(lt, op)(z).backward()
    shares = [0.5, 0, 0.5, 0, 0] if op == "median" else [0, 0.5, 0, 0, 0.5]
    np.testing.assert_array_equal(z.grad.numpy(), np.float32(shares))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_first_of_equal_extrema_and_the_first_nan(dtype):
    rng = np.random.default_rng(0)
    for n in [*range(1, 70), 511, 512, 513, 1100]:
        a = rng.integers(-2, 3, (8, n)).astype(dtype) * np.where(rng.random((8, n)) < 0.5, 0.0, -1)
        a[6:, rng.integers(0, n, 2)] = NAN
        for x, dim in ((a, 1), (a.T.copy(), 0)):
            for name in ("argmax", "argmin"):
                got = getattr(lt.tensor(x), name)(dim).numpy()
                np.testing.assert_array_equal(got, getattr(x, name)(dim), f"{name} of {n}")
            values, at = lt.tensor(x).max(dim)
            wanted = np.take_along_axis(x, np.expand_dims(x.argmax(dim), dim), dim).squeeze(dim)
            assert values.numpy().tobytes() == np.ascontiguousarray(wanted).tobytes(), n


def test_long_running_extrema():
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64", "int64", "int32", "int16"):
        x = (rng.standard_normal((3, 5000)) * 1000).astype(dtype)
        for a, dim in ((x, 1), (x.T.copy(), 0), (x[:, ::3], 1)):
            got = lt.tensor(a).cummax(dim)
            np.testing.assert_array_equal(got.values.numpy(), np.maximum.accumulate(a, dim))
            np.testing.assert_array_equal(
                np.take_along_axis(a, got.indices.numpy(), dim), got.values.numpy()
            )


@pytest.mark.parametrize("shape", [(40, 3), (6, 2, 3)])
def test_unique_slices(shape):
    x = np.random.default_rng(0).integers(0, 2, shape)
    for dim in range(len(shape)):
        want = np.unique(x, True, True, True, axis=dim)
        got = lt.unique(lt.tensor(x), return_inverse=True, return_counts=True, dim=dim)
        for a, b in zip(got, (want[0], want[2].reshape(-1), want[3])):
            np.testing.assert_array_equal(a.numpy(), b)


def test_folds_keep_the_order_and_the_dtype():
    x = lt.tensor([-(2**63), 5, 7])
    index = lt.tensor([0, 0, 2])
    source = lt.tensor([-(2**63), -3, 9])
    for include_self, want in ((True, [-3, 5, 9]), (False, [-3, 5, 9])):
        got = x.scatter_reduce(0, index, source, "amax", include_self=include_self)
        assert got.tolist() == want
    mean = lt.tensor([1, 1]).scatter_reduce(0, lt.tensor([0, 0]), lt.tensor([-4, -3]), "mean")
    assert mean.tolist() == [-2, 1] and mean.dtype is lt.int64


def test_products_with_zeros_have_gradients():
    x = lt.tensor([0.0, 2.0, 0.0], requires_grad=True)
    source = lt.tensor([3.0, 0.0, 5.0], requires_grad=True)
    y = x.scatter_reduce(0, lt.tensor([0, 1, 0]), source, "prod")
    y.sum().backward()
    assert x.grad.tolist() == [15, 0, 1] and source.grad.tolist() == [0, 2, 0]


def test_segments():
    x = lt.tensor([1.0, 2.0, 3.0, 4.0])
    lengths = lt.tensor([2, 0, 2])
    assert lt.segment_reduce(x, "sum", lengths=lengths).tolist() == [3, 0, 7]
    assert lt.segment_reduce(x, "max", offsets=lt.tensor([0, 3, 4])).tolist() == [3, 4]
    mean = lt.segment_reduce(x, "mean", lengths=lengths)
    np.testing.assert_array_equal(mean.numpy(), [1.5, NAN, 3.5])
    with pytest.raises(lt.IndexError):
        lt.segment_reduce(x, "sum", lengths=lt.tensor([1, 1]))
    rows = lt.segment_reduce(x.reshape(2, 2), "min", lengths=lt.tensor([[1, 1], [2, 0]]), axis=1)
    assert rows.tolist() == [[1, 2], [3, float("inf")]]


def test_searches_by_row_and_by_sorter():
    x = np.sort(np.random.default_rng(0).standard_normal((3, 7)).astype("float32"))
    v = np.random.default_rng(1).standard_normal((3, 4)).astype("float32")
    want = np.stack([np.searchsorted(a, b) for a, b in zip(x, v)])
    np.testing.assert_array_equal(lt.searchsorted(lt.tensor(x), lt.tensor(v)).numpy(), want)
    order = np.array([2, 0, 1])
    shuffled = lt.tensor([5.0, 9.0, 1.0])
    assert lt.searchsorted(shuffled, 6.0, sorter=lt.tensor(order)).item() == 2


def test_unique_complex_numbers():
    x = np.array([[1 + 1j, 1 - 1j, 1 + 1j], [0, 2j, 0]])
    want = np.unique(x, True, True, True)
    got = lt.unique(lt.tensor(x), return_inverse=True, return_counts=True)
    for a, b in zip(got, (want[0], want[2].reshape(x.shape), want[3])):
        np.testing.assert_array_equal(a.numpy(), b)
    slices = lt.unique(lt.tensor(x), dim=1, return_counts=True)
    np.testing.assert_array_equal(slices[0].numpy(), x[:, [1, 0]])
    assert slices[1].tolist() == [1, 2]
    runs = lt.unique_consecutive(lt.tensor([1j, 1j, 2, 1j]), return_counts=True)
    assert runs[0].tolist() == [1j, 2, 1j] and runs[1].tolist() == [2, 1, 1]


def long_lines(n, dtype):
    """Keys that lie evenly, close to each other, far apart, in clusters, and all on one place."""
    rng = np.random.default_rng(n)
    wide = np.iinfo(dtype).max // 4 if np.issubdtype(dtype, np.integer) else 1e6
    few = rng.integers(0, 5, n)
    clusters = few * (wide // 8) + rng.integers(0, 100, n)
    lines = [rng.random(n) * wide, rng.standard_normal(n) * 10, few, clusters, np.full(n, 3)]
    lines += [np.arange(n) % 120, -(np.arange(n) % 120), np.where(np.arange(n) == 7, wide, few)]
    with np.errstate(invalid="ignore"):
        return np.stack(lines).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32", "int64"])
@pytest.mark.parametrize("n", [511, 512, 700, 5000, 70000])
def test_long_lines_are_sorted_and_equals_keep_their_order(n, dtype):
    x = long_lines(n, np.dtype(dtype))
    values, indices = lt.sort(lt.tensor(x), dim=1, stable=True)
    order = np.argsort(x, axis=1, kind="stable")
    np.testing.assert_array_equal(indices.numpy(), order)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, order, 1))
    falling = lt.argsort(lt.tensor(x), dim=1, descending=True, stable=True)
    backwards = n - 1 - np.argsort(x[:, ::-1], axis=1, kind="stable")[:, ::-1]
    np.testing.assert_array_equal(falling.numpy(), backwards)
