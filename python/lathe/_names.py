"""Second names: dtypes as PyTorch calls them, constants, and the names of layouts."""

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
cdouble = _lathe.complex128
newaxis = None


class _Name(str):
    """A text with a type of its own, which arguments take in place of that text."""

    __slots__ = ()

    def __repr__(self):
        return f"lathe.{self}"

    def __reduce__(self):
        return str(self)  # the object of that name in lathe


class memory_format(_Name):
    """The order in which a tensor's elements lie."""

    __slots__ = ()


class layout(_Name):
    """How a tensor's elements are kept. There is one: an address for each, by strides."""

    __slots__ = ()


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
legacy_contiguous_format = contiguous_format
strided = layout("strided")
Size = tuple  # what shapes are
OutOfMemoryError = _lathe.MemoryError

__all__ = [
    "OutOfMemoryError", "Size", "byte", "cdouble", "cfloat", "channels_last", "channels_last_3d",
    "char", "contiguous_format", "double", "e", "float", "half", "inf", "int", "layout",
    "legacy_contiguous_format", "long", "memory_format", "nan", "newaxis", "pi", "preserve_format",
    "short", "strided",
]  # fmt: skip
