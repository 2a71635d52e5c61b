# ruff: noqa: E501
"""Makes the coefficients of core/scalar/math/bessel_tables.h and of ndtri's tail, in double.

Each table is the Chebyshev interpolant of what is left of a function when its zero, its exponential or its logarithm
is taken out, as a polynomial in a variable u that runs over [-1, 1], cut where what is left is below 2^-56 of the
function. (Within a bit of the best polynomial, for a few evaluations: minimax.py would take hours here.)

Needs mpmath; `python chebyshev_tables.py [name ...]` prints the tables named, as C++.
"""

import sys

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 40
NODES = 48
two_over_pi = 2 / mp.pi


def interpolant(f, lo, hi):
    """Chebyshev coefficients of f on [lo, hi]."""
    lo, hi = mpf(lo), mpf(hi)
    angles = [mp.pi * (k + mpf(1) / 2) / NODES for k in range(NODES)]
    values = [f((lo + hi) / 2 + (hi - lo) / 2 * mp.cos(a)) for a in angles]
    c = [2 * sum(v * mp.cos(j * a) for v, a in zip(values, angles)) / NODES for j in range(NODES)]
    c[0] /= 2
    return c, min(abs(v) for v in values)


def monomials(c):
    """The same polynomial in powers of u, highest last."""
    out, before, now = [mpf(0)] * len(c), [mpf(1)], [mpf(0), mpf(1)]
    for k, a in enumerate(c):
        t = before if k == 0 else now
        for i, v in enumerate(t):
            out[i] += a * v
        if k:
            doubled = [mpf(0)] + [2 * v for v in now]
            before, now = (
                now,
                [d - (before[i] if i < len(before) else 0) for i, d in enumerate(doubled)],
            )
    return out


def table(f, lo, hi):
    c, least = interpolant(f, lo, hi)
    rest, n = mpf(0), len(c)
    while n > 1 and rest + abs(c[n - 1]) < least * mpf(2) ** -56:
        n -= 1
        rest += abs(c[n])
    return monomials(c[:n]), mp.log(rest / least, 2) if rest else -mp.inf


def without_root(f, root):
    return lambda x: f(x) / (x - root)


def without_pair(f, root):
    return lambda x: f(x) / ((x - root) * (x + root))


def of_square(f):
    return lambda z: f(mp.sqrt(z))


def of_reciprocal(f):
    return lambda t: f(1 / t)


def of_reciprocal_square(f):
    return lambda t: f(1 / mp.sqrt(t))


def i_scaled(order):
    return of_reciprocal(lambda x: mp.besseli(order, x) * mp.exp(-x) * mp.sqrt(x))


def k_scaled(order):
    return of_reciprocal(lambda x: mp.besselk(order, x) * mp.exp(x) * mp.sqrt(x))


def wave(order, part):
    """J = sqrt(2 / (pi x)) (P cos c - Q sin c), Y likewise with sin, cos (DLMF 10.17.3); Q times x."""

    def f(x):
        a, b, c = mp.besselj(order, x), mp.bessely(order, x), x - mp.pi * (2 * order + 1) / 4
        scale, cos, sin = mp.sqrt(mp.pi * x / 2), mp.cos(c), mp.sin(c)
        return scale * (a * cos + b * sin) if part == "p" else x * scale * (b * cos - a * sin)

    return of_reciprocal_square(f)


def bessel(kind, order):
    return lambda x: getattr(mp, "bessel" + kind)(order, x)


def erfcinv(c):
    """By Newton from the leading asymptotic term; c small."""
    x = mp.sqrt(-mp.log(c * mp.sqrt(mp.pi) * mp.sqrt(-mp.log(c))))
    for _ in range(60):
        step = (mp.erfc(x) - c) * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
        x += step
        if abs(step) < mpf(10) ** -34:
            break
    return x


def quantile_ratio(s):
    """erfinv(x) / (x s) where s = sqrt(-log(1 - x^2))."""
    e = mp.exp(-s * s)
    x = mp.sqrt(1 - e)
    return erfcinv(e / (1 + x)) / x / s


