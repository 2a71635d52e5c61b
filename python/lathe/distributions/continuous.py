"""Distributions of real numbers that are moved and scaled, or computed from a uniform number."""

import math

from .. import ops
from . import constraints
from .distribution import EULER, LOG_2PI, Distribution, ExponentialFamily, broadcast, full_like


class _LocScale(Distribution):
    """loc + scale * noise; a subclass says what the noise and its density are."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _expanded = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        return self.loc + self.scale * self._noise(sample_shape)

    def _standard(self, value):
        return (value - self.loc) / self.scale

    def _log_prob(self, value):
        return self._density(self._standard(value)) - ops.log(self.scale)

    def icdf(self, value):
        return self.loc + self.scale * self._quantile(value)

    def cdf(self, value):
        return self._share(self._standard(self._checked_value(value)))

    def entropy(self):
        return ops.log(self.scale) + self._disorder + self.loc * 0

    @property
    def mode(self):
        return self.loc

    @property
    def mean(self):
        return self.loc + self.scale * self._centre

    @property
    def variance(self):
        return self.scale * self.scale * self._spread

    _centre = 0.0


class Normal(_LocScale, ExponentialFamily):
    """Gaussian: mean loc, standard deviation scale."""

    _spread, _disorder = 1.0, 0.5 * math.log(2 * math.pi * math.e)

    def _noise(self, sample_shape):
        like = self.loc
        return ops.randn(self._shaped(sample_shape), dtype=like.dtype, device=like.device)

    def _density(self, z):
        return ops.square(z) * -0.5 - 0.5 * LOG_2PI

    def _share(self, z):
        return (ops.erf(z * math.sqrt(0.5)) + 1) * 0.5

    def _quantile(self, p):
        return ops.erfinv(p * 2 - 1) * math.sqrt(2)


class Laplace(_LocScale):
    """Two exponential tails around loc."""

    _spread, _disorder = 2.0, 1 + math.log(2)

    def _noise(self, sample_shape):
        return self._quantile(self._uniform(sample_shape, self.loc))

    def _density(self, z):
        return -ops.abs(z) - math.log(2)

    def _share(self, z):
        return 0.5 - 0.5 * ops.sign(z) * ops.expm1(-ops.abs(z))

    def _quantile(self, p):
        term = p - 0.5
        return -ops.sign(term) * ops.log1p(ops.abs(term) * -2)


class Cauchy(_LocScale):
    """Ratio of two normals; it has neither mean nor variance (NaN, infinity)."""

    _spread, _disorder, _centre = math.inf, math.log(4 * math.pi), math.nan

    def _noise(self, sample_shape):
        return self._quantile(self._uniform(sample_shape, self.loc))

    def _density(self, z):
        return -math.log(math.pi) - ops.log1p(ops.square(z))

    def _share(self, z):
        return ops.atan(z) / math.pi + 0.5

    def _quantile(self, p):
        return ops.tan((p - 0.5) * math.pi)


class Gumbel(_LocScale):
    """The largest of many."""

    _spread, _disorder, _centre = math.pi**2 / 6, 1 + EULER, EULER

    def _noise(self, sample_shape):
        return self._quantile(self._uniform(sample_shape, self.loc))

    def _density(self, z):
        return -z - ops.exp(-z)

    def _share(self, z):
        return ops.exp(-ops.exp(-z))

    def _quantile(self, p):
        return -ops.log(-ops.log(p))


class Logistic(_LocScale):
    """Of log odds: its share below is a sigmoid."""

    _spread, _disorder = math.pi**2 / 3, 2.0

    def _noise(self, sample_shape):
        return self._quantile(self._uniform(sample_shape, self.loc))

    def _density(self, z):
        return -z - 2 * ops.softplus(-z)

    def _share(self, z):
        return ops.sigmoid(z)

    def _quantile(self, p):
        return ops.log(p) - ops.log1p(-p)


class Uniform(Distribution):
    """Between low and high."""

    has_rsample = True
    arg_constraints = {"low": constraints.real, "high": constraints.real}
    _expanded = ("low", "high")

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast(low, high)
        super().__init__(self.low.shape, (), validate_args)
        if self._checked:
            from .distribution import require

            require("Uniform", "low", self.low < self.high, "low < high")

    @property
    def support(self):
        return constraints.interval(self.low, self.high)

    def rsample(self, sample_shape=()):
        like = self.low
        u = ops.rand(self._shaped(sample_shape), dtype=like.dtype, device=like.device)
        return self.low + u * (self.high - self.low)

    def _log_prob(self, value):
        inside = ops.logical_and(value >= self.low, value < self.high)
        return ops.log(inside.to(self.low.dtype)) - ops.log(self.high - self.low)

    def cdf(self, value):
        value = self._checked_value(value)
        return ops.clamp((value - self.low) / (self.high - self.low), 0.0, 1.0)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return ops.log(self.high - self.low)

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def variance(self):
        return ops.square(self.high - self.low) / 12

    @property
    def mode(self):
        return self.low * math.nan


class Exponential(ExponentialFamily):
    """Waiting time at a rate."""

    has_rsample = True
    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    _expanded = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast(rate)
        super().__init__(self.rate.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        like = self.rate
        u = ops.rand(self._shaped(sample_shape), dtype=like.dtype, device=like.device)
        return -ops.log1p(-u) / self.rate

    def _log_prob(self, value):
        return ops.log(self.rate) - self.rate * value

    def cdf(self, value):
        return -ops.expm1(-self.rate * self._checked_value(value))

    def icdf(self, value):
        return -ops.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - ops.log(self.rate)

    @property
    def mean(self):
        return ops.reciprocal(self.rate)

    @property
    def variance(self):
        return ops.square(self.mean)

    @property
    def mode(self):
        return ops.zeros_like(self.rate)


class _Half(Distribution):
    """The absolute value of a distribution around 0."""

    has_rsample = True
    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale, validate_args=None):
        (self.scale,) = broadcast(scale)
        self._whole = self._kind(ops.zeros_like(self.scale), self.scale, validate_args=False)
        super().__init__(self.scale.shape, (), validate_args)

    def expand(self, batch_shape, _instance=None):
        return type(self)(ops.expand(self.scale, list(batch_shape)), validate_args=False)

    def rsample(self, sample_shape=()):
        return ops.abs(self._whole.rsample(sample_shape))

    def _log_prob(self, value):
        inside = self._whole._log_prob(value) + math.log(2)
        return ops.where(value >= 0, inside, full_like(inside, -math.inf))

    def cdf(self, value):
        return 2 * self._whole.cdf(self._checked_value(value)) - 1

    def icdf(self, value):
        return self._whole.icdf((value + 1) / 2)

    def entropy(self):
        return self._whole.entropy() - math.log(2)

    @property
    def mode(self):
        return ops.zeros_like(self.scale)


class HalfNormal(_Half):
    """The absolute value of a normal number."""

    _kind = Normal

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return ops.square(self.scale) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The absolute value of a Cauchy number; its mean is infinite."""

    _kind = Cauchy

    @property
    def mean(self):
        return full_like(self.scale, math.inf)

    @property
    def variance(self):
        return full_like(self.scale, math.inf)
