"""Functions of complex numbers against Python's cmath: values, branch cuts, what is not finite."""

import cmath
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import lathe as lt

NAMES = [
    "exp", "log", "log10", "sqrt", "sinh", "cosh", "tanh", "sin", "cos", "tan", "asinh", "acosh",
    "atanh", "asin", "acos", "atan",
]  # fmt: skip
INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 2.5, -0.5, 1000.0, -1000.0, 1e308, -1e308, INF, -INF, NAN]
# Where the standard leaves the sign or NumPy's users are told more than by C.
DIFFERENT = {"acosh": [(0.0, NAN), (-0.0, NAN)], "tanh": [(0.0, NAN), (-0.0, NAN)],
             "tan": [(NAN, 0.0), (NAN, -0.0)]}  # fmt: skip


def parts(z):
    return z.real, z.imag


def expected(name, z):
    try:
        return getattr(cmath, name)(z)
    except (ValueError, OverflowError):
        return None


def same_part(got, want, signed):
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if math.isinf(want):
        return abs(got) == INF and (got == want or not signed)
    if want == 0 and signed:
        return got == 0 and math.copysign(1, got) == math.copysign(1, want)
    return abs(got - want) <= 1e-14 * abs(want) + 1e-322


@pytest.mark.parametrize("name", NAMES)
def test_edges_are_those_of_c(name):
    points = [complex(x, y) for x, y in itertools.product(EDGES, EDGES)]
    got = getattr(lt, name)(lt.tensor(points, dtype=lt.complex128)).tolist()
    wrong = []
    for z, y in zip(points, got):
        want = expected(name, z)
        # Signs beside a NaN are nobody's promise.
        signed = not (math.isnan(z.real) or math.isnan(z.imag) or abs(z.imag) == abs(z.real) == INF)
        told = any(repr(parts(z)) == repr(edge) for edge in DIFFERENT.get(name, []))
        if want is None or told or (name == "exp" and z.real == -INF):
            continue
        if not all(same_part(g, w, signed) for g, w in zip(parts(y), parts(want))):
            wrong.append((z, y, want))
    assert not wrong


@pytest.mark.parametrize("dtype", [lt.complex64, lt.complex128])
@pytest.mark.parametrize("name", NAMES)
def test_both_parts_are_precise(name, dtype):
    rng = np.random.default_rng(7)
    sizes = 10.0 ** rng.uniform(-12, 2, (2, 400)) * rng.choice([-1, 1], (2, 400))
    near = 1 + 10.0 ** rng.uniform(-7, -1, 200) * rng.choice([-1, 1], 200)
    re = np.concatenate([sizes[0], near, rng.standard_normal(200)])
    im = np.concatenate([sizes[1], 10.0 ** rng.uniform(-9, 0, 200), rng.standard_normal(200)])
    z = lt.tensor(re + 1j * im).to(dtype)
    eps = lt.finfo(dtype).eps
    for at, y in zip(z.tolist(), getattr(lt, name)(z).tolist()):
        want = expected(name, at)
        if want is None:
            continue
        for got, part in zip(parts(y), parts(want)):
            if abs(part) > lt.finfo(dtype).max:
                continue
            # cmath itself loses some digits beside the unit circle.
            assert abs(got - part) <= (4 * eps + 3e-14) * abs(part) + 1e-45, (at, y, want)


def test_logarithms_beside_the_unit_circle():
    z = lt.tensor([0.6 + 0.8j], dtype=lt.complex128)
    excess = Fraction(0.6) ** 2 + Fraction(0.8) ** 2 - 1
    assert lt.log(z).real.item() == pytest.approx(float(excess / 2), rel=1e-15)
    # log1p of a number close to 0 on that circle.
    x, y = -1e-6, math.sqrt(2e-6)
    excess = 2 * Fraction(x) + Fraction(x) ** 2 + Fraction(y) ** 2
    near = lt.tensor([complex(x, y)], dtype=lt.complex128)
    assert lt.log1p(near).real.item() == pytest.approx(float(excess) / 2, rel=1e-11)


