"""Distributions of counts and categories."""

import math

from .. import _lathe, ops
from .._dtypes import finfo
from .._grad_mode import no_grad
from . import constraints
from .distribution import Distribution, ExponentialFamily, broadcast, one_of


def _inside(probs):
    """Probabilities apart from 0 and 1, where a logarithm has no derivative."""
    step = finfo(probs.dtype).eps
    return ops.clamp(probs, step, 1 - step)


def _log_odds(probs):
    """log(p / (1 - p)), finite at 0 and 1."""
    p = _inside(probs)
    return ops.log(p) - ops.log1p(-p)


class _Chance(Distribution):
    """Those of a chance, given as it is or as log odds."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    _expanded = ("_probs", "_logits", "probs", "logits")

    def _take(self, probs, logits, *others):
        """The chance in the form that was given, and others, in one shape."""
        one_of(type(self).__name__, probs, logits)
        given, *others = broadcast(probs if logits is None else logits, *others)
        vars(self)["probs" if logits is None else "logits"] = given
        return given, others

    def __getattr__(self, name):
        if name == "probs" and "logits" in vars(self):
            return ops.sigmoid(vars(self)["logits"])
        if name == "logits" and "probs" in vars(self):
            return _log_odds(vars(self)["probs"])
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")

    def _log_chance(self, yes, no):
        """yes * log(p) + no * log(1 - p)."""
        return yes * ops.logsigmoid(self.logits) + no * ops.logsigmoid(-self.logits)


class Bernoulli(_Chance, ExponentialFamily):
    """1 with probability probs, or the sigmoid of logits; else 0."""

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        given, _ = self._take(probs, logits)
        super().__init__(given.shape, (), validate_args)

    def sample(self, sample_shape=()):
        with no_grad():
            p = self.probs
            chance = ops.rand(self._shaped(sample_shape), dtype=p.dtype, device=p.device)
            return (chance < p).to(p.dtype)

    def _log_prob(self, value):
        return self._log_chance(value, 1 - value)

    def entropy(self):
        return -self._log_chance(self.probs, 1 - self.probs)

    def enumerate_support(self, expand=True):
        values = ops.arange(0, 2, dtype=self.probs.dtype).reshape([2, *[1] * len(self.batch_shape)])
        return ops.expand(values, [2, *self.batch_shape]) if expand else values

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @property
    def mode(self):
        p = self.probs
        return ops.where(ops.eq(p, 0.5), p * float("nan"), (p > 0.5).to(p.dtype))


class Geometric(_Chance):
    """How many failures there are before the first success."""

    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        given, _ = self._take(probs, logits)
        super().__init__(given.shape, (), validate_args)

    def sample(self, sample_shape=()):
        with no_grad():
            u = self._uniform(sample_shape, self.probs)
            return ops.floor(ops.log(u) / ops.log1p(-self.probs))

    def _log_prob(self, value):
        p = self.probs
        sure = ops.logical_and(ops.eq(value, 0), ops.eq(p, 1))
        return value * ops.log1p(-ops.where(sure, 0.0, p)) + ops.log(p)

    def entropy(self):
        return -self._log_chance(self.probs, 1 - self.probs) / self.probs

    @property
    def mean(self):
        return 1 / self.probs - 1

    @property
    def variance(self):
        return (1 / self.probs - 1) / self.probs

    @property
    def mode(self):
        return ops.zeros_like(self.probs)


def _log_ways(n, k):
    return ops.lgamma(n + 1) - ops.lgamma(k + 1) - ops.lgamma(n - k + 1)


class Binomial(_Chance):
    """How many of total_count trials succeed."""

    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        given, (self.total_count,) = self._take(probs, logits, total_count)
        super().__init__(given.shape, (), validate_args)

    _expanded = (*_Chance._expanded, "total_count")

    def _names(self):
        return ["total_count", *super()._names()]

    @property
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    def sample(self, sample_shape=()):
        with no_grad():
            sizes = self._shaped(sample_shape)
            return ops.binomial(ops.expand(self.total_count, sizes), ops.expand(self.probs, sizes))

    def _log_prob(self, value):
        n = self.total_count
        return _log_ways(n, value) + self._log_chance(value, n - value)

    def enumerate_support(self, expand=True):
        most = int(ops.amax(self.total_count))
        values = ops.arange(0, most + 1, dtype=self.total_count.dtype)
        values = values.reshape([most + 1, *[1] * len(self.batch_shape)])
        return ops.expand(values, [most + 1, *self.batch_shape]) if expand else values

    def entropy(self):
        log_prob = self._log_prob(self.enumerate_support())
        never = ops.eq(log_prob, -math.inf)  # adds nothing
        log_prob = ops.where(never, ops.zeros_like(log_prob), log_prob)
        return -ops.sum(ops.exp(log_prob) * log_prob, [0])

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    @property
    def mode(self):
        most = ops.floor((self.total_count + 1) * self.probs)
        return ops.minimum(most, self.total_count)


class NegativeBinomial(_Chance):
    """How many successes there are before total_count failures."""

    support = constraints.nonnegative_integer
    _expanded = (*_Chance._expanded, "total_count")

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        given, (self.total_count,) = self._take(probs, logits, total_count)
        super().__init__(given.shape, (), validate_args)

    def _names(self):
        return ["total_count", *super()._names()]

    def sample(self, sample_shape=()):
        with no_grad():
            sizes = self._shaped(sample_shape)
            rate = ops.standard_gamma(ops.expand(self.total_count, sizes))
            return ops.poisson(rate * ops.exp(self.logits))

    def _log_prob(self, value):
        n = self.total_count
        ways = ops.lgamma(n + value) - ops.lgamma(value + 1) - ops.lgamma(n)
        return self._log_chance(value, n) + ways

    @property
    def mean(self):
        return self.total_count * ops.exp(self.logits)

    @property
    def variance(self):
        return self.mean / ops.sigmoid(-self.logits)

    @property
    def mode(self):
        return ops.clamp_min(ops.floor((self.total_count - 1) * ops.exp(self.logits)), 0.0)


class Poisson(ExponentialFamily):
    """How many events there are at a rate."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _expanded = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast(rate)
        super().__init__(self.rate.shape, (), validate_args)

    def sample(self, sample_shape=()):
        with no_grad():
            return ops.poisson(ops.expand(self.rate, self._shaped(sample_shape)))

    def _log_prob(self, value):
        return ops.xlogy(value, self.rate) - self.rate - ops.lgamma(value + 1)

    @property
    def mean(self):
        return self.rate

    @property
    def variance(self):
        return self.rate

    @property
    def mode(self):
        return ops.floor(self.rate)


