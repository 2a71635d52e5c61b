"""Invertible functions of values, with the logarithm of how much they stretch space."""

import math

from .. import _lathe, ops
from .._dtypes import finfo
from . import constraints

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform",
    "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class Transform:
    """y = t(x), x = t.inv(y). A subclass defines _call, _inverse and log_abs_det_jacobian(x, y),
    which adds up the last event_dim axes.

    It says by `bijective` whether there is one x for each y, and by `sign` whether y grows with x
    (1) or falls (-1); domain and codomain (None: not known) are what x and y may be. Two are equal
    if they are of one class and their `_parts()` are, which a subclass may define.
    cache_size=1: keeps the last x and y, so that the way back from that very y is exact.
    """

    bijective = False
    event_dim = 0
    domain = codomain = None
    _cache_size = 0
    _last = None, None

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise _lathe.ValueError(
                "a transform keeps one pair or none", op=type(self).__name__, got=cache_size,
                expected="cache_size 0 or 1", next="choose one of them",
            )  # fmt: skip
        self._cache_size = cache_size
        self._last = None, None

    def __call__(self, x):
        if not self._cache_size:
            return self._call(x)
        if self._last[0] is not x:
            self._last = x, self._call(x)
        return self._last[1]

    def _inv_call(self, y):
        """inv(y)."""
        if not self._cache_size:
            return self._inverse(y)
        if self._last[1] is not y:
            self._last = self._inverse(y), y
        return self._last[0]

    def with_cache(self, cache_size=1):
        """The same with this cache_size."""
        if cache_size == self._cache_size:
            return self
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        Transform.__init__(made, cache_size)
        return made

    @property
    def _out_dim(self):
        """How many last axes make one y; those that make one x are event_dim."""
        return self.event_dim

    @property
    def sign(self):
        """1 where y grows with x, -1 where it falls."""
        raise _lathe.UnsupportedError(
            "it is not known whether it grows or falls", op=type(self).__name__, got="no sign",
            expected="a transform of single numbers that only grows or only falls",
            next="use log_prob(), or define sign in a transform of your own",
        )  # fmt: skip

    @property
    def inv(self):
        """The way back."""
        return _Inverse(self)

    def log_abs_det_jacobian(self, x, y):
        raise NotImplementedError

    def forward_shape(self, shape):
        return tuple(shape)

    def inverse_shape(self, shape):
        return tuple(shape)

    def _parts(self):
        """What tells it from others of its class; None: each is like itself alone."""

    def __eq__(self, other):
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        mine, others = self._parts(), other._parts()
        if mine is None or others is None or len(mine) != len(others):
            return False
        return all(_equal(a, b) for a, b in zip(mine, others))

    def __hash__(self):
        return hash(type(self))

    def __repr__(self):
        return f"{type(self).__name__}()"


def _equal(a, b):
    """Of numbers, tensors and transforms."""
    if not (isinstance(a, _lathe.Tensor) or isinstance(b, _lathe.Tensor)):
        return a == b
    if not isinstance(a, _lathe.Tensor):
        a, b = b, a
    if isinstance(b, _lathe.Tensor) and a.shape != b.shape:
        return False
    return bool(ops.all(ops.eq(a, b)))


class _Plain(Transform):
    """One that has no parameters."""

    def _parts(self):
        return ()


class _Inverse(Transform):
    def __init__(self, whole):
        super().__init__(whole._cache_size)
        self._whole, self.event_dim = whole, whole._out_dim
        self.bijective = whole.bijective
        self.domain, self.codomain = whole.codomain, whole.domain

    def _parts(self):
        return (self._whole,)

    sign = property(lambda self: self._whole.sign)
    _out_dim = property(lambda self: self._whole.event_dim)

    @property
    def inv(self):
        return self._whole

    def with_cache(self, cache_size=1):
        return self._whole.with_cache(cache_size).inv

    def __call__(self, y):
        return self._whole._inv_call(y)

    def _inv_call(self, x):
        return self._whole(x)

    _call, _inverse = __call__, _inv_call

    def log_abs_det_jacobian(self, y, x):
        return -self._whole.log_abs_det_jacobian(x, y)

    def forward_shape(self, shape):
        return self._whole.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._whole.forward_shape(shape)


def add_up(x, count):
    """The sum over the last `count` axes."""
    return ops.sum(x, list(range(-count, 0))) if count else x


def _inside(y):
    """y in [0, 1], but neither 0 nor 1."""
    limits = finfo(y.dtype)
    return ops.clamp(y, limits.tiny, 1 - limits.eps)


def _sign(factor):
    """Of a number an int, of a tensor a tensor."""
    return ops.sign(factor) if isinstance(factor, _lathe.Tensor) else (factor > 0) - (factor < 0)


def _of_axes(constraint, axes):
    """The constraint for values of at least so many axes."""
    more = constraint and axes - constraint.event_dim
    return constraints.independent(constraint, more) if more and more > 0 else constraint