def test_nothing_overflows_on_the_way():
    def c(x):
        return lt.tensor(x, dtype=lt.complex128)

    assert (c(1e308 + 1e308j) / c(1e308 + 1e308j)).item() == 1
    assert lt.sqrt(c(1e200 + 1e-200j)).imag.item() == pytest.approx(0.5e-300, rel=1e-15)
    assert lt.exp(c(complex(710, math.pi / 2))).real.item() == pytest.approx(
        math.exp(700) * math.cos(math.pi / 2) * math.exp(10), rel=1e-13)  # fmt: skip
    assert lt.asinh(c(1e308 + 1e308j)).real.item() == pytest.approx(
        math.log(2) + math.log(1e308) + math.log(2) / 2, rel=1e-15)  # fmt: skip
    assert lt.atanh(c(1e200 + 1j)).real.item() == pytest.approx(1e-200, rel=1e-15)
    assert lt.reciprocal(c(1e-308j)).item() == pytest.approx(-1e308j)


def test_quotients_follow_annex_g():
    def quotient(a, b):
        x = lt.tensor([a], dtype=lt.complex128) / lt.tensor([b], dtype=lt.complex128)
        y = lt.tensor([a], dtype=lt.complex64) / lt.tensor([b], dtype=lt.complex64)
        assert repr(x.tolist()) == repr(y.tolist())
        return x.item()

    assert quotient(1 + 2j, complex(INF, 0)) == 0
    assert quotient(complex(INF, 0), 1 + 1j) == complex(INF, -INF)
    by_zero = quotient(1 + 1j, 0j)
    assert by_zero == complex(INF, INF)
    assert cmath.isnan(quotient(complex(NAN, NAN), 1 + 1j))
    assert cmath.isnan(quotient(0j, 0j))


def test_numbers_as_operands():
    z = lt.tensor([1 + 2j, -0.5j], dtype=lt.complex128)
    a = z.numpy()
    for ours, theirs in [
        (z / 2, a / 2), (1j / z, 1j / a), (2 / z, 2 / a), (z * 1j, a * 1j), (z**2, a**2),
        (z**2.5, a**2.5), (z**(1 + 1j), a**(1 + 1j)), (2**z, 2**a), (z - 1j, a - 1j),
        (lt.tensor([1.0, 2.0]) / 2j, np.array([1.0, 2.0]) / 2j),
        (lt.tensor([3, 4]) ** 0.5j, np.array([3, 4]) ** 0.5j),
    ]:  # fmt: skip
        assert np.allclose(ours.numpy(), theirs, rtol=1e-6)


