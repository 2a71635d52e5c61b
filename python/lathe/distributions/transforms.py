"""Invertible functions of values, with the logarithm of how much they stretch space."""

import math

from .. import ops

__all__ = [
    "AbsTransform", "AffineTransform", "ComposeTransform", "ExpTransform", "IndependentTransform",
    "PowerTransform", "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform",
    "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class Transform:
    """y = t(x), x = t.inv(y). A subclass defines _call, _inverse and log_abs_det_jacobian(x, y),
    which adds up the last event_dim axes."""

    bijective = True
    event_dim = 0
    sign = 1

    def __init__(self, cache_size=0):
        self._cache_size = cache_size

    def __call__(self, x):
        return self._call(x)

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

    def __repr__(self):
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, whole):
        super().__init__()
        self._whole, self.event_dim = whole, whole.event_dim
        self.bijective, self.sign = whole.bijective, whole.sign

    @property
    def inv(self):
        return self._whole

    def _call(self, y):
        return self._whole._inverse(y)

    def _inverse(self, x):
        return self._whole._call(x)

    def log_abs_det_jacobian(self, y, x):
        return -self._whole.log_abs_det_jacobian(x, y)

    def forward_shape(self, shape):
        return self._whole.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._whole.forward_shape(shape)


def add_up(x, count):
    """The sum over the last `count` axes."""
    return ops.sum(x, list(range(-count, 0))) if count else x


class ComposeTransform(Transform):
    """One after the other."""

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = list(parts)
        self.event_dim = max((p.event_dim for p in self.parts), default=0)
        self.bijective = all(p.bijective for p in self.parts)
        self.sign = math.prod(p.sign for p in self.parts)

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = None
        for part in self.parts:
            after = part(x)
            more = add_up(part.log_abs_det_jacobian(x, after), self.event_dim - part.event_dim)
            total = more if total is None else total + more
            x = after
        return ops.zeros_like(x) if total is None else total


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform of values with so many more axes each."""

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform, self._more = base_transform, reinterpreted_batch_ndims
        self.event_dim = base_transform.event_dim + reinterpreted_batch_ndims
        self.bijective, self.sign = base_transform.bijective, base_transform.sign

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform._inverse(y)

    def log_abs_det_jacobian(self, x, y):
        return add_up(self.base_transform.log_abs_det_jacobian(x, y), self._more)


class ExpTransform(Transform):
    """exp(x)."""

    def _call(self, x):
        return ops.exp(x)

    def _inverse(self, y):
        return ops.log(y)

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """x ** exponent, of positive x."""

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = exponent

    def _call(self, x):
        return ops.pow(x, self.exponent)

    def _inverse(self, y):
        return ops.pow(y, 1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return ops.log(ops.abs(self.exponent * y / x))


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))."""

    def _call(self, x):
        return ops.sigmoid(x)

    def _inverse(self, y):
        return ops.log(y) - ops.log1p(-y)

    def log_abs_det_jacobian(self, x, y):
        return -ops.softplus(-x) - ops.softplus(x)


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    def _call(self, x):
        return ops.softplus(x)

    def _inverse(self, y):
        return ops.log(-ops.expm1(-y)) + y

    def log_abs_det_jacobian(self, x, y):
        return -ops.softplus(-x)


class TanhTransform(Transform):
    """tanh(x)."""

    def _call(self, x):
        return ops.tanh(x)

    def _inverse(self, y):
        return ops.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - ops.softplus(-2.0 * x))


class AbsTransform(Transform):
    """|x|; the way back is the positive one."""

    bijective = False

    def _call(self, x):
        return ops.abs(x)

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """loc + scale * x."""

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    @property
    def sign(self):
        return (
            ops.sign(self.scale) if hasattr(self.scale, "dtype") else math.copysign(1, self.scale)
        )

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


class SoftmaxTransform(Transform):
    """softmax along the last axis; the way back is the logarithm."""

    bijective = False
    event_dim = 1

    def _call(self, x):
        return ops.softmax(x, -1)

    def _inverse(self, y):
        return ops.log(y)


class StickBreakingTransform(Transform):
    """n numbers as n + 1 shares: each takes a share of what is left."""

    event_dim = 1

    def _offset(self, n, like):
        return ops.log(ops.arange(n, 0, -1).to(like.dtype))

    def _call(self, x):
        z = ops.sigmoid(x - self._offset(int(x.shape[-1]), x))
        left = ops.cumprod(1 - z, -1)
        one = ops.ones((*x.shape[:-1], 1), dtype=x.dtype)
        return ops.cat([z, one], -1) * ops.cat([one, left], -1)

    def _inverse(self, y):
        shares = y[..., :-1]
        left = 1 - ops.cumsum(shares, -1)
        return ops.log(shares) - ops.log(left) + self._offset(int(shares.shape[-1]), y)

    def log_abs_det_jacobian(self, x, y):
        moved = x - self._offset(int(x.shape[-1]), x)
        return add_up(-moved - ops.softplus(-moved) + ops.log(y[..., :-1]), 1)

    def forward_shape(self, shape):
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape):
        return (*shape[:-1], shape[-1] - 1)
