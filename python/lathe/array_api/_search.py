"""Searching, sorting, sets, indexing, and the products that the main namespace has."""

from collections import namedtuple

import lathe as lt

from ._dtypes import together

__all__ = ["argsort", "matmul", "nonzero", "searchsorted", "sort", "take", "take_along_axis",
           "tensordot", "unique_all", "unique_counts", "unique_inverse", "unique_values", "vecdot",
           "where"]  # fmt: skip

UniqueAll = namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = namedtuple("UniqueCounts", "values counts")
UniqueInverse = namedtuple("UniqueInverse", "values inverse_indices")


def where(condition, x1, x2, /):
    return lt.where(condition, *together(x1, x2))


def nonzero(x, /):
    if x.ndim == 0:
        raise lt.ShapeError(
            "a tensor of no axes has no positions", op="nonzero", got="()", next="use x != 0"
        )
    return tuple(lt.nonzero(x, as_tuple=True))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    return lt.searchsorted(*together(x1, x2), side=side, sorter=sorter)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    return lt.sort(x, dim=axis, descending=descending, stable=stable)[0]


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return lt.argsort(x, dim=axis, descending=descending, stable=stable)


def from_the_start(x, indices, axis):
    """Indexes along an axis, those below 0 counted from its end."""
    return lt.where(indices < 0, indices + x.shape[axis], indices)


def take(x, indices, /, *, axis=None):
    axis = 0 if axis is None else axis
    return lt.index_select(x, axis, from_the_start(x, indices, axis))


def take_along_axis(x, indices, /, *, axis=-1):
    return lt.take_along_dim(x, from_the_start(x, indices, axis), axis)


def unique_values(x, /):
    return lt.unique(x)


def unique_counts(x, /):
    return UniqueCounts(*lt.unique(x, return_counts=True))


def unique_inverse(x, /):
    values, inverse = lt.unique(x, return_inverse=True)
    return UniqueInverse(values, inverse.reshape(x.shape))


def unique_all(x, /):
    values, inverse, counts = lt.unique(x, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    order = lt.argsort(inverse, stable=True)  # the first of each stands in front of its equals
    first = order[lt.cumsum(counts, 0) - counts] if counts.numel() else counts
    return UniqueAll(values, first, inverse.reshape(x.shape), counts)


def matmul(x1, x2, /):
    return lt.matmul(*together(x1, x2))


def tensordot(x1, x2, /, *, axes=2):
    return lt.tensordot(*together(x1, x2), dims=axes)


def vecdot(x1, x2, /, *, axis=-1):
    x1, x2 = together(x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise lt.ShapeError(
            "the axis has two sizes", op="vecdot", got=f"{tuple(x1.shape)}, {tuple(x2.shape)}"
        )
    return (x1.conj() * x2).sum(dim=axis, dtype=x1.dtype)
