"""kl_divergence(p, q): how far q is from p, for the pairs of distributions that have a formula."""

import math

from .. import _lathe, ops
from .combined import Independent, LogNormal, MultivariateNormal, Pareto, TransformedDistribution
from .continuous import Cauchy, Exponential, Gumbel, HalfNormal, Laplace, Normal, Uniform
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import EULER
from .gammas import Beta, Dirichlet, Gamma
from .matrices import LowRankMultivariateNormal
from .transforms import Transform, add_up

_FORMULAS = {}


def register_kl(type_p, type_q):
    """Decorates a function(p, q) that is the divergence of these types and their subclasses."""

    def decorate(function):
        _FORMULAS[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p, q):
    """The Kullback-Leibler divergence E_p[log p - log q]; UnsupportedError where there is no
    formula."""
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            if (a, b) in _FORMULAS:
                return _FORMULAS[a, b](p, q)
    raise _lathe.UnsupportedError(
        "there is no formula for these two", op="kl_divergence",
        got=f"{type(p).__name__} and {type(q).__name__}", expected="two of one family",
        next="estimate it: (p.log_prob(x) - q.log_prob(x)).mean() with x = p.sample((n,))",
    )  # fmt: skip


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = ops.square(p.scale / q.scale)
    apart = ops.square((p.loc - q.loc) / q.scale)
    return 0.5 * (ratio + apart - 1 - ops.log(ratio))


@register_kl(LogNormal, LogNormal)
def _log_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p._whole, q._whole)


def _parts(p, q, log_ratio):
    """p * log(p / q): infinite where q is 0, and 0 where p is."""
    parts = ops.where(ops.eq(q, 0), math.inf, p * log_ratio)
    return ops.where(ops.eq(p, 0), 0.0, parts)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    # Logits are kept finite, so that what q excludes has to be asked of its probabilities.
    yes = ops.softplus(-q.logits) - ops.softplus(-p.logits)
    no = ops.softplus(q.logits) - ops.softplus(p.logits)
    return _parts(p.probs, q.probs, yes) + _parts(1 - p.probs, 1 - q.probs, no)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    ratio = p.probs * (p.logits - q.logits) + ops.log1p(-p.probs) - ops.log1p(-q.probs)
    found = p.total_count * ratio
    return ops.where(p.total_count > q.total_count, ops.zeros_like(found) + math.inf, found)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - ops.log1p(-q.probs) / p.probs - q.logits


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    return ops.sum(_parts(p.probs, q.probs, p.logits - q.logits), [-1])


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categories, q._categories)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (ops.log(p.rate) - ops.log(q.rate)) - (p.rate - q.rate)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - ops.log(ratio) - 1


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    a, b = p.concentration, q.concentration
    scale = b * ops.log(p.rate / q.rate) + ops.lgamma(b) - ops.lgamma(a)
    return scale + (a - b) * ops.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Beta, Beta)
def _beta(p, q):
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    found = q._log_beta() - p._log_beta()
    found = found + (a - c) * ops.digamma(a) + (b - d) * ops.digamma(b)
    return found + (c + d - a - b) * ops.digamma(a + b)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = ops.sum(a, [-1])
    norm = ops.lgamma(total) - ops.lgamma(ops.sum(b, [-1]))
    norm = norm - ops.sum(ops.lgamma(a) - ops.lgamma(b), [-1])
    spread = ops.digamma(a) - ops.unsqueeze(ops.digamma(total), -1)
    return norm + ops.sum((a - b) * spread, [-1])


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, apart = p.scale / q.scale, ops.abs(p.loc - q.loc)
    return -ops.log(ratio) + apart / q.scale + ratio * ops.exp(-apart / p.scale) - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, apart = p.scale / q.scale, p.loc / q.scale
    moved = q.loc / q.scale - apart
    first = -ops.log(ratio) - moved + ratio * EULER
    return first + ops.exp(moved + ops.lgamma(1 + ratio)) - (1 + EULER)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    wide = ops.square(p.scale + q.scale) + ops.square(p.loc - q.loc)
    return ops.log(wide) - ops.log(4 * p.scale * q.scale)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    found = ops.log((q.high - q.low) / (p.high - p.low))
    outside = ops.logical_or(q.low > p.low, q.high < p.high)
    return ops.where(outside, ops.zeros_like(found) + math.inf, found)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _vectors(p, q):
    spread = ops.sum(q._distance(ops.transpose(p._root(), -1, -2), rows=True), [-1])
    apart = q._distance(q.loc - p.loc)
    return q._half_log_det() - p._half_log_det() + 0.5 * (spread + apart - int(p.event_shape[0]))


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        return kl_divergence(object(), object())
    return add_up(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    found = q.alpha * ops.log(p.scale / q.scale) - ops.log(ratio) + ratio - 1
    return ops.where(p.scale < q.scale, ops.zeros_like(found) + math.inf, found)


def _alike(a, b):
    """Are two transforms, or what they hold, the same function?"""
    if isinstance(a, _lathe.Tensor) or isinstance(b, _lathe.Tensor):
        return a is b or bool(ops.all(a == b))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, Transform):
        return type(a) is type(b) and all(_alike(v, vars(b)[k]) for k, v in vars(a).items())
    return a == b


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if not _alike(p.transforms, q.transforms):
        raise _lathe.UnsupportedError(
            "the transforms differ", op="kl_divergence", got=f"{p.transforms} and {q.transforms}",
            expected="the same transforms, with the same parameters",
            next="estimate it from samples",
        )  # fmt: skip
    event = p._event_dim - len(p.base_dist.event_shape)
    return add_up(kl_divergence(p.base_dist, q.base_dist), event)
