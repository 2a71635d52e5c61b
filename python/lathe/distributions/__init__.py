"""Random variables: samples from the random stream, and the logarithm of their density.

rsample() is a function of the parameters (the same numbers, moved and scaled), so gradients flow
into them; sample() has no history. Parameters and values are checked unless validate_args=False.
"""

from . import constraints, transforms
from .combined import (
    Independent,
    LogNormal,
    MixtureSameFamily,
    MultivariateNormal,
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    TransformedDistribution,
    Weibull,
)
from .continuous import (
    Cauchy,
    Exponential,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Laplace,
    Logistic,
    Normal,
    Uniform,
)
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    Poisson,
)
from .distribution import Distribution, ExponentialFamily
from .gammas import Beta, Chi2, Dirichlet, Gamma, StudentT
from .kl import kl_divergence, register_kl
from .transforms import *  # noqa: F403

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution",
    "Exponential", "ExponentialFamily", "Gamma", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal",
    "Independent", "Laplace", "LogNormal", "Logistic", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "Pareto", "Poisson",
    "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "TransformedDistribution",
    "Uniform", "Weibull", "constraints", "kl_divergence", "register_kl", "transforms",
    *transforms.__all__,
]  # fmt: skip
