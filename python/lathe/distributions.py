"""Random variables: samples from the one random stream, and the logarithm of their density.

rsample() is a function of the parameters (the same numbers, moved and scaled), so gradients flow
into them; sample() has no history.
"""

import math

from . import _lathe, ops
from ._functions import as_tensor
from ._grad_mode import no_grad
from .nn import functional as F

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal"]


class Distribution:
    """What they have in common: shape is that of one sample."""

    shape = ()

    def rsample(self, shape=()):
        raise _lathe.UnsupportedError(
            "its samples are not a smooth function of its parameters",
            op=type(self).__name__,
            got="rsample()",
            expected="a distribution that is moved and scaled, such as Normal",
            next="use sample() and log_prob()",
        )

    def sample(self, shape=()):
        with no_grad():
            return self.rsample(shape)

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, at value."""
        raise NotImplementedError


def _shaped(shape, own):
    return (*((shape,) if isinstance(shape, int) else shape), *own)


class Normal(Distribution):
    """Gaussian: mean loc, standard deviation scale."""

    def __init__(self, loc, scale):
        self.loc, self.scale = as_tensor(loc), as_tensor(scale)
        _require(self, "loc", ops.logical_not(ops.isnan(self.loc)), "no NaN")
        _require(self, "scale", self.scale > 0, "scale > 0")
        self.shape = tuple((self.loc + self.scale).shape)

    def rsample(self, shape=()):
        noise = ops.randn(_shaped(shape, self.shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + self.scale * noise

    def log_prob(self, value):
        z = (value - self.loc) / self.scale
        return ops.square(z) * -0.5 - ops.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def entropy(self):
        return ops.log(self.scale) + 0.5 * math.log(2 * math.pi * math.e) + self.loc * 0


class Bernoulli(Distribution):
    """1 with probability probs, or the sigmoid of logits; else 0."""

    def __init__(self, probs=None, logits=None):
        if (probs is None) == (logits is None):
            raise _one_of("Bernoulli")
        self.logits = None if logits is None else as_tensor(logits)
        self.probs = ops.sigmoid(self.logits) if probs is None else as_tensor(probs)
        _require_probabilities(self, self.probs, probs is not None)
        self.shape = tuple(self.probs.shape)

    def sample(self, shape=()):
        with no_grad():
            chance = ops.rand(
                _shaped(shape, self.shape), dtype=self.probs.dtype, device=self.probs.device
            )
            return (chance < self.probs).to(self.probs.dtype)

    def log_prob(self, value):
        if self.logits is not None:
            return value * self.logits - ops.softplus(self.logits)
        return ops.where(value == 1, ops.log(self.probs), ops.log1p(-self.probs))


class Categorical(Distribution):
    """0, 1, ... with these probabilities along the last axis, or with the softmax of logits."""

    def __init__(self, probs=None, logits=None):
        if (probs is None) == (logits is None):
            raise _one_of("Categorical")
        if probs is not None:
            probs = as_tensor(probs)
            shares = probs / ops.sum(probs, -1, True)
            _require_probabilities(self, shares, True)
            logits = ops.log(shares)
        self.logits = F.log_softmax(as_tensor(logits), -1)
        _require_probabilities(self, ops.exp(self.logits), False)
        self.shape = tuple(self.logits.shape[:-1])

    @property
    def probs(self):
        return ops.exp(self.logits)

    def sample(self, shape=()):
        """By the largest of logits + noise (Gumbel 1954)."""
        with no_grad():
            full = _shaped(shape, tuple(self.logits.shape))
            chance = ops.rand(full, dtype=self.logits.dtype, device=self.logits.device)
            return ops.argmax(self.logits - ops.log(-ops.log(chance)), -1)

    def log_prob(self, value):
        picked = ops.unsqueeze(value.to(_lathe.int64), -1)
        rows = ops.expand(self.logits, [*value.shape, self.logits.shape[-1]])
        return ops.squeeze(ops.gather(rows, -1, picked), [-1])


def _require(distribution, parameter, holds, expected):
    """ValueError that names the parameter, unless `holds` (bool) is true of all its elements. In a
    trace the elements are not known, and nothing is required."""
    if _lathe._symbolic(holds) or bool(ops.all(holds)):
        return
    raise _lathe.ValueError(
        f"the parameter {parameter} is outside of its domain",
        op=type(distribution).__name__,
        got=f"{int(ops.sum(ops.logical_not(holds)))} of {holds.numel()} elements outside",
        expected=expected,
        next=f"check {parameter} before the distribution is made",
    )


def _require_probabilities(distribution, probs, given):
    """Of logits, those that a NaN came from."""
    holds = ops.logical_and(probs >= 0, probs <= 1)
    if given:
        _require(distribution, "probs", holds, "probabilities: 0 or more, and not all 0")
    else:
        _require(distribution, "logits", holds, "numbers: no NaN, and no infinity among several")


def _one_of(name):
    return _lathe.ValueError(
        "either probs or logits are given",
        op=name,
        got="both or none",
        expected="one of them",
        next="leave the other out",
    )
