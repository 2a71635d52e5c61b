"""Special functions within stated bounds of SciPy's, and at the ends of their domains.

A bound is in units in the last place of float64, against SciPy, whose own error is a few;
oscillating
functions are compared relative to their amplitude. Single precision is computed in double, so its
error is what rounding leaves.
"""

import numpy as np
import pytest
from scipy import special

import lathe as lt

EPS = np.finfo(np.float64).eps
INF, NAN = np.inf, np.nan


def line(low, high, count=401):
    return np.linspace(low, high, count)


def decades(low, high, count=301):
    return np.logspace(low, high, count)


def wave(x):
    return np.minimum(1, np.sqrt(2 / (np.pi * np.abs(x)))) if np.all(x) else 1.0


def airy_size(x):
    return np.abs(special.airy(x)[0]) + np.where(x < 0, np.abs(special.airy(x)[2]), 0)


LINE = line(-30.3, 30.3)
POSITIVE = np.concatenate([decades(-8, 2), line(0.03, 60)])
ONE = [  # name, reference, arguments, bound, amplitude
    ("i0", special.i0, line(-700, 700), 8, None),
    ("i0e", special.i0e, LINE, 8, None),
    ("i1", special.i1, line(-700, 700.5), 8, None),
    ("i1e", special.i1e, LINE, 8, None),
    ("modified_bessel_k0", special.k0, POSITIVE, 24, None),
    ("modified_bessel_k1", special.k1, POSITIVE, 8, None),
    ("scaled_modified_bessel_k0", special.k0e, POSITIVE, 24, None),
    ("scaled_modified_bessel_k1", special.k1e, POSITIVE, 8, None),
    ("bessel_j0", special.j0, POSITIVE, 40, wave),
    ("bessel_j1", special.j1, POSITIVE, 40, wave),
    ("bessel_y0", special.y0, POSITIVE, 40, lambda x: wave(x) + np.abs(special.y0(x))),
    ("bessel_y1", special.y1, POSITIVE, 40, lambda x: wave(x) + np.abs(special.y1(x))),
    ("airy_ai", lambda x: special.airy(x)[0], line(-8, 20), 160, airy_size),
    ("spherical_bessel_j0", lambda x: np.sin(x) / x, POSITIVE, 4, None),
    ("erfcx", special.erfcx, line(-3, 80), 16, None),
    ("ndtri", special.ndtri, np.concatenate([decades(-300, -1), line(0.01, 0.99)]), 8, None),
    ("ndtr", special.ndtr, line(-5, 8), 64, None),
    ("log_ndtr", special.log_ndtr, line(-300, 5), 64, None),
    ("entr", special.entr, POSITIVE, 8, lambda x: x + np.abs(special.entr(x))),
    ("psi", special.psi, POSITIVE, 8, lambda x: 1 + np.abs(special.psi(x))),
]


def errors(got, want, amplitude):
    return np.abs(got - want) / np.maximum(amplitude, np.finfo(np.float64).tiny) / EPS


@pytest.mark.parametrize("name, reference, x, bound, amplitude", ONE, ids=[r[0] for r in ONE])
def test_functions_of_one_argument(name, reference, x, bound, amplitude):
    got = getattr(lt.special, name)(lt.tensor(x)).numpy()
    want = reference(x)
    scale = np.abs(want) if amplitude is None else amplitude(x)
    assert errors(got, want, scale).max() <= bound
    single = getattr(lt.special, name)(lt.tensor(x.astype(np.float32)))
    assert single.dtype is lt.float32
    wide = getattr(lt.special, name)(lt.tensor(x.astype(np.float32)).to(lt.float64)).numpy()
    rough = np.abs(single.numpy() - wide) / np.maximum(np.abs(wide), 1e-37)
    tails = name in ("entr", "psi", "ndtr", "log_ndtr", "erfcx")  # have tables of their own
    finite = np.isfinite(wide) & (np.abs(wide) < 3e38)
    assert rough[finite].max() <= (1e-3 if tails else 6.1e-8)


def grid(*axes):
    return [g.ravel() for g in np.meshgrid(*axes)]


def test_the_incomplete_gamma_functions():
    """Over all four ways of computing them, and where these meet."""
    a, x = grid(
        [1e-6, 1e-3, 0.1, 0.5, 1, 2, 5.5, 10, 19, 29.9, 30, 31, 80, 250, 1e3, 1e5],
        [
            1e-3,
            0.2,
            0.9,
            1.1,
            1.11,
            2,
            4,
            7,
            10,
            15,
            21,
            25,
            30,
            39,
            40,
            100,
            180,
            324,
            950,
            1.001e5,
        ],
    )
    for name, reference in ("gammainc", special.gammainc), ("gammaincc", special.gammaincc):
        got, want = getattr(lt.special, name)(lt.tensor(a), lt.tensor(x)).numpy(), reference(a, x)
        seen = want > 1e-30
        assert errors(got, want, want)[seen].max() <= 800
    ends = [(0, 1), (0, 0), (2, 0), (2, INF), (INF, 2), (INF, INF), (-1, 2), (2, -1), (NAN, 1)]
    a, x = (lt.tensor([float(v) for v in column]) for column in zip(*ends))
    np.testing.assert_equal(lt.igamma(a, x).numpy(), [1, NAN, 0, 1, 0, NAN, NAN, NAN, NAN])
    np.testing.assert_equal(lt.igammac(a, x).numpy(), [0, NAN, 1, 0, 1, NAN, NAN, NAN, NAN])
    with pytest.raises(lt.UnsupportedError, match="no derivative with respect to input"):
        lt.igamma(lt.tensor([1.0], requires_grad=True), lt.ones(1)).sum().backward()


