"""Reductions and scans, over one axis, several or all."""

import lathe as lt

from ._dtypes import isdtype, together

__all__ = ["all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum",
           "diff", "max", "mean", "min", "prod", "std", "sum", "var"]  # fmt: skip


def axes_of(x, axis):
    """All axes for None."""
    return tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def wide(x, dtype):
    """x in the dtype that sums are made in: integers in the widest of their kind."""
    if dtype is None and isdtype(x.dtype, "unsigned integer") and hasattr(lt, "uint64"):
        dtype = lt.uint64
    elif dtype is None and isdtype(x.dtype, "signed integer"):
        dtype = lt.int64
    return x if dtype in (None, x.dtype) else x.to(dtype)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    x = wide(x, dtype)
    return over_axes(lt.sum, x, axis, keepdims, dtype=x.dtype)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    x = wide(x, dtype)
    kept = x
    for one in sorted((a % x.ndim for a in axes_of(x, axis)), reverse=True):
        kept = lt.prod(kept, one, keepdims, dtype=x.dtype)
    return kept if kept is not x else x.clone()


def over_axes(function, x, axis, keepdims, **given):
    """Over no axes, each element is a line of its own: lathe's functions take () as all of them."""
    axes = axes_of(x, axis)
    if axes:
        return function(x, axes, keepdim=keepdims, **given)
    return function(x.unsqueeze(-1), (-1,), **given)


def max(x, /, *, axis=None, keepdims=False):
    return over_axes(lt.amax, x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    return over_axes(lt.amin, x, axis, keepdims)


def mean(x, /, *, axis=None, keepdims=False):
    return over_axes(lt.mean, x, axis, keepdims)


def all(x, /, *, axis=None, keepdims=False):
    return over_axes(lt.all, x.to(lt.bool), axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    return over_axes(lt.any, x.to(lt.bool), axis, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    return over_axes(lt.var, x, axis, keepdims, correction=correction)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return over_axes(lt.std, x, axis, keepdims, correction=correction)


def argmax(x, /, *, axis=None, keepdims=False):
    found = lt.argmax(x, axis, keepdims if axis is not None else False)
    return found.reshape((1,) * x.ndim) if axis is None and keepdims else found


def argmin(x, /, *, axis=None, keepdims=False):
    found = lt.argmin(x, axis, keepdims if axis is not None else False)
    return found.reshape((1,) * x.ndim) if axis is None and keepdims else found


def count_nonzero(x, /, *, axis=None, keepdims=False):
    return sum((x != 0).to(lt.int64), axis=axis, keepdims=keepdims)


def scan(function, start, x, axis, dtype, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise lt.ValueError("an axis is needed", op=function.__name__, got=f"{x.ndim} axes")
        axis = 0
    x = wide(x, dtype)
    found = function(x, axis, dtype=x.dtype)
    if not include_initial:
        return found
    shape = list(found.shape)
    shape[axis] = 1
    return lt.cat([lt.full(tuple(shape), start, dtype=found.dtype), found], axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return scan(lt.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return scan(lt.cumprod, 1, x, axis, dtype, include_initial)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    ends = [None if v is None else together(x, v)[1] for v in (prepend, append)]
    return lt.diff(x, n, axis, prepend=ends[0], append=ends[1])
