"""Distributions made of uniform, normal and gamma numbers by a formula."""

import math

from .. import _lathe, ops
from .._grad_mode import no_grad
from . import constraints
from .combined import TransformedDistribution
from .continuous import Normal, Uniform
from .discrete import _Chance, _inside
from .distribution import EULER, Distribution, ExponentialFamily, broadcast, full_like
from .gammas import Gamma, standard_gamma
from .transforms import AffineTransform, PowerTransform, StickBreakingTransform


def _where_known(holds, parameter, safe, formula, otherwise):
    """formula(parameter) where it holds; elsewhere otherwise, with a derivative that is no NaN."""
    known = formula(ops.where(holds, parameter, full_like(parameter, safe)))
    return ops.where(holds, known, full_like(known, otherwise))


class FisherSnedecor(Distribution):
    """The ratio of two Chi2 numbers, each over its degrees of freedom."""

    has_rsample = True
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    _expanded = ("df1", "df2")

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast(df1, df2)
        super().__init__(self.df1.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        sizes = self._shaped(sample_shape)
        over, under = (standard_gamma(ops.expand(d / 2, sizes)) / d for d in (self.df1, self.df2))
        return over / under

    def _log_prob(self, value):
        a, b, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2
        norm = ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b) - a * ops.log(ratio)
        return (a - 1) * ops.log(value) - (a + b) * ops.log1p(ratio * value) - norm

    @property
    def mean(self):
        return _where_known(self.df2 > 2, self.df2, 3.0, lambda d: d / (d - 2), math.nan)

    @property
    def mode(self):
        a, b = self.df1, self.df2
        return ops.where(a > 2, (a - 2) / a * b / (b + 2), full_like(a, math.nan))

    @property
    def variance(self):
        def known(d):
            over = 2 * ops.square(d) * (self.df1 + d - 2)
            return over / (self.df1 * ops.square(d - 2) * (d - 4))

        return _where_known(self.df2 > 4, self.df2, 5.0, known, math.nan)