def test_zeta_and_polygamma():
    s, q = grid(line(1.1, 40, 30), decades(-2, 3, 40))
    got = lt.special.zeta(lt.tensor(s), lt.tensor(q)).numpy()
    assert errors(got, special.zeta(s, q), special.zeta(s, q)).max() <= 16
    x = np.array([-2.5, -0.5, 0.3, 2.0, 50.0])
    # By reflection (DLMF 5.15.6): psi_1(1 - x) + psi_1(x) = pi^2 / sin(pi x)^2.
    mirrored = np.pi**2 / np.sin(np.pi * x[:2]) ** 2 - special.polygamma(1, 1 - x[:2])
    np.testing.assert_allclose(lt.polygamma(1, lt.tensor(x)).numpy()[:2], mirrored, rtol=1e-13)
    for n in range(5):
        got = lt.polygamma(n, lt.tensor(x[2:])).numpy()
        np.testing.assert_allclose(got, special.polygamma(n, x[2:]), rtol=1e-13)
        np.testing.assert_array_equal(lt.tensor(x[2:]).polygamma(n).numpy(), got)
    ends = lt.special.zeta(
        lt.tensor([1.0, 0.5, 3.0, 2.5, NAN]), lt.tensor([1.0, 1.0, -2.0, -1.5, 1.0])
    )
    np.testing.assert_equal(ends.numpy(), [INF, NAN, INF, NAN, NAN])
    with pytest.raises(lt.ValueError, match="negative"):
        lt.polygamma(-1, lt.ones(1))


EDGES = [
    ("i0", [0.0, INF, -INF, NAN], [1, INF, INF, NAN]),
    ("i1", [0.0, INF, -INF, NAN], [0, INF, -INF, NAN]),
    ("modified_bessel_k0", [0.0, -1.0, INF], [INF, NAN, 0]),
    ("bessel_j0", [0.0, INF, NAN], [1, NAN, NAN]),
    ("bessel_y1", [0.0, -1.0, NAN], [-INF, NAN, NAN]),
    ("spherical_bessel_j0", [0.0, INF, NAN], [1, 0, NAN]),
    ("ndtri", [0.0, 1.0, 0.5, -0.1, 1.1, NAN], [-INF, INF, 0, NAN, NAN, NAN]),
    ("entr", [0.0, -1.0, 1.0, NAN], [0, -INF, 0, NAN]),
    ("erfcx", [INF, -INF, NAN], [0, INF, NAN]),
    ("log_ndtr", [INF, -INF, NAN], [0, -INF, NAN]),
    ("logit", [0.0, 1.0, -0.5, 2.0], [-INF, INF, NAN, NAN]),
    ("sinc", [0.0, 1.0, NAN], [1, 0, NAN]),
]


@pytest.mark.parametrize("name, x, want", EDGES, ids=[e[0] for e in EDGES])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_ends_of_domains(name, x, want, dtype):
    got = getattr(lt.special, name)(lt.tensor(x, dtype=getattr(lt, dtype)))
    assert got.dtype is getattr(lt, dtype)
    np.testing.assert_allclose(got.to(lt.float64).numpy(), want, atol=1e-7)


def test_products_with_logarithms_at_zero():
    x, y = grid([0.0, 2.0, NAN], [0.0, 3.0, -1.0, NAN])
    np.testing.assert_allclose(
        lt.xlogy(lt.tensor(x), lt.tensor(y)).numpy(), special.xlogy(x, y), rtol=1e-15
    )
    np.testing.assert_allclose(
        lt.special.xlog1py(lt.tensor(x), lt.tensor(y)).numpy(), special.xlog1py(x, y), rtol=1e-15
    )
    zero = lt.zeros(1, requires_grad=True)
    lt.xlogy(zero, lt.zeros(1)).sum().backward()
    assert zero.grad.item() == 0


def test_polynomials_of_any_degree():
    x, n = grid(line(-1.5, 1.5, 31), np.array([0, 1, 2, 5, 17, 64]))
    for name, reference in (
        ("chebyshev_polynomial_t", special.eval_chebyt),
        ("hermite_polynomial_he", special.eval_hermitenorm),
        ("legendre_polynomial_p", special.eval_legendre),
    ):
        got = getattr(lt.special, name)(lt.tensor(x), lt.tensor(n)).numpy()
        np.testing.assert_allclose(got, reference(n, x), rtol=1e-9, atol=1e-12)
        assert getattr(lt.special, name)(lt.tensor(0.3), -1).item() == 0
    assert lt.special.chebyshev_polynomial_t(lt.tensor(1.0), 10**6).item() == 1
    assert np.isnan(lt.special.legendre_polynomial_p(lt.tensor(0.3), 129).item())
