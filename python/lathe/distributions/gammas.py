"""Distributions made of gamma ones: Gamma, Chi2, Beta, Dirichlet, StudentT.

A gamma number has no formula in its shape. Its derivative by the shape is that of the quantile, at
the sample: -(dF/dshape) / density (Figurnov et al. 2018), by the series of the incomplete gamma
function, or for
large shapes by Wilson and Hilferty's cube of a normal number. It has no derivative of its own.
"""

import math

from .. import _lathe, ops
from .._dtypes import finfo
from .._grad_mode import no_grad
from . import constraints
from .distribution import Distribution, ExponentialFamily, broadcast

_TERMS = 240  # of the series: enough for shapes below _LARGE
_LARGE = 60.0


def _slope(shape, sample):
    """d sample / d shape of a standard gamma sample, in float64."""
    low = ops.clamp_max(shape, _LARGE)
    x = ops.where(shape < _LARGE, sample, low)
    steps = ops.arange(1, _TERMS, dtype=_lathe.float64, device=shape.device)
    steps = steps.reshape([_TERMS - 1, *[1] * shape.ndim])
    first = ops.unsqueeze(ops.reciprocal(low), 0)
    terms = ops.cumprod(ops.cat([first, x / (low + steps)]), 0)
    psi = ops.cumsum(
        ops.cat([ops.unsqueeze(ops.digamma(low + 1), 0), ops.reciprocal(low + steps)]), 0
    )
    series = -x * ops.sum(terms * (ops.log(x) - psi), [0])
    root = ops.exp(ops.log(sample / shape) / 3)
    z = 3 * ops.sqrt(shape) * (root - 1 + 1 / (9 * shape))
    moved = 1 / (9 * ops.square(shape)) - z / (6 * shape * ops.sqrt(shape))
    cube = root * root * root + 3 * shape * root * root * moved
    return ops.where(shape < _LARGE, series, cube)


def standard_gamma(shape):
    """Gamma numbers of these shapes and rate 1, with a derivative by the shape."""
    with no_grad():
        sample = ops.standard_gamma(shape)
        sample = ops.clamp_min(sample, 1e-38 if shape.dtype != _lathe.float64 else 1e-300)
        if not (shape.requires_grad or _lathe._symbolic(shape)):
            return sample
        slope = _slope(shape.detach().to(_lathe.float64), sample.to(_lathe.float64))
        slope = slope.to(shape.dtype)
    return sample + (shape - shape.detach()) * slope


class Gamma(ExponentialFamily):
    """Shape concentration, rate rate; mean concentration / rate."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    _expanded = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        shape = ops.expand(self.concentration, self._shaped(sample_shape))
        return standard_gamma(shape) / self.rate

    def _log_prob(self, value):
        a, b = self.concentration, self.rate
        power = _times_log(a - 1, value)
        return a * ops.log(b) + power - b * value - ops.lgamma(a)

    def cdf(self, value):
        return ops.igamma(self.concentration, self.rate * self._checked_value(value))

    def entropy(self):
        a = self.concentration
        return a - ops.log(self.rate) + ops.lgamma(a) + (1 - a) * ops.digamma(a)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def variance(self):
        return self.concentration / ops.square(self.rate)

    @property
    def mode(self):
        return ops.clamp_min((self.concentration - 1) / self.rate, 0.0)


def _times_log(factor, value):
    """factor * log(value), 0 where both are 0."""
    nothing = ops.logical_and(ops.eq(factor, 0), ops.eq(value, 0))
    return factor * ops.log(ops.where(nothing, 1.0, value))


class Chi2(Gamma):
    """The sum of df squares of normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        (self.df,) = broadcast(df)
        super().__init__(self.df / 2, 0.5, validate_args)

    _expanded = ("concentration", "rate", "df")


