"""Elementwise functions: a row each, the standard's name and lathe's."""

import lathe as lt

from ._dtypes import together

SAME = """
    abs acos acosh asin asinh atan atanh cos cosh exp expm1 imag isfinite isinf isnan log log1p
    log2 log10 logical_not negative positive real reciprocal rsqrt signbit sin sinh sqrt square
    tan tanh"""
SAME_OF_TWO = """
    add atan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift copysign
    floor_divide hypot logaddexp logical_and logical_or logical_xor maximum minimum nextafter pow
    remainder"""
UNARY = {n: n for n in SAME.split()} | {
    "bitwise_invert": "bitwise_not",
    "conj": "conj_physical",  # conj() is PyTorch's, a view that cannot be written to here
}
BINARY = {n: n for n in SAME_OF_TWO.split()} | {
    "divide": "div",
    "equal": "eq",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "multiply": "mul",
    "not_equal": "ne",
    "subtract": "sub",
}
WHOLE = ("ceil", "floor", "trunc")  # integers are their own

UNARY, BINARY = ({n: ours for n, ours in t.items() if hasattr(lt, ours)} for t in (UNARY, BINARY))

__all__ = [*UNARY, *BINARY, *WHOLE, "clip", "round", "sign"]


def named(name, function):
    """The function, under the standard's name."""
    function.__name__ = function.__qualname__ = name
    return function


def unary(name, ours):
    return named(name, lambda x, /: getattr(lt, ours)(x))


def binary(name, ours):
    return named(name, lambda x1, x2, /: getattr(lt, ours)(*together(x1, x2)))


def whole(name):
    def function(x, /):
        return getattr(lt, name)(x) if x.is_floating_point() or x.is_complex() else x.clone()

    return named(name, function)


globals().update({n: unary(n, ours) for n, ours in UNARY.items()})
globals().update({n: binary(n, ours) for n, ours in BINARY.items()})
globals().update({n: whole(n) for n in WHOLE})


def round(x, /):
    if x.is_complex():
        return lt.complex(round(x.real), round(x.imag))
    return lt.round(x) if x.is_floating_point() else x.clone()


def sign(x, /):
    """Of a NaN the NaN, where PyTorch's is 0."""
    return lt.where(lt.isnan(x), x, lt.sgn(x)) if x.is_floating_point() else lt.sgn(x)


def clip(x, /, min=None, max=None):
    if min is None and max is None:
        return x.clone()
    low, high = (b.to(x.dtype) if isinstance(b, lt.Tensor) else b for b in (min, max))
    return lt.clamp(x, low, high)
