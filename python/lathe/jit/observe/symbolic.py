"""Numbers of a trace as tensors: sizes, floats that are inputs, and what data decides."""

from ... import _lathe, ops


def kind_of_number(value):
    """What a number is that only running a program tells: int, float or bool; None: another."""
    kind = type(value)
    if hasattr(kind, "_is_data"):
        return value.kind
    return {_lathe.SymInt: int, _lathe.SymFloat: float}.get(kind)


def number_as_tensor(value):
    """Such a number as a 0-d tensor."""
    if hasattr(type(value), "_is_data"):
        return value.tensor
    dtype = _lathe.int64 if kind_of_number(value) is int else _lathe.float64
    return ops.full((), value, dtype=dtype)
