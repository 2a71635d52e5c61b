"""Arithmetic on sizes that a trace takes as symbols, under PyTorch's names.

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