class GeneralizedPareto(Distribution):
    """What is above a threshold loc: heavy tails where concentration is above 0, an exponential one
    where it is 0, and none beyond an upper end where it is below."""

    has_rsample = True
    arg_constraints = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real
    }  # fmt: skip
    _expanded = ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast(loc, scale, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def support(self):
        c = self.concentration
        end = self.loc - self.scale / ops.where(c < 0, c, full_like(c, -1.0))
        return constraints.interval(self.loc, ops.where(c < 0, end, full_like(end, math.inf)))

    def _by_concentration(self, exponential, other):
        """exponential() where the concentration is next to 0, else other(concentration)."""
        c = self.concentration
        none = ops.abs(c) <= 1e-8
        return ops.where(none, exponential(), other(ops.where(none, full_like(c, 1.0), c)))

    def rsample(self, sample_shape=()):
        like = self.loc
        u = ops.rand(self._shaped(sample_shape), dtype=like.dtype, device=like.device)
        return self.icdf(u)

    def _log_prob(self, value):
        z = (value - self.loc) / self.scale

        def other(c):
            power, grown = 1 / c + 1, c * z
            end = ops.logical_and(ops.eq(power, 0), ops.eq(grown, -1))  # of a uniform number
            return power * ops.log1p(ops.where(end, ops.zeros_like(grown), grown))

        return -ops.log(self.scale) - self._by_concentration(lambda: z, other)

    def log_survival_function(self, value):
        """The logarithm of the share above value."""
        z = (self._checked_value(value) - self.loc) / self.scale
        return self._by_concentration(lambda: -z, lambda c: -ops.log1p(c * z) / c)

    def log_cdf(self, value):
        """The logarithm of the share below value."""
        return ops.log(self.cdf(value))

    def cdf(self, value):
        return -ops.expm1(self.log_survival_function(value))

    def icdf(self, value):
        log_above = ops.log1p(-value)
        grown = self._by_concentration(lambda: -log_above, lambda c: ops.expm1(-c * log_above) / c)
        return self.loc + self.scale * grown

    def entropy(self):
        return ops.log(self.scale) + self.concentration + 1

    @property
    def mean(self):
        c = self.concentration
        return _where_known(c < 1, c, 0.5, lambda c: self.loc + self.scale / (1 - c), math.nan)

    @property
    def variance(self):
        def known(c):
            return ops.square(self.scale) / (ops.square(1 - c) * (1 - 2 * c))

        c = self.concentration
        return _where_known(c < 0.5, c, 0.25, known, math.nan)

    @property
    def mode(self):
        return self.loc


class InverseGamma(TransformedDistribution):
    """One over a gamma number."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-1.0), validate_args)

    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)

    @property
    def mean(self):
        a = self.concentration
        return _where_known(a > 1, a, 2.0, lambda a: self.rate / (a - 1), math.inf)

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        def known(a):
            return ops.square(self.rate) / (ops.square(a - 1) * (a - 2))

        a = self.concentration
        return _where_known(a > 2, a, 3.0, known, math.inf)

    def entropy(self):
        a = self.concentration
        return a + ops.log(self.rate) + ops.lgamma(a) - (1 + a) * ops.digamma(a)


class Kumaraswamy(TransformedDistribution):
    """A share much like Beta's, computed from a uniform number by powers."""

    has_rsample = True
    arg_constraints = {
        "concentration1": constraints.positive, "concentration0": constraints.positive
    }  # fmt: skip
    support = constraints.unit_interval
    _expanded = ("concentration1", "concentration0")

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast(concentration1, concentration0)
        base = Uniform(ops.zeros_like(self.concentration0), 1.0, validate_args)
        parts = [
            PowerTransform(1 / self.concentration0), AffineTransform(1.0, -1.0),
            PowerTransform(1 / self.concentration1),
        ]  # fmt: skip
        super().__init__(base, parts, validate_args)

    def _moment(self, k):
        a, b = 1 + k / self.concentration1, self.concentration0
        return b * ops.exp(ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b))

    @property
    def mean(self):
        return self._moment(1)

    @property
    def variance(self):
        return self._moment(2) - ops.square(self.mean)

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        peak = ((a - 1) / (a * b - 1)) ** (1 / a)
        none = ops.logical_or(ops.logical_or(a < 1, b < 1), ops.eq(a * b, 1))
        return ops.where(none, full_like(peak, math.nan), peak)

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = ops.digamma(b + 1) + EULER
        return 1 - 1 / b + (1 - 1 / a) * harmonic - ops.log(a * b)


