"""Divergences of distributions of different families, where they have a formula."""

import math

from .. import ops
from .combined import Pareto
from .continuous import Exponential, Gumbel, Laplace, Normal, Uniform
from .derived import ContinuousBernoulli
from .discrete import Bernoulli, Binomial, Poisson, _Chance
from .distribution import EULER, LOG_2PI
from .gammas import Beta, Gamma
from .kl import register_kl

# Where p has values that q never has.
_INFINITE = {
    Beta: (Pareto,), ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform), Poisson: (Bernoulli, Binomial),
}  # fmt: skip


def _parameter(d):
    return d.probs if isinstance(d, _Chance) else getattr(d, d._expanded[0])


def _infinite(p, q):
    return ops.zeros_like(_parameter(p) + _parameter(q)) + math.inf


for _p, _others in _INFINITE.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)


def _infinite_where(holds, found):
    return ops.where(holds, ops.zeros_like(found) + math.inf, found)


def _against_normal(p, q):
    """The mean of -log q(x), of x of p."""
    apart = p.variance + ops.square(p.mean - q.loc)
    return ops.log(q.scale) + 0.5 * LOG_2PI + apart / (2 * ops.square(q.scale))


def _against_gamma(q, mean, mean_log):
    a, b = q.concentration, q.rate
    return ops.lgamma(a) - a * ops.log(b) - (a - 1) * mean_log + b * mean


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * ops.log(q.rate) - q.rate)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _to_chance(p, q):
    return -p.mean * q.logits - ops.log1p(-q.probs) - q._log_norm() - p.entropy()


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_to_chance(p, q):
    return _infinite_where(ops.logical_or(p.high > 1, p.low < 0), _to_chance(p, q))


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p, q):
    return _against_normal(p, q) - p.entropy()


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    """Infinite where p has no variance."""
    return _infinite_where(p.alpha <= 2, _to_normal(p, q))


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _to_exponential(p, q):
    return q.rate * p.mean - ops.log(q.rate) - p.entropy()


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    return _infinite_where(p.alpha <= 1, _to_exponential(p, q))


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    return _infinite_where(p.low < 0, _to_exponential(p, q))


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    a, b = p.concentration1, p.concentration0
    mean_log = ops.digamma(a) - ops.digamma(a + b)
    return _against_gamma(q, p.mean, mean_log) - p.entropy()


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    return _against_gamma(q, p.mean, -ops.log(p.rate) - EULER) - p.entropy()


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    mean_log = ops.log(p.scale) + 1 / p.alpha
    found = _against_gamma(q, p.mean, mean_log) - p.entropy()
    return _infinite_where(p.alpha <= 1, found)


def _x_log_x(x):
    return ops.xlogy(x, x)


def _mean_log(low, high):
    """Of numbers that are uniform between them."""
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    found = _against_gamma(q, p.mean, _mean_log(p.low, p.high)) - p.entropy()
    return _infinite_where(p.low < 0, found)


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    over, under = _mean_log(p.low, p.high), _mean_log(1 - p.high, 1 - p.low)
    found = q._log_beta() - (q.concentration1 - 1) * over - (q.concentration0 - 1) * under
    return _infinite_where(ops.logical_or(p.high > 1, p.low < 0), found - p.entropy())


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _to_uniform(p, q):
    found = ops.log(q.high - q.low) - p.entropy()
    return _infinite_where(ops.logical_or(q.low > 0, q.high < 1), found)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    mean_log = _mean_log(p.low, p.high)
    found = (q.alpha + 1) * mean_log - ops.log(q.alpha) - q.alpha * ops.log(q.scale)
    return _infinite_where(p.low < q.scale, found - p.entropy())


def _against_gumbel(q, mean, mean_exp):
    """mean_exp: of exp(-x / scale) of q."""
    return ops.log(q.scale) + (mean - q.loc) / q.scale + ops.exp(q.loc / q.scale) * mean_exp


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    product = p.rate * q.scale
    return _against_gumbel(q, p.mean, product / (product + 1)) - p.entropy()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    mean_exp = ops.exp(-p.concentration * ops.log1p(1 / (p.rate * q.scale)))
    return _against_gumbel(q, p.mean, mean_exp) - p.entropy()


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    mean_exp = ops.exp(0.5 * ops.square(p.scale / q.scale) - p.loc / q.scale)
    return _against_gumbel(q, p.mean, mean_exp) - p.entropy()


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    low, high = p.low / q.scale, p.high / q.scale
    mean_exp = (ops.exp(-low) - ops.exp(-high)) / (high - low)
    return _against_gumbel(q, p.mean, mean_exp) - p.entropy()


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    apart = p.loc - q.loc
    z = apart / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * ops.exp(-0.5 * ops.square(z))
    distance = near + apart * ops.erf(math.sqrt(0.5) * z)
    return ops.log(2 * q.scale) + distance / q.scale - p.entropy()