class StudentT(Distribution):
    """A normal number over the root of a gamma one: heavy tails, lighter with df."""

    has_rsample = True
    arg_constraints = {
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive
    }  # fmt: skip
    support = constraints.real
    _expanded = ("df", "loc", "scale")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast(df, loc, scale)
        super().__init__(self.df.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        sizes, df = self._shaped(sample_shape), self.df
        noise = ops.randn(sizes, dtype=df.dtype, device=df.device)
        chi2 = standard_gamma(ops.expand(df / 2, sizes)) * 2
        return self.loc + self.scale * noise * ops.rsqrt(chi2 / df)

    def _log_prob(self, value):
        df, y = self.df, (value - self.loc) / self.scale
        norm = ops.log(self.scale) + 0.5 * ops.log(df) + 0.5 * math.log(math.pi)
        norm = norm + ops.lgamma(0.5 * df) - ops.lgamma(0.5 * (df + 1))
        return -0.5 * (df + 1) * ops.log1p(ops.square(y) / df) - norm

    def entropy(self):
        df = self.df
        beta = ops.lgamma(0.5 * df) + 0.5 * math.log(math.pi) - ops.lgamma(0.5 * (df + 1))
        spread = ops.digamma(0.5 * (df + 1)) - ops.digamma(0.5 * df)
        return ops.log(self.scale) + 0.5 * (df + 1) * spread + 0.5 * ops.log(df) + beta

    @property
    def mean(self):
        return ops.where(self.df > 1, self.loc, ops.zeros_like(self.loc) + math.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        light = self.df > 2
        df = ops.where(light, self.df, ops.full_like(self.df, 3.0))  # its derivative is no NaN
        known = ops.square(self.scale) * df / (df - 2)
        unknown = ops.full_like(known, math.nan)
        heavy = ops.where(self.df > 1, ops.full_like(known, math.inf), unknown)
        return ops.where(light, known, heavy)


def _shares(shape):
    """Gamma numbers over their sum along the last axis, neither 0 nor 1. They are drawn in float64:
    those of small shapes are so small that in float32 several at once would be its smallest."""
    parts = standard_gamma(shape.to(_lathe.float64))
    shares = (parts / ops.sum(parts, [-1], True)).to(shape.dtype)
    limits = finfo(shape.dtype)
    return ops.clamp(shares, limits.tiny, 1 - limits.eps / 2)


class Dirichlet(ExponentialFamily):
    """Shares along the last axis: gamma numbers over their sum."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    _expanded = ("concentration",)

    def __init__(self, concentration, validate_args=None):
        (self.concentration,) = broadcast(concentration)
        shape = self.concentration.shape
        if not shape:
            raise _lathe.ShapeError(
                "a share needs others", op="Dirichlet", got="no axis", expected="one axis or more",
                next="give a concentration for each share",
            )  # fmt: skip
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def rsample(self, sample_shape=()):
        return _shares(ops.expand(self.concentration, self._shaped(sample_shape)))

    def _log_prob(self, value):
        a = self.concentration
        power = ops.sum(_times_log(a - 1, value), [-1])
        return power + ops.lgamma(ops.sum(a, [-1])) - ops.sum(ops.lgamma(a), [-1])

    def entropy(self):
        a, k = self.concentration, int(self.concentration.shape[-1])
        total = ops.sum(a, [-1])
        norm = ops.sum(ops.lgamma(a), [-1]) - ops.lgamma(total)
        return norm - (k - total) * ops.digamma(total) - ops.sum((a - 1) * ops.digamma(a), [-1])

    @property
    def mean(self):
        return self.concentration / ops.sum(self.concentration, [-1], True)

    @property
    def variance(self):
        total = ops.sum(self.concentration, [-1], True)
        return self.mean * (1 - self.mean) / (total + 1)

    @property
    def mode(self):
        over = ops.clamp_min(self.concentration - 1, 0.0)
        total = ops.sum(over, [-1], True)
        corner = ops.cat([ops.ones_like(total), ops.zeros_like(over[..., 1:])], -1)
        nowhere = ops.all(self.concentration < 1, -1, True)  # no inner peak: the first corner
        return ops.where(nowhere, corner, over / total)


class Beta(ExponentialFamily):
    """A share: one gamma number over the sum of two."""

    has_rsample = True
    arg_constraints = {
        "concentration1": constraints.positive, "concentration0": constraints.positive
    }  # fmt: skip
    support = constraints.unit_interval
    _expanded = ("concentration1", "concentration0")

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast(concentration1, concentration0)
        super().__init__(self.concentration1.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        sizes = self._shaped(sample_shape)
        pair = [ops.expand(c, sizes) for c in (self.concentration1, self.concentration0)]
        return _shares(ops.stack(pair, -1))[..., 0]

    def _log_beta(self):
        a, b = self.concentration1, self.concentration0
        return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)

    def _log_prob(self, value):
        a, b = self.concentration1, self.concentration0
        return _times_log(a - 1, value) + _times_log(b - 1, 1 - value) - self._log_beta()

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        parts = (a - 1) * ops.digamma(a) + (b - 1) * ops.digamma(b)
        return self._log_beta() - parts + (a + b - 2) * ops.digamma(a + b)

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (ops.square(total) * (total + 1))

    @property
    def mode(self):
        pair = ops.stack([self.concentration1, self.concentration0], -1)
        return Dirichlet(pair, validate_args=False).mode[..., 0]
