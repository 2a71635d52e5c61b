"""Second names: dtypes as PyTorch calls them, and constants."""

from math import e, inf, nan, pi

from . import _lathe

float = _lathe.float32
double = _lathe.float64
half = _lathe.float16
byte = _lathe.uint8
char = _lathe.int8
short = _lathe.int16
int = _lathe.int32
long = _lathe.int64
cfloat = _lathe.complex64
newaxis = None

__all__ = [
    "byte", "cfloat", "char", "double", "e", "float", "half", "inf", "int", "long", "nan",
    "newaxis", "pi", "short",
]  # fmt: skip
