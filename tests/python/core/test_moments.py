"""Variances and norms of values that are far from 0, beside NumPy's in float64 (and from the
differences of the elements, which are exact, where the values themselves are not)."""

import numpy as np
import pytest

import lathe as lt

SHIFTS = [0.0, 1.0, 1e4, -3e6]


def far(shape, shift, spread, dtype=np.float32, seed=0):
    """Values about `shift` as the dtype has them, and the same in float64."""
    x = (np.random.default_rng(seed).standard_normal(shape) * spread + shift).astype(dtype)
    return lt.tensor(x), x.astype(np.float64)


def spread_of(shift):
    return max(1e-3, abs(shift) * 3e-7)


def nearly(got, want, within):
    got = np.asarray(got.detach().numpy(), dtype=np.float64)
    assert got.shape == want.shape
    worst = np.max(np.abs(got - want)) / max(np.max(np.abs(want)), 1e-30)
    assert worst <= within, f"{worst:.3g}"


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("shape, dim", [((5, 1000), 1), ((1000, 7), 0), ((3, 40, 50), None)])
def test_variance_has_the_digits_of_the_spread(shift, shape, dim):
    x, x64 = far(shape, shift, spread_of(shift))
    nearly(lt.var(x, dim), np.var(x64, axis=dim, ddof=1), 1e-5)
    nearly(lt.std(x, dim), np.std(x64, axis=dim, ddof=1), 1e-5)
    nearly(lt.var_mean(x, dim)[0], np.var(x64, axis=dim, ddof=1), 1e-5)


@pytest.mark.parametrize("count", [1, 2, 3, 600, 1000, 4097])
@pytest.mark.parametrize("value", [10000.1, -0.3, 1e-20, 3e30])
def test_equal_values_have_no_spread(count, value):
    x = lt.full((2, count), value)
    assert lt.var(x, 1, correction=0).tolist() == [0.0, 0.0]
    assert not lt.nn.functional.layer_norm(x, (count,)).any()


def normalised(x64, axes, eps=1e-5):
    mean = x64.mean(axis=axes, keepdims=True)
    return (x64 - mean) / np.sqrt(x64.var(axis=axes, keepdims=True) + eps)


@pytest.mark.parametrize("shift", SHIFTS)
def test_norms_have_the_digits_of_the_spread(shift):
    f = lt.nn.functional
    x, x64 = far((4, 6, 9, 11), shift, max(0.5, spread_of(shift)))
    nearly(f.layer_norm(x, (9, 11)), normalised(x64, (2, 3)), 1e-5)
    nearly(f.batch_norm(x, None, None, training=True), normalised(x64, (0, 2, 3)), 1e-5)
    nearly(f.instance_norm(x), normalised(x64, (2, 3)), 1e-5)
    grouped = normalised(x64.reshape(4, 2, -1), (2,)).reshape(x64.shape)
    nearly(f.group_norm(x, 2), grouped, 1e-5)


@pytest.mark.parametrize("shift", SHIFTS)
def test_traced_and_with_gradients(shift):
    f = lt.nn.functional
    x, x64 = far((6, 300), shift, max(0.5, spread_of(shift)), seed=1)
    dy = np.random.default_rng(2).standard_normal(x64.shape).astype(np.float32)

    def loss(x):
        return (f.layer_norm(x, (300,)) * lt.tensor(dy)).sum()

    gradients = []
    for run in (loss, lt.trace(loss)):
        leaf = x.clone().requires_grad_()
        run(leaf).backward()
        gradients.append(leaf.grad)
    assert gradients[0].numpy().tobytes() == gradients[1].numpy().tobytes()
    y = normalised(x64, (1,))
    scale = 1 / np.sqrt(x64.var(axis=1, keepdims=True) + 1e-5)
    g = dy.astype(np.float64)
    want = scale * (g - g.mean(1, keepdims=True) - y * (g * y).mean(1, keepdims=True))
    nearly(gradients[0], want, 2e-5)


@pytest.mark.parametrize("shift", SHIFTS)
def test_covariances_and_masked_variances(shift):
    x, x64 = far((3, 500), shift, spread_of(shift), seed=3)
    nearly(lt.cov(x), np.cov(x64), 1e-4)
    often = np.random.default_rng(4).integers(1, 4, 500)
    nearly(lt.cov(x, fweights=lt.tensor(often)), np.cov(x64, fweights=often), 1e-4)
    mask = np.random.default_rng(5).random((3, 500)) < 0.7
    want = np.array([row[kept].var(ddof=1) for row, kept in zip(x64, mask, strict=True)])
    nearly(lt.masked.var(x, 1, mask=lt.tensor(mask)), want, 1e-4)


def test_of_complex_numbers_and_half_precision():
    rng = np.random.default_rng(6)
    z = ((rng.standard_normal(800) + 1j * rng.standard_normal(800)) * 0.01 + (5e3 - 7e3j)).astype(
        np.complex64
    )
    nearly(lt.var(lt.tensor(z)), np.var(z.astype(np.complex128), ddof=1), 1e-4)
    x, x64 = far((700,), 2000.0, 4.0, np.float16, seed=7)
    nearly(lt.var(x), np.var(x64, ddof=1), 2e-3)