FUNCTIONS = {
    **{name: getattr(lt, name) for name in NAMES},
    "expm1": lt.expm1, "exp2": lt.exp2, "log2": lt.log2, "log1p": lt.log1p,
    "sigmoid": lt.sigmoid, "reciprocal": lt.reciprocal, "rsqrt": lt.rsqrt, "sinc": lt.sinc,
    "div": lambda z: z / (z + (2 + 1j)), "pow": lambda z: z**(z * 0.5), "cube": lambda z: z**3,
    "number to a power": lambda z: (-2.0) ** z, "inverse square": lambda z: z**-2,
    "lerp": lambda z: lt.lerp(z, z * 1j, z * 0.1), "prod": lambda z: z.prod(),
    "cumprod": lambda z: z.cumprod(0), "mean": lambda z: z.mean() * z, "var": lambda z: z.var(),
    "std": lambda z: z.std(), "logcumsumexp": lambda z: lt.logcumsumexp(z, 0),
    "logaddexp": lambda z: lt.logaddexp(z, z * 1j), "abs": lt.abs, "angle": lt.angle,
    "silu": lt.nn.functional.silu, "sgn": lt.sgn, "norm": lambda z: lt.linalg.norm(z),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    """The cotangent is dL/dRe + i dL/dIm: of a holomorphic f, dL/dy times the conjugate of f'."""
    f = FUNCTIONS[name]
    start = np.array([0.3 + 0.4j, -0.7 + 1.1j, 1.6 - 0.8j])

    def loss(a):
        y = f(a)
        return (y * (0.7 - 0.2j)).real.sum() if y.is_complex() else (y * 0.7).sum()

    z = lt.tensor(start, requires_grad=True)
    loss(z).backward()
    traced = lt.tensor(start, requires_grad=True)
    lt.trace(loss)(traced).backward()
    assert z.grad.tolist() == traced.grad.tolist()
    for at in range(3):
        slope = 0
        for unit in (1, 1j):
            step = np.zeros_like(start)
            step[at] = unit * 1e-6
            up, down = (loss(lt.tensor(v)).item() for v in (start + step, start - step))
            slope += unit * (up - down) / 2e-6
        assert abs(z.grad[at].item() - slope) < 1e-7 * (1 + abs(slope))


def test_the_slope_of_a_number_to_a_power_has_the_precision_of_the_exponent():
    for base in (0.1, 3.7):
        x = lt.tensor([2.0], dtype=lt.float64, requires_grad=True)
        (base**x).sum().backward()
        assert x.grad.item() == pytest.approx(base**2 * math.log(base), rel=1e-15)


def test_statistics():
    a = np.random.default_rng(3).standard_normal((2, 4, 6)).view(complex)
    z = lt.tensor(a)
    assert z.var().dtype is lt.float64 and z.mean().dtype is lt.complex128
    for ours, theirs in [
        (z.mean(0), a.mean(0)), (z.var(), a.var(ddof=1)), (z.std(1), a.std(1, ddof=1)),
        (z.prod(2), a.prod(2)), (z.cumprod(1), a.cumprod(1)),
        (lt.var_mean(z)[1], a.mean()), (lt.nan_to_num(z / 0j).real, np.nan_to_num(a / 0j).real),
    ]:  # fmt: skip
        assert np.allclose(ours.numpy(), theirs)
    zeros = lt.tensor([0j, 0j])
    assert not zeros.any().item() and lt.tensor([0j, 1j]).any().item()
    assert lt.tensor([1j, 1]).all().item() and not lt.tensor([0j, 1]).all().item()


def test_alpha_is_a_complex_number():
    """Of complex operands, as PyTorch takes it; of others it is refused."""
    a, b = np.array([1 + 2j, 3j]), np.array([0.5, -2.0])
    z, r, alpha = lt.tensor(a), lt.tensor(b), 0.1 - 2j
    cases = [
        (lambda: lt.add(z, z, alpha=alpha), a + alpha * a),
        (lambda: lt.sub(z, r, alpha=alpha), a - alpha * b),
        (lambda: lt.subtract(r, z, alpha=alpha), b - alpha * a),
        (lambda: lt.rsub(z, r, alpha=alpha), b - alpha * a),
        (lambda: lt.add(z, 3, alpha=alpha), a + alpha * 3),
        (lambda: lt.add(r, 3j, alpha=alpha), b + alpha * 3j),
        (lambda: z.clone().add_(r, alpha=alpha), a + alpha * b),
        (lambda: z.clone().sub_(z, alpha=alpha), a - alpha * a),
        (lambda: z.add(z, alpha=2 + 0j), 3 * a),
    ]
    for call, want in cases:
        found = call()
        assert found.dtype == lt.complex128 and np.allclose(found.numpy(), want, rtol=1e-15)
        assert lt.equal(lt.trace(call)(), found)
    for call in (lambda: lt.add(r, r, alpha=2j), lambda: lt.sub(r, 3, alpha=2 + 0j),
                 lambda: r.clone().add_(r, alpha=1j)):  # fmt: skip
        with pytest.raises(lt.DTypeError, match="alpha is no number"):
            call()
    with pytest.raises(lt.DTypeError, match="alpha is no number"):
        lt.add(z, z, alpha=z)
    x = lt.tensor(a, requires_grad=True)
    lt.add(z, x, alpha=alpha).real.sum().backward()
    assert np.allclose(x.grad.numpy(), np.conj(alpha))
