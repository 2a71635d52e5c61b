"""Distributions made of others: several as one, mixtures, transformed ones, and normal vectors."""

import math

from .. import _lathe, ops
from .._dtypes import finfo
from .._functions import as_tensor
from .._grad_mode import no_grad
from . import constraints
from .continuous import Exponential, Gumbel, Logistic, Normal
from .discrete import Categorical, _Chance, _OfCategories
from .distribution import EULER, LOG_2PI, Distribution, broadcast, shaped
from .transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    add_up,
)


class Independent(Distribution):
    """The last axes of the batch as axes of one value."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        batch, n = base_distribution.batch_shape, reinterpreted_batch_ndims
        if n > len(batch):
            raise _lathe.ValueError(
                "there are not as many axes in the batch", op="Independent", got=n,
                expected=f"at most {len(batch)}", next="give the base a larger batch",
            )  # fmt: skip
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        cut = len(batch) - n
        event = (*batch[cut:], *base_distribution.event_shape)
        super().__init__(batch[:cut], event, validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @property
    def support(self):
        base = self.base_dist.support
        return base and constraints.independent(base, self.reinterpreted_batch_ndims)

    def expand(self, batch_shape, _instance=None):
        more = self.event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *more))
        return Independent(base, self.reinterpreted_batch_ndims, False)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_dist!r}, {self.reinterpreted_batch_ndims})"

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def _log_prob(self, value):
        return add_up(self.base_dist._log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return add_up(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    mean = property(lambda self: self.base_dist.mean)
    variance = property(lambda self: self.base_dist.variance)
    mode = property(lambda self: self.base_dist.mode)


class MixtureSameFamily(Distribution):
    """One of the distributions along the last axis of a batch, chosen by a Categorical."""

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        components = component_distribution.batch_shape
        if (
            not isinstance(mixture_distribution, Categorical)
            or not components
            or (int(components[-1]) != int(mixture_distribution._events))
        ):
            raise _lathe.ValueError(
                "the chances are not those of the components", op="MixtureSameFamily",
                got=f"{type(mixture_distribution).__name__}, components {components}",
                expected="a Categorical with one chance for each of the last axis of components",
                next="check the shapes",
            )  # fmt: skip
        super().__init__(components[:-1], component_distribution.event_shape, validate_args)

    @property
    def support(self):
        return self.component_distribution.support

    def expand(self, batch_shape, _instance=None):
        count = self.component_distribution.batch_shape[-1]
        return MixtureSameFamily(
            self.mixture_distribution.expand(batch_shape),
            self.component_distribution.expand((*batch_shape, count)), False,
        )  # fmt: skip

    def __repr__(self):
        parts = (self.mixture_distribution, self.component_distribution)
        return f"{type(self).__name__}(\n  {parts[0]!r},\n  {parts[1]!r})"

    def _apart(self, x):
        return ops.unsqueeze(x, x.ndim - len(self.event_shape))

    def sample(self, sample_shape=()):
        with no_grad():
            first = shaped(sample_shape)
            drawn = self.component_distribution.sample(first)
            chosen = self.mixture_distribution.sample(first)
            axis = len(first) + len(self.batch_shape)
            index = chosen.reshape([*chosen.shape, 1, *[1] * len(self.event_shape)])
            sizes = [*drawn.shape[:axis], 1, *drawn.shape[axis + 1 :]]
            return ops.squeeze(ops.gather(drawn, axis, ops.expand(index, sizes)), [axis])

    def _log_prob(self, value):
        each = self.component_distribution._log_prob(self._apart(value))
        chances = ops.log_softmax(self.mixture_distribution.logits, -1)
        return ops.logsumexp(each + chances, [-1])

    def cdf(self, value):
        each = self.component_distribution.cdf(self._apart(value))
        return ops.sum(each * self.mixture_distribution.probs, [-1])

    def _weighed(self, values):
        probs, event = self.mixture_distribution.probs, len(self.event_shape)
        probs = probs.reshape([*probs.shape, *[1] * event])
        return ops.sum(probs * values, [-1 - event])

    @property
    def mean(self):
        return self._weighed(self.component_distribution.mean)

    @property
    def variance(self):
        parts = self.component_distribution
        apart = parts.mean - self._apart(self.mean)
        return self._weighed(parts.variance) + self._weighed(apart * apart)


class TransformedDistribution(Distribution):
    """The distribution of transforms(x), x of the base."""

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = (
            list(transforms) if isinstance(transforms, (list, tuple)) else [transforms]
        )
        self._whole = ComposeTransform(self.transforms)
        own = max(len(base_distribution.event_shape), self._whole.event_dim)
        shape = base_distribution.shape
        for t in self.transforms:
            shape = t.forward_shape(shape)
        self._event_dim = own
        cut = len(shape) - own - self._whole._out_dim + self._whole.event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @property
    def support(self):
        """What the last transform gives; None: not known."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = support and len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more else support

    def expand(self, batch_shape, _instance=None):
        more = self.base_dist.shape[len(self.batch_shape) :]
        more = more[: len(more) - len(self.base_dist.event_shape)]
        base = self.base_dist.expand((*batch_shape, *more))
        made = super().expand(batch_shape)
        made.base_dist = base
        return made

    def rsample(self, sample_shape=()):
        return self._whole(self.base_dist.rsample(sample_shape))

    def sample(self, sample_shape=()):
        with no_grad():
            return self._whole(self.base_dist.sample(sample_shape))

    def _log_prob(self, value):
        total, event = 0.0, len(self.event_shape)
        for t in reversed(self.transforms):
            x, event = t._inv_call(value), event + t.event_dim - t._out_dim
            total = total - add_up(t.log_abs_det_jacobian(x, value), event - t.event_dim)
            value = x
        base = self.base_dist.log_prob(value)
        return total + add_up(base, event - len(self.base_dist.event_shape))

    def _turned(self, share):
        """The share below, or above where the transforms turn the order round."""
        if not self._whole.bijective:
            raise _lathe.UnsupportedError(
                "several values of the base may give the same value", op=type(self).__name__,
                got=repr(self.transforms), expected="transforms that are bijective",
                next="count samples, or use log_prob()",
            )  # fmt: skip
        sign = self._whole.sign
        return share if isinstance(sign, int) and sign == 1 else sign * (share - 0.5) + 0.5

    def cdf(self, value):
        value = self._whole._inv_call(as_tensor(value))
        if self._checked:
            self.base_dist._check_value(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._whole(self.base_dist.icdf(self._turned(value)))


class LogNormal(TransformedDistribution):
    """exp of a normal number."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)

    @property
    def mean(self):
        return ops.exp(self.loc + ops.square(self.scale) / 2)

    @property
    def variance(self):
        spread = ops.square(self.scale)
        return ops.expm1(spread) * ops.exp(2 * self.loc + spread)

    @property
    def mode(self):
        return ops.exp(self.loc - ops.square(self.scale))

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class Weibull(TransformedDistribution):
    """scale times a power of an exponential number."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast(scale, concentration)
        base = Exponential(ops.ones_like(self.scale), validate_args)
        parts = [PowerTransform(1 / self.concentration), AffineTransform(0.0, self.scale)]
        super().__init__(base, parts, validate_args)

    _expanded = ("scale", "concentration")

    def _moment(self, k):
        return ops.exp(ops.lgamma(1 + k / self.concentration))

    @property
    def mode(self):
        k = self.concentration
        return self.scale * ops.clamp_min(1 - 1 / k, 0.0) ** (1 / k)

    @property
    def mean(self):
        return self.scale * self._moment(1)

    @property
    def variance(self):
        return ops.square(self.scale) * (self._moment(2) - ops.square(self._moment(1)))

    def entropy(self):
        k = self.concentration
        return EULER * (1 - 1 / k) + ops.log(self.scale / k) + 1


class Pareto(TransformedDistribution):
    """scale times exp of an exponential number: a power law above scale."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast(scale, alpha)
        base = Exponential(self.alpha, validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0.0, self.scale)], validate_args)

    _expanded = ("scale", "alpha")

    @property
    def support(self):
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self):
        a = ops.clamp_min(self.alpha, 1.0)
        return a * self.scale / (a - 1)

    @property
    def variance(self):
        a = ops.clamp_min(self.alpha, 2.0)
        return ops.square(self.scale) * a / (ops.square(a - 1) * (a - 2))

    @property
    def mode(self):
        return self.scale

    def entropy(self):
        return ops.log(self.scale / self.alpha) + 1 + 1 / self.alpha


class RelaxedBernoulli(TransformedDistribution, _Chance):
    """The sigmoid of logistic noise around logits, over a temperature: Bernoulli at temperature
    0."""

    has_rsample = True
    support = constraints.unit_interval

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        given, _ = self._take(probs, logits)
        self.temperature = temperature
        base = Logistic(self.logits / temperature, ops.ones_like(given) / temperature, False)
        TransformedDistribution.__init__(self, base, SigmoidTransform(), validate_args)


class RelaxedOneHotCategorical(_OfCategories):
    """Shares near a one-hot vector: the softmax of logits with Gumbel noise, over a temperature."""

    has_rsample = True
    support = constraints.simplex

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape=()):
        like = self.logits
        noise = Gumbel(ops.zeros_like(like), ops.ones_like(like), False).rsample(sample_shape)
        return ops.softmax((like + noise) / self.temperature, -1)

    def _log_prob(self, value):
        k, t = int(self.event_shape[0]), self.temperature
        t = t if isinstance(t, _lathe.Tensor) else ops.full_like(value[..., 0], t)
        log_value = ops.log(ops.clamp_min(value, finfo(value.dtype).tiny))  # a share may be 0
        score = self.logits - ops.unsqueeze(t, -1) * log_value
        total = ops.sum(score - log_value, [-1]) - k * ops.logsumexp(score, [-1])
        return total + math.lgamma(k) + (k - 1) * ops.log(t)


def _below(lower, vectors):
    """x with lower @ x = vectors, row after row."""
    found = []
    for i in range(int(lower.shape[-1])):
        rest = vectors[..., i]
        for k, x in enumerate(found):
            rest = rest - lower[..., i, k] * x
        found.append(rest / lower[..., i, i])
    return ops.stack(found, -1)


class MultivariateNormal(Distribution):
    """Normal vectors: a mean, and a covariance, its inverse, or its triangular root."""

    has_rsample = True
    support = constraints.real_vector
    arg_constraints = {"loc": constraints.real_vector, "scale_tril": constraints.lower_cholesky}

    def __init__(
        self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None,
        validate_args=None,
    ):  # fmt: skip
        all_three = (covariance_matrix, precision_matrix, scale_tril)
        given = [m for m in all_three if m is not None]
        if len(given) != 1 or loc.ndim < 1 or given[0].ndim < 2:
            raise _lathe.ValueError(
                "a normal vector needs a mean and one matrix", op="MultivariateNormal",
                got=f"{len(given)} matrices", expected="covariance_matrix, precision_matrix or "
                "scale_tril", next="give one of them",
            )  # fmt: skip
        names = ("covariance_matrix", "precision_matrix", "scale_tril")
        self._given = next(n for n, m in zip(names, all_three) if m is not None)
        if scale_tril is None:
            from .. import linalg

            if covariance_matrix is None:
                covariance_matrix = linalg.inv(precision_matrix)
            scale_tril = linalg.cholesky(covariance_matrix)
        batch = (loc[..., 0] + scale_tril[..., 0, 0]).shape
        n = loc.shape[-1]
        self.loc = ops.expand(loc, [*batch, n])
        self.scale_tril = ops.expand(scale_tril, [*batch, n, n])
        super().__init__(batch, (n,), validate_args)

    _expanded = ("loc", "scale_tril")

    def _names(self):
        return ["loc", self._given]

    @property
    def covariance_matrix(self):
        return ops.matmul(self.scale_tril, ops.transpose(self.scale_tril, -1, -2))

    @property
    def precision_matrix(self):
        from .. import linalg

        return linalg.inv(self.covariance_matrix)

    def rsample(self, sample_shape=()):
        like = self.loc
        noise = ops.randn(self._shaped(sample_shape), dtype=like.dtype, device=like.device)
        return self.loc + ops.squeeze(ops.matmul(self.scale_tril, ops.unsqueeze(noise, -1)), [-1])

    def _half_log_det(self):
        n = int(self.event_shape[0])
        return sum(ops.log(self.scale_tril[..., i, i]) for i in range(n))

    def _distance(self, x, rows=False):
        """x^T C^-1 x of the covariance C; rows: of each row of x."""
        lower = ops.unsqueeze(self.scale_tril, -3) if rows else self.scale_tril
        z = _below(lower, x)
        return ops.sum(z * z, [-1])

    def _root(self):
        """A matrix R with R @ R.T the covariance."""
        return self.scale_tril

    def _log_prob(self, value):
        n = int(self.event_shape[0])
        return -0.5 * (n * LOG_2PI + self._distance(value - self.loc)) - self._half_log_det()

    def entropy(self):
        return 0.5 * int(self.event_shape[0]) * (1 + LOG_2PI) + self._half_log_det()

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        return ops.sum(ops.square(self.scale_tril), [-1])
