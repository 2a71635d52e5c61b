"""Transforms of parts of a value, of its shape, and by the shares of a distribution."""

import math

from .. import _lathe, ops
from . import constraints
from .transforms import Transform, add_up


def _one_each(what, given, expected, op):
    if given != expected:
        raise _lathe.ShapeError(
            f"there is not one {what} for each transform", op=op, got=given, expected=expected,
            next="check the axis and the transforms",
        )  # fmt: skip


class _Joined(Transform):
    """Transforms of the parts of a value along an axis."""

    def __init__(self, tseq, dim, lengths, cache_size):
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) if cache_size else t for t in tseq]
        self.dim, self.lengths = dim, list(lengths)
        self.event_dim = max((t.event_dim for t in self.transforms), default=0)
        self.bijective = all(t.bijective for t in self.transforms)
        self.domain, self.codomain = (
            None if None in parts else self._constraint(parts)
            for parts in (
                [t.domain for t in self.transforms],
                [t.codomain for t in self.transforms],
            )
        )

    def _parts(self):
        return (self.dim, tuple(self.lengths), *self.transforms)

    def _call(self, x):
        return self._join([t(part) for t, part in zip(self.transforms, self._split(x))])

    def _inverse(self, y):
        return self._join([t._inv_call(part) for t, part in zip(self.transforms, self._split(y))])


class CatTransform(_Joined):
    """Transforms of slices of these lengths (1 each) along an axis, as cat() puts them together."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        tseq = list(tseq)
        lengths = [1] * len(tseq) if lengths is None else list(lengths)
        _one_each("length", len(lengths), len(tseq), "CatTransform")
        super().__init__(tseq, dim, lengths, cache_size)

    length = property(lambda self: sum(self.lengths))

    def _constraint(self, parts):
        return constraints.cat(parts, self.dim, self.lengths)

    def with_cache(self, cache_size=1):
        if cache_size == self._cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _split(self, x):
        _one_each("part", int(x.shape[self.dim]), self.length, "CatTransform")
        return ops.split(x, self.lengths, self.dim)

    def _join(self, parts):
        return ops.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        found = []
        for t, a, b in zip(self.transforms, self._split(x), self._split(y)):
            found.append(add_up(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim))
        dim = self.dim - x.ndim if self.dim >= 0 else self.dim
        dim += self.event_dim
        return ops.cat(found, dim) if dim < 0 else sum(found)


class StackTransform(_Joined):
    """Transforms of the values along an axis, as stack() puts them together."""

    def __init__(self, tseq, dim=0, cache_size=0):
        tseq = list(tseq)
        super().__init__(tseq, dim, [1] * len(tseq), cache_size)

    def _constraint(self, parts):
        return constraints.stack(parts, self.dim)

    def with_cache(self, cache_size=1):
        if cache_size == self._cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _split(self, x):
        _one_each("value", int(x.shape[self.dim]), len(self.transforms), "StackTransform")
        return ops.unbind(x, self.dim)

    def _join(self, parts):
        return ops.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        parts = zip(self.transforms, self._split(x), self._split(y))
        return self._join([t.log_abs_det_jacobian(a, b) for t, a, b in parts])


class ReshapeTransform(Transform):
    """The last axes in another shape."""

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise _lathe.ShapeError(
                "the shapes are of different numbers of elements", op="ReshapeTransform",
                got=f"{list(in_shape)} and {list(out_shape)}", expected="as many elements",
                next="check the shapes",
            )  # fmt: skip
        self.event_dim = len(self.in_shape)
        self.domain = constraints.independent(constraints.real, self.event_dim)
        self.codomain = constraints.independent(constraints.real, self._out_dim)

    _out_dim = property(lambda self: len(self.out_shape))

    def _parts(self):
        return self.in_shape, self.out_shape

    def _call(self, x):
        return ops.reshape(x, self.forward_shape(x.shape))

    def _inverse(self, y):
        return ops.reshape(y, self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x, y):
        sizes = x.shape[: x.ndim - self.event_dim]
        return ops.zeros(sizes, dtype=x.dtype, device=x.device)

    def _turned(self, shape, old, new):
        cut = len(shape) - len(old)
        if cut < 0 or tuple(shape[cut:]) != old:
            raise _lathe.ShapeError(
                "the last axes are not those of the transform", op="ReshapeTransform",
                got=f"{list(shape)}", expected=f"[..., {', '.join(map(str, old))}]",
                next="check the shape",
            )  # fmt: skip
        return (*shape[:cut], *new)

    def forward_shape(self, shape):
        return self._turned(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return self._turned(shape, self.out_shape, self.in_shape)


class CumulativeDistributionTransform(Transform):
    """The share of a distribution below x."""

    bijective, sign = True, 1
    codomain = constraints.unit_interval

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size)
        self.distribution, self.domain = distribution, distribution.support

    def _parts(self):
        return (id(self.distribution),)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)
