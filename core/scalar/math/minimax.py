# ruff: noqa: E501
"""Makes the polynomial and rational coefficients of core/scalar/math/*.h.

Each fit minimises the largest weighted error of  sum_k p_k u^k / (1 + sum_k q_k u^k)  against a function. For
polynomials by Remez exchange in multiple precision: on a reference of n + 1 points the weighted error is made to
alternate with one size, then the reference moves to the extrema. For rationals by least squares on
|w (P - f Q) / Q_before| whose weights grow where the error is largest (Lawson's iteration), which ends within a few
per cent of the best and cannot wander off. Coefficients are rounded to the target format one at a time, the
dominant first, and the rest fitted again around each rounded one: that loses far less than rounding all at the end.

Needs mpmath (`pip install mpmath gmpy2`); nothing else of Lathe does. `python minimax.py [name ...]` prints the
tables named, all of them without a name.
"""

import struct
import sys

import mpmath as mp

mp.mp.dps = 60


def to_f32(x):
    """Rounds to the nearest binary32 (no subnormal is ever a coefficient)."""
    return _round(x, 24)


def to_f64(x):
    return _round(x, 53)


def _round(x, bits):
    x = mp.mpf(x)
    if x == 0:
        return x
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, bits)), int(e) - bits)


class Fit:
    """f(x) ~ P(u(x)) / Q(u(x)) on [lo, hi]; minimises weight(x) * |error|.

    num, den: degrees. fixed: {("p", k): value} of coefficients that are given. Q(0) = 1. weight: relative error
    of f unless given.
    """

    def __init__(self, f, lo, hi, num, den=0, u=lambda x: x, weight=None, fixed=None):
        weight = weight or (lambda x: 1 / f(x))
        self.num, self.den = num, den
        self.p = {k: mp.mpf(0) for k in range(num + 1)}
        self.q = {k: mp.mpf(0) for k in range(1, den + 1)}
        self.fixed = dict(fixed or {})
        n = 40 * (num + den + 2) if not den else 400
        lo, hi = mp.mpf(lo), mp.mpf(hi)
        grid = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * i / n) for i in range(n + 1)]
        weights = [abs(weight(x)) for x in grid]
        least = max(weights) * mp.mpf(10) ** -9  # where the weight vanishes there is nothing to fit
        self.values = [(u(x), f(x), w) for x, w in zip(grid, weights) if w > least]

    def unknowns(self):
        names = [("p", k) for k in self.p] + [("q", k) for k in self.q]
        return [n for n in names if n not in self.fixed]

    def set(self, names, values):
        for (kind, k), value in zip(names, values):
            (self.p if kind == "p" else self.q)[k] = mp.mpf(value)

    def denominator(self, u):
        return mp.polyval([self.q[k] for k in range(self.den, 0, -1)] + [1], u)

    def errors(self):
        p = [self.p[k] for k in range(self.num, -1, -1)]
        return [w * (mp.polyval(p, u) / self.denominator(u) - f) for u, f, w in self.values]

    def row(self, names, u, f, scale):
        """Coefficients of the unknowns and the right side of  scale * (P - f Q) = 0."""
        rest = scale * f
        for (kind, k), value in self.fixed.items():
            rest -= scale * value * u**k * (1 if kind == "p" else -f)
        return [scale * u**k * (1 if kind == "p" else -f) for kind, k in names], rest

    def run(self):
        self.set(self.fixed.keys(), self.fixed.values())
        names = self.unknowns()
        if names and self.den:
            self.lawson(names)
        elif names:
            self.remez(names)
            # Around given coefficients the error need not alternate often enough for an exchange.
            if max(abs(e) for e in self.errors()) > mp.mpf("1.1") * getattr(self, "ideal", mp.inf):
                self.lawson(names)
        self.worst = max(abs(e) for e in self.errors())
        return self

    def lawson(self, names, iterations=40):
        step = max(1, len(self.values) // 130)
        rows = self.values[::step]
        grow = [mp.mpf(1)] * len(rows)
        best = max(abs(e) for e in self.errors()), dict(self.p), dict(self.q)
        for _ in range(iterations):
            a, b = mp.matrix(len(rows), len(names)), mp.matrix(len(rows), 1)
            for i, (u, f, w) in enumerate(rows):
                left, b[i] = self.row(names, u, f, w * grow[i] / self.denominator(u))
                for column, value in enumerate(left):
                    a[i, column] = value
            self.set(names, mp.lu_solve(a, b))  # least squares for a tall matrix
            errors = [abs(e) for e in self.errors()]
            worst = max(errors)
            if worst < best[0]:
                best = worst, dict(self.p), dict(self.q)
            errors = errors[::step]
            top = max(errors)
            grow = [g * mp.sqrt(mp.mpf("0.05") + e / top) for g, e in zip(grow, errors)]
        _, self.p, self.q = best

    def remez(self, names, iterations=40):
        n = len(names) + 1
        last = len(self.values) - 1
        ref = [round(last * i / (n - 1)) for i in range(n)]
        for _ in range(iterations):
            a, b = mp.matrix(n, n), mp.matrix(n, 1)
            for i, at in enumerate(ref):
                u, f, w = self.values[at]
                left, b[i] = self.row(names, u, f, w)
                for column, value in enumerate(left):
                    a[i, column] = value
                a[i, n - 1] = 1 if i % 2 else -1
            self.set(names, list(mp.lu_solve(a, b))[:-1])
            errors = self.errors()
            runs = []  # one extremum for each run of equal sign, then the n consecutive ones with the largest least
            for i, e in enumerate(errors):
                if not runs or (e > 0) != (errors[runs[-1]] > 0):
                    runs.append(i)
                elif abs(e) > abs(errors[runs[-1]]):
                    runs[-1] = i
            while len(runs) > n:
                runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
            if len(runs) < n or runs == ref:
                break
            ref = runs

    def rounded(self, rounding, careful=None):
        """Fixes coefficients at rounded values one after the other, lowest degree first; those after the first
        `careful` all at once."""
        self.run()
        self.ideal = self.worst
        order = [n for k in range(max(self.num, self.den) + 1) for n in (("p", k), ("q", k))]
        order = [n for n in order if n in self.unknowns()]
        for i, name in enumerate(order):
            self.fixed[name] = rounding((self.p if name[0] == "p" else self.q)[name[1]])
            if careful is None or i < careful or i + 1 == len(order):
                self.run()
        return self


def log2(x):
    return float(mp.log(x, 2)) if x else float("-inf")


def shortest(x, bits):
    """The shortest decimal that reads back as x."""
    for digits in range(1, 18):
        text = f"{float(x):.{digits}g}"
        back = struct.unpack("f", struct.pack("f", float(text)))[0] if bits == 24 else float(text)
        if back == float(x):
            break
    if bits == 24 and "." not in text and "e" not in text:
        text += "."
    return text + ("f" if bits == 24 else "" if "." in text or "e" in text else ".0")


def show(name, fit, bits):
    print(f"{name}: 2^{log2(fit.worst):.2f} (before rounding 2^{log2(fit.ideal):.2f})")
    print("  P: " + ", ".join(shortest(fit.p[k], bits) for k in range(fit.num + 1)))
    if fit.den:
        print("  Q: 1, " + ", ".join(shortest(fit.q[k], bits) for k in range(1, fit.den + 1)))


# ── the tables, by the function in core/scalar/math/*.h that uses them ─────────────────────────────────────────────────

half, third = mp.mpf(1) / 2, mp.mpf(1) / 3
wider = mp.mpf("1.002")  # arguments land a little outside their interval when the reduction rounds


def near_zero(value, f):
    """f, with its limit at 0 given."""
    return lambda x: mp.mpf(value) if abs(x) < mp.mpf(10) ** -25 else f(x)


def square(x):
    return x * x


def exp_q():
    f = near_zero(half, lambda r: (mp.expm1(r) - r) / r**2)
    h = mp.log(2) / 2 * wider
    return lambda degree: Fit(f, -h, h, degree, weight=lambda r: r**2 / mp.exp(r))


def log_p():
    f = near_zero(third, lambda t: (mp.log1p(t) - t + t * t / 2) / t**3)
    return lambda degree: Fit(
        f, -third, third, degree, weight=near_zero(0, lambda t: t**3 / mp.log1p(t))
    )


SQRT_SPLIT = (
    (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
) ** 2 * wider  # largest s^2 for m in [sqrt(1/2), sqrt(2)]


def atanh_tail(terms, scale=1):
    """scale * (2 atanh(s) - its first `terms` terms) / s^(2 terms + 1), in z = s^2."""

    def f(z):
        if z < mp.mpf("1e-12"):
            return scale * 2 * sum(z**k / (2 * (terms + k) + 1) for k in range(6))
        s = mp.sqrt(z)
        return (
            scale
            * 2
            * (mp.atanh(s) - sum(s ** (2 * k + 1) / (2 * k + 1) for k in range(terms)))
            / s ** (2 * terms + 1)
        )

    def weight(z):
        s = mp.sqrt(z)
        return s ** (2 * terms + 1) / (scale * 2 * mp.atanh(s)) if z else mp.mpf(0)

    return lambda degree: Fit(f, 0, SQRT_SPLIT, degree, weight=weight)


def odd_tail(function, hi, sixth):
    """function(r) = r + r^3 P(r^2)."""
    f = near_zero(sixth, lambda r: (function(r) - r) / r**3)
    return lambda degree: Fit(
        f, 0, hi * wider, degree, u=square, weight=near_zero(0, lambda r: r**3 / function(r))
    )


def even_tail(function, hi, sign):
    """function(r) = 1 + sign r^2 / 2 + r^4 P(r^2)."""
    f = near_zero(mp.mpf(1) / 24, lambda r: (function(r) - 1 - sign * r * r / 2) / r**4)
    return lambda degree: Fit(
        f, 0, hi * wider, degree, u=square, weight=lambda r: r**4 / function(r)
    )


def asin_p():
    f = near_zero(mp.mpf(1) / 6, lambda x: (mp.asin(x) - x) / x**3)
    return lambda degree: Fit(
        f, 0, half, degree, u=square, weight=near_zero(0, lambda x: x**3 / mp.asin(x))
    )


def tanh_r():
    f = near_zero(1, lambda x: mp.tanh(x) / x)
    return lambda num, den: Fit(f, 0, "8.4", num, den, u=square, fixed={("p", 0): 1})


def erf_over_x(x):
    return 2 / mp.sqrt(mp.pi) if x == 0 else mp.erf(x) / x


def erf_r():
    return lambda num, den: Fit(erf_over_x, 0, "3.85", num, den, u=square)


def erf_small():
    return lambda degree: Fit(erf_over_x, 0, 1, degree, u=square)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfc_g(scale, hi):
    """erfcx(x) = t G(t - 1/2) with t = 1 / (1 + x / scale)."""
    lo = 1 / (1 + mp.mpf(hi) / scale)
    return lambda degree: Fit(
        lambda t: erfcx(scale * (1 / t - 1)) / t, lo, 1, degree, u=lambda t: t - half
    )


def erfinv_ratio(w):
    """erfinv(x) / x where w = -log(1 - x^2)."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    y = mp.erfinv(x) if x < mp.mpf("0.9") else erfcinv(-mp.expm1(mp.log(x)))
    return y / x


def erfcinv(c):
    """By Newton from the leading asymptotic term; c = 1 - x small."""
    y = mp.sqrt(-mp.log(c * mp.sqrt(mp.pi) * mp.sqrt(-mp.log(c))))
    for _ in range(60):
        step = (mp.erfc(y) - c) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step
        if abs(step) < mp.mpf(10) ** (-mp.mp.dps + 12):
            break
    return y


def erfinv_w(lo, hi, middle):
    return lambda degree: Fit(erfinv_ratio, lo, hi, degree, u=lambda w: w - mp.mpf(middle))


def erfinv_s(lo, hi, middle):
    """The same in s = sqrt(w)."""
    return lambda degree: Fit(
        lambda s: erfinv_ratio(s * s), lo, hi, degree, u=lambda s: s - mp.mpf(middle)
    )


def lgamma_near_2():
    f = near_zero(1 - mp.euler, lambda u: mp.loggamma(2 + u) / u)
    return lambda degree: Fit(f, -half, half, degree)


def lgamma_stirling(lo):
    """lgamma(x) = (x - 1/2) log(x) - x + log(2 pi)/2 + S(1/x^2) / x."""

    def f(y):
        if y == 0:
            return mp.mpf(1) / 12
        x = 1 / y
        return (mp.loggamma(x) - ((x - half) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x

    return lambda degree: Fit(
        f,
        0,
        1 / mp.mpf(lo),
        degree,
        u=square,
        weight=near_zero(0, lambda y: y / mp.loggamma(1 / y)),
    )


DIGAMMA_ROOT = mp.findroot(mp.digamma, mp.mpf("1.4616321449683623"))


def digamma_near_root():
    """digamma(x) = (x - root) R(x - 3/2) on [1, 2]."""

    def f(x):
        d = x - DIGAMMA_ROOT
        return mp.psi(1, x) if abs(d) < mp.mpf(10) ** -25 else mp.digamma(x) / d

    return lambda degree: Fit(f, 1, 2, degree, u=lambda x: x - mp.mpf(3) / 2)


def digamma_asymptotic(lo):
    """digamma(x) = log(x) - 1/(2x) - D(1/x^2) / x^2."""

    def f(y):
        if y == 0:
            return mp.mpf(1) / 12
        return (mp.log(1 / y) - y / 2 - mp.digamma(1 / y)) / y**2

    return lambda degree: Fit(
        f,
        0,
        1 / mp.mpf(lo),
        degree,
        u=square,
        weight=near_zero(0, lambda y: y**2 / mp.digamma(1 / y)),
    )


QUARTER, HALF_TURN = mp.pi / 4, mp.pi / 2
LN2_HALF = mp.log(2) / 2

TABLES = {  # name: (fit, degrees for f32, degrees for f64); None where the type goes another way
    "exp_q": (exp_q(), (4,), (9,)),
    "log_p": (log_p(), (7,), None),
    "log_atanh": (atanh_tail(1), None, (6,)),
    "pow_atanh": (atanh_tail(2, 1 / mp.log(2)), (2,), (6,)),
    "sin_half_turn": (odd_tail(mp.sin, HALF_TURN, -mp.mpf(1) / 6), (3,), (7,)),
    "sin_quarter": (odd_tail(mp.sin, QUARTER, -mp.mpf(1) / 6), (2,), (5,)),
    "cos_quarter": (even_tail(mp.cos, QUARTER, -1), (2,), (5,)),
    "sinh_small": (odd_tail(mp.sinh, LN2_HALF, mp.mpf(1) / 6), (1,), (4,)),
    "cosh_small": (even_tail(mp.cosh, LN2_HALF, 1), (1,), (4,)),
    "asin_p": (asin_p(), (4,), (11,)),
    "atan_p": (odd_tail(mp.atan, mp.sqrt(2) - 1, -third), (3,), (10,)),
    "tanh_r": (tanh_r(), (4, 4), None),
    "erf_r": (erf_r(), (5, 5), None),
    "erf_small": (erf_small(), None, (11,)),
    "erfc_g": (erfc_g(2, "10.1"), (9,), None),
    "erfc_g64": (erfc_g(mp.mpf(3), "27.3"), None, (22,)),
    "erfinv_w": (erfinv_w(0, 5, "2.5"), (9,), None),
    "erfinv_s": (erfinv_s("2.23", "4.0", "3.1"), (9,), None),
    "erfinv_w64": (erfinv_w(0, "6.25", "3.125"), None, (24,)),
    "erfinv_s64": (erfinv_s("2.49", 4, "3.25"), None, (19,)),
    "erfinv_t64": (erfinv_s("3.99", "6.01", 5), None, (18,)),
    "lgamma_near_2": (lgamma_near_2(), (8,), (18,)),
    "lgamma_stirling": (lgamma_stirling(8), (1,), (6,)),
    "digamma_near_root": (digamma_near_root(), (9,), (21,)),
    "digamma_asymptotic": (digamma_asymptotic(8), (2,), (8,)),
}


def main(names):
    mp.mp.dps = 50
    for name in names or TABLES:
        fit, single, double = TABLES[name]
        for bits, degrees in ((24, single), (53, double)):
            if degrees:
                show(
                    f"{name} f{32 if bits == 24 else 64} {degrees}",
                    fit(*degrees).rounded(*((to_f32,) if bits == 24 else (to_f64, 2))),
                    bits,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
