"""Derivatives that were wrong, of first and second order: a class of them an item. Expected values
are closed forms in more precision, or PyTorch's."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import samples
from compare import same

import lathe as lt
import lathe.nn.functional as F

INF, NAN = float("inf"), float("nan")


def f64(x):
    return lt.tensor(x, dtype=lt.float64)


def first(f, *xs):
    """The gradients of the sum of f's result, which must have history."""
    xs = [x.detach().requires_grad_() for x in xs]
    y = f(*xs)
    if not y.requires_grad:  # no assert, which pytest rewrites to what a trace refuses
        raise RuntimeError("detached")
    return lt.autograd.grad(y.sum(), xs)


def hessian(f, x):
    x = x.detach().requires_grad_()
    (g,) = lt.autograd.grad(f(x).sum(), [x], create_graph=True)
    if not g.requires_grad:
        return g.detach(), lt.zeros(*x.shape, *x.shape, dtype=x.dtype)
    rows = [lt.autograd.grad(g[i], [x], retain_graph=True)[0] for i in range(x.shape[0])]
    return g.detach(), lt.stack(rows)


def in_all_modes(f, *xs):
    """f's results, eager and with all of it in a trace, which have to be the same bits."""
    eager, traced = f(*xs), lt.trace(lambda *xs: f(*xs))(*xs)
    assert all(same(a, b) for a, b in zip(eager, traced, strict=True))
    return eager


def units(got, exact):
    """How far `got` is from the exact numbers, in units in the last place."""
    got, exact = np.asarray(got), np.asarray(exact, np.longdouble)
    with np.errstate(over="ignore"):
        nearest = exact.astype(got.dtype)
    assert (np.isfinite(nearest) == np.isfinite(got)).all(), (got, exact)
    beyond = ~np.isfinite(nearest)
    assert np.array_equal(got[beyond], nearest[beyond], equal_nan=True), (got, exact)
    error = np.abs(got[~beyond] - exact[~beyond])
    return (error / np.spacing(np.abs(nearest[~beyond]))).astype(float)


# ── norms ───────────────────────────────────────────────────────────────────────────────────────

NORMS = [1, 2, 3, 4, 2.5, INF, 0.5]


def norm_hessian(x, p):
    """Of |x|_p, where x_i of 0 have no part for p < 2 (where the derivative is taken as 0)."""
    if p in (1, INF):
        return np.zeros((len(x), len(x)))
    n = (np.abs(x) ** p).sum() ** (1 / p)
    with np.errstate(divide="ignore"):
        g = np.sign(x) * np.where(x == 0, 0, np.abs(x) ** (p - 1)) / n ** (p - 1)
        curve = np.abs(x) ** (p - 2)
    curve = np.where((x == 0) & (p != 2), 0, curve)
    return (p - 1) / n * (np.diag(curve / n ** (p - 2)) - np.outer(g, g))


@pytest.mark.parametrize("x", [[3.0, 0.0, 4.0], [1.0, -2.0, 0.5], [0.0, 2.0]], ids=str)
@pytest.mark.parametrize("p", NORMS)
def test_norms_have_their_second_derivative_beside_zeros(p, x):
    _, h = in_all_modes(lambda x: hessian(lambda x: lt.norm(x, p), x), f64(x))
    np.testing.assert_allclose(h.numpy(), norm_hessian(np.array(x), p), rtol=1e-12, atol=1e-15)


def test_normalize_has_its_second_derivative_beside_zeros():
    weights, x = f64([1.0, 2.0, 3.0]), np.array([3.0, 0.0, 4.0])
    f = lambda x: (F.normalize(x, dim=0) * weights).sum()  # noqa: E731
    _, h = in_all_modes(lambda x: hessian(f, x), f64(x))
    wanted = [[-0.0384, -0.048, 0.0688], [-0.048, -0.12, -0.064], [0.0688, -0.064, -0.0816]]
    np.testing.assert_allclose(h.numpy(), wanted, rtol=1e-12)


def test_the_norm_of_complex_numbers_has_its_second_derivative_beside_zeros():
    def f(x):
        return lt.norm(lt.complex(x, x * 0.0))

    g, h = hessian(f, lt.tensor([3.0, 0.0, 4.0]))
    np.testing.assert_allclose(g.numpy(), [0.6, 0, 0.8], rtol=1e-6)
    np.testing.assert_allclose(h.numpy(), norm_hessian(np.array([3.0, 0, 4.0]), 2), atol=1e-6)