class Categorical(Distribution):
    """0, 1, ... with these probabilities along the last axis, or with the softmax of logits."""

    has_enumerate_support = True
    arg_constraints = {"logits": constraints.real_vector}
    _expanded = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        from .distribution import require

        one_of(type(self).__name__, probs, logits)
        self._given = "probs" if logits is None else "logits"
        (given,) = broadcast(probs if logits is None else logits)
        if given.ndim == 0:
            raise _lathe.ValueError(
                "one number says nothing about categories", op=type(self).__name__,
                got=f"{self._given} of no axis", expected="an axis of categories, the last",
                next="give one number for each category",
            )  # fmt: skip
        if logits is None:
            shares = given / ops.sum(given, [-1], True)
            holds = ops.logical_and(shares >= 0, shares <= 1)
            require("Categorical", "probs", holds, "probabilities: 0 or more, and not all 0")
            self.probs, self.logits = shares, ops.log(_inside(shares))
        else:
            self.logits = ops.log_softmax(given, -1)
            require("Categorical", "logits", ops.logical_and(self.probs >= 0, self.probs <= 1),
                    "numbers: no NaN, and no infinity among several")  # fmt: skip
        self._events = self.logits.shape[-1]
        super().__init__(self.logits.shape[:-1], (), False)
        self._checked = Distribution._validate if validate_args is None else validate_args

    def __getattr__(self, name):
        if name == "probs" and "logits" in vars(self):
            return ops.exp(self.logits)
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")

    def _names(self):
        return [self._given]

    @property
    def param_shape(self):
        return tuple(self.logits.shape)

    @property
    def support(self):
        return constraints.integer_interval(0, int(self._events) - 1)

    def sample(self, sample_shape=()):
        """By the largest of logits + noise (Gumbel 1954)."""
        with no_grad():
            like = ops.log(self.probs)  # of probability 0 never
            sizes = (*self._shaped(sample_shape), self._events)
            chance = ops.rand(sizes, dtype=like.dtype, device=like.device)
            return ops.argmax(like - ops.log(-ops.log(chance)), -1)

    def _log_prob(self, value):
        picked = ops.unsqueeze(value.to(_lathe.int64), -1)
        total = ops.zeros_like(picked).to(self.logits.dtype) + self.logits
        picked = ops.expand(picked, [*total.shape[:-1], 1])
        return ops.squeeze(ops.gather(total, -1, picked), [-1])

    def entropy(self):
        lowest = finfo(self.logits.dtype).min  # 0 times it is 0
        return -ops.sum(self.probs * ops.clamp_min(self.logits, lowest), [-1])

    def enumerate_support(self, expand=True):
        values = ops.arange(0, self._events).reshape([self._events, *[1] * len(self.batch_shape)])
        return ops.expand(values, [self._events, *self.batch_shape]) if expand else values

    @property
    def mean(self):
        return self.logits[..., 0] * float("nan")

    @property
    def variance(self):
        return self.mean

    @property
    def mode(self):
        return ops.argmax(self.probs, -1)