class LogisticNormal(TransformedDistribution):
    """Normal numbers as shares: one more than there are numbers, by breaking a stick."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args)
        base = base if base.batch_shape else base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)


class ContinuousBernoulli(_Chance, ExponentialFamily):
    """A number in [0, 1] whose density is that of Bernoulli's chances, made to be 1 in all (Loaiza-
    Ganem and Cunningham 2019). Between `lims`, around a half, formulas are those of a series."""

    has_rsample = True
    support = constraints.unit_interval

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        given, _ = self._take(probs, logits)
        self._lims = lims
        super().__init__(given.shape, (), validate_args)
        if logits is None:
            self.probs = _inside(given)

    def __getattr__(self, name):
        found = super().__getattr__(name)
        return _inside(found) if name == "probs" else found

    def _split(self, formula, series):
        """formula(p) away from a half, and series(p - 1/2) next to it."""
        p, (low, high) = self.probs, self._lims
        away = ops.logical_or(p <= low, p > high)
        return ops.where(away, formula(ops.where(away, p, full_like(p, low))), series(p - 0.5))

    def _log_norm(self):
        def formula(p):
            return ops.log(ops.abs(_odds(p))) - ops.log(ops.abs(1 - 2 * p))

        def series(x):
            x = ops.square(x)
            return math.log(2.0) + (4 / 3 + 104 / 45 * x) * x

        return self._split(formula, series)

    def _log_prob(self, value):
        return self._log_chance(value, 1 - value) + self._log_norm()

    def rsample(self, sample_shape=()):
        like = self.probs
        u = ops.rand(self._shaped(sample_shape), dtype=like.dtype, device=like.device)
        return self.icdf(u)

    def cdf(self, value):
        value = self._checked_value(value)

        def formula(p):
            return (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)

        found = self._split(formula, lambda x: value + 2 * x * value * (value - 1))
        return ops.clamp(found, 0.0, 1.0)

    def icdf(self, value):
        def formula(p):
            return (ops.log1p(-p + value * (2 * p - 1)) - ops.log1p(-p)) / -_odds(p)

        return self._split(formula, lambda x: value - 2 * x * value * (value - 1))

    def entropy(self):
        p = self.probs
        return self.mean * _odds(p) - self._log_norm() - ops.log1p(-p)

    @property
    def mean(self):
        return self._split(
            lambda p: p / (2 * p - 1) + 1 / _odds(p),
            lambda x: 0.5 + (1 / 3 + 16 / 45 * ops.square(x)) * x,
        )

    @property
    def variance(self):
        def series(x):
            x = ops.square(x)
            return 1 / 12 - (1 / 15 - 128 / 945 * x) * x

        return self._split(
            lambda p: p * (p - 1) / ops.square(1 - 2 * p) + 1 / ops.square(_odds(p)), series
        )


def _odds(p):
    """log((1 - p) / p)."""
    return ops.log1p(-p) - ops.log(p)


class VonMises(Distribution):
    """An angle, in radians from -pi to pi: the normal distribution of a circle, around loc."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    _expanded = ("loc", "concentration")
    _ROUNDS = 24  # each accepts two thirds or more: a number in 10^11 is one that should not be

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    def sample(self, sample_shape=()):
        """By a wrapped Cauchy number that is accepted or not (Best and Fisher 1979)."""
        with no_grad():
            sizes, double = self._shaped(sample_shape), _lathe.float64
            loc, k = self.loc.to(double), self.concentration.to(double)
            tau = 1 + ops.sqrt(1 + 4 * ops.square(k))
            rho = (tau - ops.sqrt(2 * tau)) / (2 * k)
            r = ops.where(k < 1e-5, 1 / k + k, (1 + ops.square(rho)) / (2 * rho))
            found = None
            for _ in range(self._ROUNDS):
                u = ops.rand((2, *sizes), dtype=double, device=loc.device)
                z = ops.cos(math.pi * u[0])
                f = (1 + r * z) / (r + z)
                c, chance = k * (r - f), 1 - u[1]
                near = ops.log(c / chance) + 1 - c >= 0
                accepted = ops.logical_or(c * (2 - c) > chance, near)
                found = f if found is None else ops.where(accepted, f, found)
            side = ops.rand(sizes, dtype=double, device=loc.device) - 0.5
            angle = ops.sign(side) * ops.acos(ops.clamp(found, -1.0, 1.0)) + loc
            angle = ops.remainder(angle + math.pi, 2 * math.pi) - math.pi
            return angle.to(self.loc.dtype)

    def _log_prob(self, value):
        k = self.concentration  # in what is left of I0 without exp(k) nothing is too large
        return k * (ops.cos(value - self.loc) - 1) - math.log(2 * math.pi) - ops.log(_i0e(k))

    def entropy(self):
        k, length = self.concentration, 1 - self.variance
        return math.log(2 * math.pi) + ops.log(_i0e(k)) + k * (1 - length) + self.loc * 0

    mean = property(lambda self: self.loc)  # not an op: of the circle
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        """That of the circle: 1 less the length of the mean of points on it."""
        return 1 - ops.special_i1e(self.concentration) / _i0e(self.concentration)


_i0e = ops.special_i0e
