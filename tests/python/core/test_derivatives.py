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


# ── powers ──────────────────────────────────────────────────────────────────────────────────────

RANGES = {
    lt.float32: [0.0, -0.0, INF, 1e-45, 1e-40, 1e-38, *(10.0**e for e in range(-37, 39)), 3e38],
    lt.float64: [0.0, -0.0, INF, 5e-324, 1e-310, 1e-308, *(10.0**e for e in range(-307, 309, 3))],
}


def slope_of_power(x, p):
    """p x^(p - 1), in 64 bits of precision and their range, with C's values at 0 and inf."""
    with np.errstate(all="ignore"):
        return np.longdouble(p) * np.power(np.longdouble(x), np.longdouble(p) - 1)


@pytest.mark.parametrize("dtype", RANGES)
@pytest.mark.parametrize("p", [1, 2, 3, 0.5, -0.5, -1, -2])
def test_powers_by_numbers_have_their_gradient_over_the_whole_range(p, dtype):
    x = lt.tensor(RANGES[dtype], dtype=dtype)
    if p != int(p):
        x = x[x.numpy().tolist().index(-0.0) + 2 :]  # the root of -0 is -0: as PyTorch
    (g,) = in_all_modes(lambda x: first(lambda x: x**p, x), x)
    exact = [slope_of_power(v, p) for v in x.tolist()]
    assert units(g.numpy(), exact).max() <= 2
    if p == int(p):
        (g,) = first(lambda x: x**p, -x)
        exact = [slope_of_power(-v, p) for v in x.tolist()]
        assert units(g.numpy(), exact).max() <= 2


def test_the_roots_have_the_gradient_of_pytorch_at_zero():
    zeros = [0.0, -0.0]
    assert first(lambda x: x**0.5, lt.tensor(zeros))[0].tolist() == [INF, -INF]
    assert first(lambda x: x**-0.5, lt.tensor(zeros))[0].tolist() == [-INF, -INF]


def test_a_power_of_zero_is_flat_to_second_order():
    for x in ([0.0, 1.0, -1.0], [INF, -INF, 1e-45]):
        g, h = in_all_modes(lambda x: hessian(lambda x: x**0, x), lt.tensor(x))
        assert g.tolist() == [0, 0, 0] and not h.numpy().any()
    x, y = (lt.tensor(v, requires_grad=True) for v in ([0.0, 0.0, 2.0], [0.0, 2.0, 0.0]))
    gx, gy = lt.autograd.grad((x**y).sum(), [x, y], create_graph=True)
    np.testing.assert_allclose(gy.detach().numpy(), [0, 0, math.log(2)], rtol=1e-6)
    for h in lt.autograd.grad(gx.sum() + gy.sum(), [x, y]):
        assert np.isfinite(h.numpy()).all()


SQUARED = {  # whose derivatives square an argument: the derivative, in more precision
    "asinh": (lt.asinh, lambda x: 1 / np.sqrt(x * x + 1), [0.0, 1e-30, 0.5, 3.0, 1e9, 2e9, 1e25]),
    "acosh": (lt.acosh, lambda x: 1 / np.sqrt((x - 1) * (x + 1)), [1.5, 1e9, 2e9, 1e25, 3e38]),
    "atan2 over 1": (lambda x: lt.atan2(x, x), lambda x: x * 0, [1e-30, 1e-20, 1.0, 1e30]),
}


@pytest.mark.parametrize(("f", "slope", "x"), SQUARED.values(), ids=SQUARED.keys())
def test_derivatives_do_not_leave_the_range_by_way_of_squares(f, slope, x):
    (g,) = in_all_modes(lambda x: first(f, x), lt.tensor(x))
    exact = slope(lt.tensor(x).numpy().astype(np.longdouble))
    np.testing.assert_allclose(g.numpy().astype(np.longdouble), exact, rtol=1e-6)
    if min(x) == 0 or min(x) > 1:  # else the second derivative is beyond the largest float
        _, h = hessian(f, lt.tensor(x))
        assert np.isfinite(h.numpy()).all()


def test_atan2_has_its_gradient_over_the_whole_range():
    scale = [1e-37, 1e-25, 1e-10, 1.0, 1e10, 1e18, 1e37]
    a, b = (lt.tensor(v) for v in zip(*itertools.product(scale, scale), strict=True))
    got = in_all_modes(lambda a, b: first(lt.atan2, a, b), a, b)
    wide = [t.numpy().astype(np.longdouble) for t in (a, b)]
    square = wide[0] ** 2 + wide[1] ** 2
    assert units(got[0].numpy(), wide[1] / square).max() <= 4
    assert units(got[1].numpy(), -wide[0] / square).max() <= 4


# ── what is flat between jumps ──────────────────────────────────────────────────────────────────

