"""Distribution: what all have in common.

A distribution stands for batch_shape independent ones; one value of each has event_shape.
Parameters are
checked when it is made, values where log_prob() takes them, unless validate_args=False; in a trace
their elements are not known, and nothing is required.
"""

import math

from .. import _lathe, ops
from .._functions import as_tensor
from .._grad_mode import no_grad
from .._lathe import Tensor


def shaped(shape, *more):
    """Sizes of a sample: those that are asked for, then the distribution's own."""
    first = (shape,) if isinstance(shape, int) else tuple(shape)
    return tuple(n for part in (first, *more) for n in part)


def broadcast(*values):
    """Parameters as tensors of one shape and floating dtype; numbers take the dtype of tensors."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    dtype = tensors[0].dtype if tensors else _lathe.get_default_dtype()
    if not dtype.is_floating_point:
        dtype = _lathe.get_default_dtype()
    made = [v if isinstance(v, Tensor) else as_tensor(v, dtype=dtype) for v in values]
    made = [v if v.dtype.is_floating_point else v.to(dtype) for v in made]
    if len(made) == 1:
        return made
    total = made[0]
    for v in made[1:]:
        total = total + v
    return [ops.expand(v, list(total.shape)) for v in made]


def require(name, parameter, holds, expected):
    """ValueError that names the parameter, unless `holds` (bool) is true of all its elements. In a
    trace the elements are not known, and nothing is required."""
    if _lathe._symbolic(holds) or bool(ops.all(holds)):
        return
    raise _lathe.ValueError(
        f"the parameter {parameter} is outside of its domain", op=name,
        got=f"{int(ops.sum(ops.logical_not(holds)))} of {holds.numel()} elements outside",
        expected=expected, next=f"check {parameter} before the distribution is made",
    )  # fmt: skip


def one_of(name, *given):
    """Exactly one of two parameters is given."""
    if sum(g is not None for g in given) != 1:
        raise _lathe.ValueError(
            "either probs or logits are given", op=name, got="both or none",
            expected="one of them", next="leave the other out",
        )  # fmt: skip


class Distribution:
    """The base of all; the values are tensors [*sample_shape, *batch_shape, *event_shape]."""

    has_rsample = False
    has_enumerate_support = False
    arg_constraints = {}
    support = None
    _validate = True

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self.batch_shape, self.event_shape = tuple(batch_shape), tuple(event_shape)
        self._checked = Distribution._validate if validate_args is None else validate_args
        if self._checked:
            for name, constraint in self.arg_constraints.items():
                if name in vars(self) and isinstance(vars(self)[name], Tensor):
                    text = f"{name} {constraint!r}"
                    require(type(self).__name__, name, constraint.check(vars(self)[name]), text)

    @staticmethod
    def set_default_validate_args(value):
        """Whether parameters and values are checked where nothing else is said."""
        Distribution._validate = bool(value)

    @property
    def shape(self):
        """Of one sample."""
        return (*self.batch_shape, *self.event_shape)

    def _unsupported(self, what, advice="use sample() and log_prob()"):
        return _lathe.UnsupportedError(
            f"there is no {what} of this distribution", op=type(self).__name__, got=f"{what}",
            expected="a distribution that has one", next=advice,
        )  # fmt: skip

    def rsample(self, sample_shape=()):
        """A sample with the parameters in its history."""
        raise _lathe.UnsupportedError(
            "its samples are not a smooth function of its parameters", op=type(self).__name__,
            got="rsample()", expected="a distribution that is moved and scaled, such as Normal",
            next="use sample() and log_prob()",
        )  # fmt: skip

    def sample(self, sample_shape=()):
        """A sample without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n):
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, at value."""
        return self._log_prob(self._checked_value(value))

    def _checked_value(self, value):
        """The value as a tensor; ValueError where values are checked and it is out of support."""
        value = as_tensor(value)
        if self._checked:
            self._check_value(value)
        return value

    def _check_value(self, value):
        if self.support is None:
            return
        holds = self.support.check(value)
        if _lathe._symbolic(holds) or bool(ops.all(holds)):
            return
        raise _lathe.ValueError(
            "a value is outside of the support", op=type(self).__name__,
            got=f"{int(ops.sum(ops.logical_not(holds)))} of {holds.numel()} elements outside",
            expected=f"value {self.support!r}", next="check the value, or pass validate_args=False",
        )  # fmt: skip

    def _log_prob(self, value):
        raise NotImplementedError

    @property
    def mean(self):
        raise self._unsupported("mean")  # not an op: a name

    @property
    def variance(self):
        raise self._unsupported("variance")

    @property
    def stddev(self):
        """The root of the variance."""
        return ops.sqrt(self.variance)

    @property
    def mode(self):
        raise self._unsupported("mode")

    def entropy(self):
        raise self._unsupported("entropy")

    def perplexity(self):
        """exp of the entropy."""
        return ops.exp(self.entropy())

    def cdf(self, value):
        raise self._unsupported("cdf")

    def icdf(self, value):
        raise self._unsupported("icdf")

    def enumerate_support(self, expand=True):
        raise self._unsupported("enumeration")

    _expanded = ()  # parameters that expand() expands, each of batch_shape

    def expand(self, batch_shape, _instance=None):
        """The same for another batch_shape, which this one broadcasts to."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made.batch_shape = tuple(batch_shape)
        for name in self._expanded:
            if isinstance(vars(self).get(name), Tensor):
                own = vars(self)[name]
                more = own.shape[len(self.batch_shape) :]
                vars(made)[name] = ops.expand(own, [*made.batch_shape, *more])
        return made

    def _shaped(self, sample_shape):
        return shaped(sample_shape, self.batch_shape, self.event_shape)

    def _uniform(self, sample_shape, like):
        """Uniform in (0, 1): no logarithm of it is infinite."""
        u = ops.rand(self._shaped(sample_shape), dtype=like.dtype, device=like.device)
        return ops.clamp_min(u, _TINY.get(like.dtype.name, 1e-7))

    def __repr__(self):
        parts = [f"{n}: {_shown(getattr(self, n))}" for n in self._names()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _names(self):
        """Of the parameters, those that it was made of, for its text."""
        return [n for n in self.arg_constraints if isinstance(vars(self).get(n), Tensor)]


_TINY = {"float32": 2.0**-24, "float64": 2.0**-53}


def _shown(value):
    return value if value.numel() == 1 else list(value.shape)


class ExponentialFamily(Distribution):
    """Those whose log density is linear in statistics of the value."""


def full_like(tensor, value):
    return ops.zeros_like(tensor) + value


LOG_2PI = math.log(2 * math.pi)
EULER = 0.57721566490153286061