class ComposeTransform(Transform):
    """One after the other."""

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = [p.with_cache(cache_size) if cache_size else p for p in parts]
        self.event_dim = 0
        for p in reversed(self.parts):  # what a part has no axes for passes through it
            self.event_dim = p.event_dim + max(self.event_dim - p._out_dim, 0)
        self.bijective = all(p.bijective for p in self.parts)
        ends = (self.parts[0].domain, self.parts[-1].codomain) if self.parts else ()
        ends = ends or (constraints.real, constraints.real)
        self.domain, self.codomain = map(_of_axes, ends, (self.event_dim, self._out_dim))

    def _parts(self):
        return tuple(self.parts)

    sign = property(lambda self: math.prod(p.sign for p in self.parts))

    @property
    def _out_dim(self):
        axes = self.event_dim
        for p in self.parts:
            axes += p._out_dim - p.event_dim
        return axes

    def with_cache(self, cache_size=1):
        return self if cache_size == self._cache_size else ComposeTransform(self.parts, cache_size)

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return tuple(shape)

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total, axes = None, self.event_dim
        for i, part in enumerate(self.parts):
            after = part(x) if i + 1 < len(self.parts) else y
            more = add_up(part.log_abs_det_jacobian(x, after), axes - part.event_dim)
            total = more if total is None else total + more
            x, axes = after, axes + part._out_dim - part.event_dim
        return ops.zeros_like(x) if total is None else total


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform of values with so many more axes each."""

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        base, more = base_transform.with_cache(cache_size), reinterpreted_batch_ndims
        self.base_transform, self._more, self.event_dim = base, more, base.event_dim + more
        self.bijective = base.bijective
        self.domain, self.codomain = (
            c and constraints.independent(c, more) for c in (base.domain, base.codomain)
        )

    def _parts(self):
        return self.base_transform, self._more

    sign = property(lambda self: self.base_transform.sign)
    _out_dim = property(lambda self: self.base_transform._out_dim + self._more)

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)

    def with_cache(self, cache_size=1):
        if cache_size == self._cache_size:
            return self
        return IndependentTransform(self.base_transform, self._more, cache_size)

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x, y):
        return add_up(self.base_transform.log_abs_det_jacobian(x, y), self._more)


class ExpTransform(_Plain):
    """exp(x)."""

    bijective, sign = True, 1
    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return ops.exp(x)

    def _inverse(self, y):
        return ops.log(y)

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """x ** exponent, of positive x."""

    bijective = True
    domain = codomain = constraints.positive

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = exponent

    def _parts(self):
        return (self.exponent,)

    sign = property(lambda self: _sign(self.exponent))

    def _call(self, x):
        return ops.pow(x, self.exponent)

    def _inverse(self, y):
        return ops.pow(y, 1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return ops.log(ops.abs(self.exponent * y / x))


class SigmoidTransform(_Plain):
    """1 / (1 + exp(-x))."""

    bijective, sign = True, 1
    domain, codomain = constraints.real, constraints.unit_interval

    def _call(self, x):
        return _inside(ops.sigmoid(x))

    def _inverse(self, y):
        y = _inside(y)
        return ops.log(y) - ops.log1p(-y)

    def log_abs_det_jacobian(self, x, y):
        return -ops.softplus(-x) - ops.softplus(x)


class SoftplusTransform(_Plain):
    """log(1 + exp(x))."""

    bijective, sign = True, 1
    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return ops.softplus(x)

    def _inverse(self, y):
        return ops.log(-ops.expm1(-y)) + y

    def log_abs_det_jacobian(self, x, y):
        return -ops.softplus(-x)


class TanhTransform(_Plain):
    """tanh(x). Where y is rounded to 1 or -1, the way back is infinite without cache_size=1."""

    bijective, sign = True, 1
    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return ops.tanh(x)

    def _inverse(self, y):
        return ops.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - ops.softplus(-2.0 * x))


class AbsTransform(_Plain):
    """|x|; the way back is the positive one."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return ops.abs(x)

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """loc + scale * x."""

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        of = constraints.real
        self.domain = self.codomain = constraints.independent(of, event_dim) if event_dim else of

    def _parts(self):
        return self.loc, self.scale, self.event_dim

    sign = property(lambda self: _sign(self.scale))

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        if hasattr(self.scale, "dtype"):
            stretch = ops.zeros_like(x) + ops.log(ops.abs(self.scale))
        else:
            stretch = ops.zeros_like(x) + math.log(abs(self.scale))
        return add_up(stretch, self.event_dim)


class SoftmaxTransform(_Plain):
    """softmax along the last axis; the way back is the logarithm."""

    event_dim = 1
    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        return ops.softmax(x, -1)

    def _inverse(self, y):
        return ops.log(y)


class StickBreakingTransform(_Plain):
    """n numbers as n + 1 shares: each takes a share of what is left."""

    bijective = True
    event_dim = 1
    domain, codomain = constraints.real_vector, constraints.simplex

    def _offset(self, n, like):
        return ops.log(ops.arange(n, 0, -1).to(like.dtype))

    def _call(self, x):
        z = _inside(ops.sigmoid(x - self._offset(int(x.shape[-1]), x)))
        left = ops.cumprod(1 - z, -1)
        one = ops.ones((*x.shape[:-1], 1), dtype=x.dtype)
        return ops.cat([z, one], -1) * ops.cat([one, left], -1)

    def _inverse(self, y):
        shares = y[..., :-1]
        left = ops.clamp_min(1 - ops.cumsum(shares, -1), finfo(y.dtype).tiny)
        return ops.log(shares) - ops.log(left) + self._offset(int(shares.shape[-1]), y)

    def log_abs_det_jacobian(self, x, y):
        moved = x - self._offset(int(x.shape[-1]), x)
        return add_up(-moved - ops.softplus(-moved) + ops.log(y[..., :-1]), 1)

    def forward_shape(self, shape):
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape):
        return (*shape[:-1], shape[-1] - 1)


# Below, since they are made of what stands above.
from .joined_transforms import (  # noqa: E402
    CatTransform,
    CumulativeDistributionTransform,
    ReshapeTransform,
    StackTransform,
)
from .matrix_transforms import (  # noqa: E402
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
)