FLAT = {
    **{f.__name__: f for f in (lt.floor, lt.ceil, lt.trunc, lt.round, lt.sign)},
    "round to decimals": lambda x: lt.round(x, decimals=2),
    "trunc": lambda x: lt.div(x, lt.tensor([0.0, 1.0, -2.0]), rounding_mode="trunc"),
    "floor": lambda x: lt.div(x, lt.tensor([0.0, 1.0, -2.0]), rounding_mode="floor"),
    "by a number": lambda x: lt.div(x, 0.0, rounding_mode="trunc"),
    "of a number": lambda x: lt.div(1.0, x, rounding_mode="floor"),
    "in place": lambda x: x.clone().div_(lt.tensor([0.0, 1.0, 2.0]), rounding_mode="floor"),
}


@pytest.mark.parametrize("x", [[1.5, 2.5, -3.0], [0.0, -0.0, INF]], ids=str)
@pytest.mark.parametrize("f", FLAT.values(), ids=FLAT.keys())
def test_steps_have_a_gradient_of_zeros(f, x):
    (g,) = in_all_modes(lambda x: first(f, x), lt.tensor(x))
    assert g.tolist() == [0, 0, 0]


@pytest.mark.parametrize("mode", ["trunc", "floor"])
def test_a_rounded_quotient_is_flat_in_its_divisor(mode):
    x, y = lt.tensor([[1.0], [2.0]]), lt.tensor([0.0, 3.0, -4.0])
    gx, gy = in_all_modes(lambda x, y: first(lambda x, y: lt.div(x, y, rounding_mode=mode), x, y),
                          x, y)  # fmt: skip
    assert gx.tolist() == [[0], [0]] and gy.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [lt.int8, lt.int16, lt.int32, lt.int64])
def test_quotients_of_integers_towards_zero(dtype):
    top = 2 ** (8 * dtype.itemsize - 1) - 1
    pairs = list(itertools.product((-top - 1, -top, -7, -1, 0, 1, 7, top), (-top, -3, 1, 3, top)))
    xs, ys = (lt.tensor(v, dtype=dtype) for v in zip(*pairs, strict=True))
    wanted = [math.trunc(Fraction(x, y)) for x, y in pairs]
    assert lt.div(xs, ys, rounding_mode="trunc").tolist() == wanted
    with pytest.raises(lt.ValueError, match="division by zero"):
        lt.div(xs, lt.tensor(0, dtype=dtype), rounding_mode="trunc")
    assert lt.div(lt.tensor(7, dtype=lt.uint8), 2, rounding_mode="trunc").item() == 3


# ── operands of two dtypes ──────────────────────────────────────────────────────────────────────


def floats_of(sample):
    """Places of the float tensors among the positional arguments, whose dtypes may differ."""
    return [i for i, text in enumerate(sample.positional) if re.match(r"[fpgua]\[", text)]


def differentiable(sample):
    if not hasattr(lt.ops, sample.op) or len(floats_of(sample)) < 2:
        return False
    args, named = samples.tensors(sample, "float64")
    for i in floats_of(sample):
        args[i].requires_grad_()
    try:
        y = getattr(lt.ops, sample.op)(*args, **named)
        if isinstance(y, tuple):  # one result is followed
            return False
        lt.autograd.grad(y.sum(), [args[i] for i in floats_of(sample)])
    except (lt.DTypeError, lt.AutogradError, lt.UnsupportedError):  # not f64; a part without one
        return False
    return True


@pytest.mark.parametrize("sample", [s for s in samples.SAMPLES if differentiable(s)], ids=str)
def test_operands_of_two_dtypes_have_the_gradient_of_the_wider(sample):
    op, places = getattr(lt.ops, sample.op), floats_of(sample)
    args, named = samples.tensors(sample)  # the same numbers in both dtypes

    def run(*xs):
        full = list(args)
        for i, x in zip(places, xs, strict=True):
            full[i] = x
        return op(*full, **named)

    xs = [args[i] for i in places]
    wide = first(run, *(x.to(lt.float64) for x in xs))
    for narrow in range(len(xs)):
        mixed = [x if i == narrow else x.to(lt.float64) for i, x in enumerate(xs)]
        try:
            value = run(*mixed)
        except (lt.DTypeError, lt.ShapeError):  # of one dtype only
            continue
        exact = run(*(x.to(lt.float64) for x in xs))
        if not np.allclose(value.numpy(), exact.numpy(), rtol=1e-13, atol=1e-15):
            continue  # a composite whose first parts see the narrow operand alone, as batch_norm
        got = first(run, *mixed)
        for g, w, x in zip(got, wide, mixed, strict=True):
            assert g.dtype is x.dtype
            rtol = 1e-7 if g.dtype is lt.float32 else 1e-13
            atol = rtol * np.abs(w.numpy()).max(initial=0)  # what parts in f32 round away
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=rtol, atol=atol)


