"""Losses and activations in float32 against float64: what cancels on the way has wrong digits."""

import itertools

import numpy as np
import pytest
from compare import same

import lathe as lt
import lathe.nn.functional as F
from lathe import nn

INF, NAN = float("inf"), float("nan")
MAGNITUDES = [0.0, 1e-30, 1e-10, 1e-5, *np.geomspace(1e-3, 80, 40), 1e5, 1e10, 1e30]
GRID = np.array([s * m for m in MAGNITUDES for s in (1, -1)], np.float32)
TARGETS = np.array([0.0, 1e-6, 0.25, 0.5, 1.0], np.float32)

LOGITS = F.binary_cross_entropy_with_logits


def pairs(x, t):
    return (lt.tensor(a) for a in np.array(list(itertools.product(x, t)), np.float32).T.copy())


# ── elementwise, one operand ────────────────────────────────────────────────────────────────────

# Units in the last place that the result may be off.
ACTIVATIONS = {
    "sigmoid": (lt.sigmoid, 4),
    "log of sigmoid": (lambda x: -F.softplus(-x), 4),
    "softplus": (F.softplus, 4),
    "silu": (F.silu, 5),
    "tanh": (lt.tanh, 6),
    "relu": (F.relu, 0),
    "leaky_relu": (F.leaky_relu, 1),
    "expm1": (lt.expm1, 3),
    "asinh": (lt.asinh, 3),
    "sinh": (lt.sinh, 4),
    "erfc": (lt.erfc, 5),
}
# By their own formula these are near -x * 0 below about -3: their error is one of the whole range.
TAILS = {"gelu": F.gelu, "gelu tanh": lambda x: F.gelu(x, approximate="tanh")}


def units(got, exact):
    exact = exact.numpy()
    with np.errstate(over="ignore"):
        nearest = exact.astype(np.float32)
    finite = np.isfinite(nearest)
    assert np.array_equal(got.numpy()[~finite], nearest[~finite], equal_nan=True)
    error = np.abs(got.numpy()[finite].astype(np.float64) - exact[finite])
    return (error / np.spacing(np.abs(nearest[finite]))).max()


@pytest.mark.parametrize(("f", "bound"), ACTIVATIONS.values(), ids=ACTIVATIONS.keys())
def test_activations_keep_their_digits(f, bound):
    x = lt.tensor(GRID)
    got = f(x)
    assert units(got, f(x.to(lt.float64))) <= bound
    assert same(lt.trace(lambda x: f(x))(x), got)


@pytest.mark.parametrize("f", TAILS.values(), ids=TAILS.keys())
def test_gelu_keeps_the_digits_that_its_argument_has(f):
    x = lt.tensor(GRID)
    np.testing.assert_allclose(f(x).numpy(), f(x.to(lt.float64)).numpy(), rtol=1e-6, atol=4e-7 * 4)


# ── losses ──────────────────────────────────────────────────────────────────────────────────────

LOSSES = {
    "logits": lambda x, t: LOGITS(x, t, reduction="none"),
    "logits, weighted": lambda x, t: LOGITS(
        x, t, reduction="none", pos_weight=lt.tensor([3.0], dtype=x.dtype)
    ),
    "squared": lambda x, t: F.mse_loss(x, t, reduction="none"),
    "absolute": lambda x, t: F.l1_loss(x, t, reduction="none"),
}


@pytest.mark.parametrize("f", LOSSES.values(), ids=LOSSES.keys())
def test_losses_keep_their_digits(f):
    x, t = pairs(GRID, TARGETS)
    got = f(x, t)
    # 1 - t and p t are rounded: their errors are as large as one of the result.
    assert units(got, f(x.to(lt.float64), t.to(lt.float64))) <= 6
    assert same(lt.trace(lambda x, t: f(x, t))(x, t), got)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_of_logits_has_its_digits_in_the_gradient(weighted):
    def step(x, t, w):
        xs = [v.detach().requires_grad_() for v in (x, t, w)]
        y = LOGITS(xs[0], xs[1], reduction="sum", pos_weight=xs[2] if weighted else None)
        return lt.autograd.grad(y, xs[: 3 if weighted else 2])

    x, t = pairs(GRID[np.abs(GRID) < 90], [0.0, 1.0])
    args = [x, t, lt.full(x.shape, 3.0)]
    got = step(*args)
    exact = step(*(a.to(lt.float64) for a in args))
    for i, (g, e) in enumerate(zip(got, exact, strict=True)):
        # By the target it is p softplus(-x) - softplus(x), which has a zero.
        atol = 4e-7 if weighted and i == 1 else 1e-44
        np.testing.assert_allclose(g.numpy(), e.numpy(), rtol=1e-6, atol=atol)
    assert all(same(a, b) for a, b in zip(lt.trace(lambda *a: step(*a))(*args), got, strict=True))


def test_the_loss_of_large_logits():
    x = lt.tensor([10.0, 12.0, 15.0])
    wanted = [4.5398899e-05, 6.1441935e-06, 3.0590232e-07]
    for got in (
        LOGITS(x, lt.ones(3), reduction="none"),
        LOGITS(-x, lt.zeros(3), reduction="none"),
        nn.BCEWithLogitsLoss(reduction="none")(x, lt.ones(3)),
        LOGITS(x, lt.ones(3), reduction="none", pos_weight=lt.tensor(1.0)),
    ):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-6)


def test_the_loss_of_infinite_logits():
    x, t = lt.tensor([INF, -INF, INF, -INF, INF, NAN]), lt.tensor([0.0, 1.0, 1.0, 0.0, 0.5, 0.0])
    for p in (None, lt.tensor(2.0)):
        got = LOGITS(x, t, reduction="none", pos_weight=p).tolist()
        assert got[:5] == [INF, INF, 0, 0, INF] and got[5] != got[5]
    x = x[:4].requires_grad_()
    (g,) = lt.autograd.grad(LOGITS(x, t[:4], reduction="sum"), [x])
    assert g.tolist() == [1, -1, 0, 0]