def airy_decay(z):
    """Ai(x) = e^-z / (2 sqrt(pi) x^(1/4)) f(1 / z) with z = 2/3 x^(3/2) (DLMF 9.7.5)."""
    x = (3 * z / 2) ** (mpf(2) / 3)
    return mp.airyai(x) * mp.exp(z) * 2 * mp.sqrt(mp.pi) * mp.root(x, 4)


def airy_wave(part):
    """Ai(-x) = (P sin(z + pi/4) - Q cos(z + pi/4)) / (sqrt(pi) x^(1/4)) (DLMF 9.7.9); Q times z."""

    def f(z):
        x = (3 * z / 2) ** (mpf(2) / 3)
        a, b, s, c = mp.airyai(-x), mp.airybi(-x), mp.sin(z + mp.pi / 4), mp.cos(z + mp.pi / 4)
        scale = mp.sqrt(mp.pi) * mp.root(x, 4)
        return scale * (a * s + b * c) if part == "p" else z * scale * (b * s - a * c)

    return of_reciprocal_square(f)


def y0_regular(x):
    """What Y0 has beside its logarithm, times 1 / (x^2 - r^2)."""
    r = Y0[0]
    return (mp.bessely(0, x) - two_over_pi * mp.log(x / r) * mp.besselj(0, x)) / ((x - r) * (x + r))


def y1_regular(x):
    r = Y1[0]
    return (
        x
        * (mp.bessely(1, x) - two_over_pi * mp.log(x / r) * mp.besselj(1, x))
        / ((x - r) * (x + r))
    )


J0 = [mp.besseljzero(0, k) for k in (1, 2)]
J1 = [mp.besseljzero(1, k) for k in (1, 2)]
Y0 = [mp.besselyzero(0, k) for k in (1, 2, 3)]
Y1 = [mp.besselyzero(1, k) for k in (1, 2)]
AI = mp.airyaizero(1)

TABLES = {  # name: (function, from, to)
    "ndtri_tail": (of_reciprocal(quantile_ratio), mpf(1) / 28, mpf(1) / 6 + mpf("0.002")),
    "i0_large": (i_scaled(0), 0, mpf(1) / 8),
    "i1_large": (i_scaled(1), 0, mpf(1) / 8),
    "k0_large": (k_scaled(0), 0, mpf(1) / 2),
    "k1_large": (k_scaled(1), 0, mpf(1) / 2),
    "j0_small": (of_square(without_pair(bessel("j", 0), J0[0])), 0, 16),
    "j0_middle": (without_root(bessel("j", 0), J0[1]), 4, 8),
    "j1_small": (of_square(lambda x: without_pair(bessel("j", 1), J1[0])(x) / x), 0, 16),
    "j1_middle": (without_root(bessel("j", 1), J1[1]), 4, 8),
    "y0_small": (of_square(y0_regular), 0, 9),
    "y0_middle": (without_root(bessel("y", 0), Y0[1]), 3, "5.5"),
    "y0_upper": (without_root(bessel("y", 0), Y0[2]), "5.5", 8),
    "y1_small": (of_square(y1_regular), 0, 16),
    "y1_middle": (without_root(bessel("y", 1), Y1[1]), 4, 8),
    "p0": (wave(0, "p"), 0, mpf(1) / 64),
    "q0": (wave(0, "q"), 0, mpf(1) / 64),
    "p1": (wave(1, "p"), 0, mpf(1) / 64),
    "q1": (wave(1, "q"), 0, mpf(1) / 64),
    "airy_low": (without_root(mp.airyai, AI), "-3.2", 0),
    "airy_high": (mp.airyai, 0, 2),
    "airy_decay": (of_reciprocal(airy_decay), 0, mpf("0.5304")),
    "airy_p": (airy_wave("p"), 0, mpf("0.0688")),
    "airy_q": (airy_wave("q"), 0, mpf("0.0688")),
}


def main(names):
    for name in names or TABLES:
        f, lo, hi = TABLES[name]
        with mp.workdps(60):
            coefficients, error = table(f, lo, hi)
        print(f"// 2^{float(error):.1f}")
        print(
            f"inline constexpr double {name}[] = {{"
            + ", ".join(repr(float(c)) for c in coefficients)
            + "};"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