class _OfCategories(Distribution):
    """Vectors that are made of the draws of a Categorical."""

    def __init__(self, probs, logits, validate_args):
        self._categories = Categorical(probs, logits, validate_args)
        super().__init__(self._categories.batch_shape, (self._categories._events,), validate_args)

    probs = property(lambda self: self._categories.probs)
    logits = property(lambda self: self._categories.logits)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape)
        made._categories = self._categories.expand(batch_shape)
        return made


class OneHotCategorical(_OfCategories):
    """A 1 at the place of a category, 0 elsewhere."""

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(probs, logits, validate_args)

    def _hot(self, places):
        numbers = ops.arange(0, self.event_shape[0])
        return ops.eq(ops.unsqueeze(places, -1), numbers).to(self.logits.dtype)

    def sample(self, sample_shape=()):
        return self._hot(self._categories.sample(sample_shape))

    def _log_prob(self, value):
        return self._categories._log_prob(ops.argmax(value, -1))

    def entropy(self):
        return self._categories.entropy()

    def enumerate_support(self, expand=True):
        return self._hot(self._categories.enumerate_support(expand))

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @property
    def mode(self):
        return self._hot(self._categories.mode)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose samples have the derivative of the probabilities (Bengio et al.
    2013)."""

    has_rsample = True

    def rsample(self, sample_shape=()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OfCategories):
    """How often each category is drawn in total_count draws."""

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self.total_count = int(total_count)
        super().__init__(probs, logits, validate_args)

    @property
    def support(self):
        return constraints.independent(constraints.nonnegative_integer, 1)

    def sample(self, sample_shape=()):
        first = (sample_shape,) if isinstance(sample_shape, int) else tuple(sample_shape)
        drawn = ops.unsqueeze(self._categories.sample((self.total_count, *first)), -1)
        hot = ops.eq(drawn, ops.arange(0, self.event_shape[0])).to(self.logits.dtype)
        return ops.sum(hot, [0])

    def _log_prob(self, value):
        never = ops.logical_and(ops.eq(value, 0), ops.eq(self.logits, -math.inf))
        parts = value * ops.where(never, 0.0, self.logits)
        ways = ops.lgamma(ops.sum(value, [-1]) + 1) - ops.sum(ops.lgamma(value + 1), [-1])
        return ways + ops.sum(parts, [-1])

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def entropy(self):
        """That of all draws in order, less what the orders of the same counts have in common."""
        n = self.total_count
        counts = Binomial(n, probs=self.probs, validate_args=False)
        values = counts.enumerate_support(False)
        orders = ops.exp(counts._log_prob(values)) * ops.lgamma(values + 1)
        in_order = n * self._categories.entropy()
        return in_order - math.lgamma(n + 1) + ops.sum(orders, [0, -1])