def test_an_exponent_of_integers_meets_the_base_in_floats():
    for dtype in (lt.int8, lt.int64):
        y = lt.tensor([-128, 3], dtype=dtype)
        (g,) = first(lambda x, y=y: x**y, lt.tensor([1.5, 2.0]))
        np.testing.assert_allclose(g.numpy(), [-128 * 1.5**-129, 12.0], rtol=1e-6)


def test_pow_takes_the_logarithm_in_the_dtype_of_the_result():
    x, y = lt.tensor([2.7]), f64([3.7]).requires_grad_()
    (g,) = lt.autograd.grad((x**y).sum(), [y])
    base = float(x.item())
    assert abs(g.item() / (base**3.7 * math.log(base)) - 1) < 1e-15


# ── attention that sees nothing ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_attention_that_sees_no_key_is_zero(kind):
    rng = np.random.default_rng(3)
    q, k, v = (lt.tensor(rng.standard_normal((2, 3, 4)), dtype=lt.float32) for _ in range(3))
    seen = np.array([[True, False, True], [False, False, False], [True, True, True]])
    mask = lt.tensor(seen) if kind == "bool" else lt.tensor(np.where(seen, 0.0, -INF).astype("f"))

    def run(q, k, v):
        xs = [t.detach().requires_grad_() for t in (q, k, v)]
        y = F.scaled_dot_product_attention(*xs, mask)
        return [y.detach(), *lt.autograd.grad((y * y).sum(), xs)]

    y, *grads = in_all_modes(run, q, k, v)
    assert not y[:, 1].numpy().any() and not grads[0][:, 1].numpy().any()
    assert all(np.isfinite(t.numpy()).all() for t in grads)
    scores = q.numpy() @ k.numpy().swapaxes(1, 2) / 2 + np.where(seen, 0, -INF)
    e = np.exp(scores - np.where(seen.any(1), scores.max(-1), 0)[..., None])
    weights = e / np.maximum(e.sum(-1, keepdims=True), 1e-30)
    np.testing.assert_allclose(y.numpy(), weights @ v.numpy(), rtol=1e-4, atol=1e-6)
    whole = F.scaled_dot_product_attention(q, k, v, lt.ones(3, 3, dtype=lt.bool))
    assert same(whole, F.scaled_dot_product_attention(q, k, v))


# ── elements that several places name ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", ["scatter_reduce", "index_reduce"])
def test_second_derivatives_of_products_at_a_zero(way):
    """d2(x0 * s0 * s1) / dx0 ds1 = s0, also where s1 is 0 and the first derivatives are."""
    x = lt.tensor([2.0], dtype=lt.float64, requires_grad=True)
    s = lt.tensor([3.0, 0.0], dtype=lt.float64, requires_grad=True)
    y = getattr(lt, way)(x, 0, lt.tensor([0, 0]), s, "prod")
    once = lt.autograd.grad(y.sum(), [x, s], create_graph=True)
    assert [t.tolist() for t in once] == [[0], [0, 6]]
    (of_x,) = lt.autograd.grad(once[0].sum(), s, retain_graph=True)
    assert of_x.tolist() == [0, 3]
    twice = lt.autograd.grad(once[1].sum(), [x, s])
    assert [t.tolist() for t in twice] == [[3], [2, 2]]


def test_second_derivatives_of_logcumsumexp_of_large_numbers():
    x = lt.full((4,), 1e4, dtype=lt.float64, requires_grad=True)
    (once,) = lt.autograd.grad(lt.logcumsumexp(x, 0)[-1], x, create_graph=True)
    np.testing.assert_allclose(once.detach().numpy(), 0.25, rtol=1e-9)
    (twice,) = lt.autograd.grad(once[0], x)
    np.testing.assert_allclose(twice.numpy(), [0.1875, -0.0625, -0.0625, -0.0625], rtol=1e-9)


def test_weights_of_a_covariance_keep_their_derivative():
    x = lt.tensor([[1.0, 2.0, 4.0]], dtype=lt.float64)
    w = lt.tensor([1.0, 2.0, 3.0], dtype=lt.float64, requires_grad=True)
    (gradient,) = lt.autograd.grad(lt.cov(x, aweights=w), w)
    step = 1e-6
    for i in range(3):
        more, less = (lt.cov(x, aweights=w.detach() + h * lt.eye(3, dtype=lt.float64)[i]).item()
                      for h in (step, -step))  # fmt: skip
        assert abs((more - less) / (2 * step) - gradient[i].item()) < 1e-6


def test_a_tensor_written_into_itself_keeps_its_history():
    x = f64([1.0, 2.0]).requires_grad_()
    y = x * 3
    assert y.copy_(y) is y and lt.positive(y).copy_(y).requires_grad
    assert lt.autograd.grad(y.sum(), x)[0].tolist() == [3, 3]
