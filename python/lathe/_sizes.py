"""Arithmetic on sizes that a trace takes as symbols, under PyTorch's names; and what is stated of
sizes.

A size of a trace is a SymInt, which Python's own operators take; where a comparison decides, the
trace holds for the sizes that compare so.
"""

from . import _lathe
from ._lathe import SymFloat, SymInt


def sym_int(a):
    """A size as it is; the whole part of another number."""
    if isinstance(a, (int, SymInt)):
        return a
    return a.__trunc__() if isinstance(a, SymFloat) else int(a)


def sym_float(a):
    """The number as a float."""
    return a if isinstance(a, SymFloat) else float(a)


def _either(a, b, chosen):
    """A float if one of both is."""
    return sym_float(chosen) if isinstance(a, (float, SymFloat)) or isinstance(
        b, (float, SymFloat)) else chosen  # fmt: skip


def sym_max(a, b):
    """The larger of two sizes or numbers."""
    return _either(a, b, a if a >= b else b)


def sym_min(a, b):
    """The smaller of two sizes or numbers."""
    return _either(a, b, a if a <= b else b)


def sym_not(a):
    """Whether the comparison does not hold."""
    return not a


def sym_ite(b, t, f):
    """t if b holds, else f. TypeError unless both are of one type."""
    if type(t) is not type(f):
        raise _lathe.TypeError(
            "the two values are of different types", op="sym_ite",
            got=f"{type(t).__name__} and {type(f).__name__}", expected="one type",
            next="convert one of them",
        )  # fmt: skip
    return t if b else f


def sym_sqrt(a):
    """The root of a number."""
    return sym_float(a) ** 0.5


def sym_sum(args):
    """The sum of sizes or numbers."""
    return sum(args)


def _axes(op, tensor, dim):
    axes = range(tensor.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    for axis in axes:
        if not -tensor.ndim <= axis < tensor.ndim:
            raise _lathe.IndexError(
                "there is no such axis", op=op, got=f"{axis} of {tensor.ndim} axes",
                expected=f"-{tensor.ndim} to {tensor.ndim - 1}", next="name an axis of the tensor",
            )  # fmt: skip
    return axes


def mark_static(tensor, dim=None):
    """The tensor, whose sizes along dim (all, one or several axes) are numbers for captured code:
    its program holds for those of this call, and others make another program."""
    for axis in _axes("mark_static", tensor, dim):
        int(tensor.shape[axis])
    return tensor


def mark_bounds(tensor, dims):
    """The tensor, whose sizes are within bounds: dims says them by axis, {0: (2, 64)}, None for no
    bound. What follows from them captured code need not ask. ValueError where one is not."""
    for axis in _axes("mark_bounds", tensor, tuple(dims)):
        low, high = dims[axis]
        n = tensor.shape[axis]
        if (low is not None and n < low) or (high is not None and n > high):
            raise _lathe.ValueError(
                "a size is out of the bounds that were stated", op="mark_bounds",
                got=f"{n} along axis {axis}", expected=f"{low} to {high}",
                next="widen the bounds, or check what is passed",
            )  # fmt: skip
    return tensor
