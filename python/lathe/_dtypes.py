"""Questions about dtypes, and PyTorch's constructors that are named after one.

Loaded when one of its names is first asked for.
"""

from . import _lathe
from ._errors import typed
from ._lathe import Tensor

# Bits of the significand, the leading one counted; the rest of the width is sign and exponent.
_DIGITS = {
    _lathe.float16: 11, _lathe.bfloat16: 8, _lathe.float32: 24, _lathe.float64: 53,
}  # fmt: skip


class _Limits:
    """What finfo and iinfo have in common: they are compared and printed by their numbers."""

    _shown = ()

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash((type(self), self.dtype))

    def __repr__(self):
        numbers = [f"{name}={getattr(self, name):.6g}" for name in self._shown]
        return f"{type(self).__name__}({', '.join(numbers)}, dtype={self.dtype})"


def _wrong_kind(op, dtype, expected, next):
    return _lathe.TypeError(
        f"{dtype.name} has no such limits", op=op, got=repr(dtype), expected=expected, next=next
    )


class finfo(_Limits):
    """Limits of a floating dtype, or of the parts of a complex one: bits, eps, min, max, tiny (the
    least normal number, also smallest_normal), resolution, dtype."""

    _shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")  # not an op: attributes

    def __init__(self, type=None):
        dtype = _lathe.get_default_dtype() if type is None else _lathe._to_dtype(type)
        real = dtype.to_real()
        if real not in _DIGITS:
            raise _wrong_kind("finfo", dtype, "a floating or complex dtype", "use lt.iinfo()")
        digits = _DIGITS[real]
        self.dtype = real.name
        self.bits = 8 * real.itemsize
        greatest = 2 ** (self.bits - digits - 1) - 1  # of the exponents
        self.eps = 2.0 ** (1 - digits)
        self.max = (2.0 - self.eps) * 2.0**greatest
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - greatest)
        self.resolution = 10.0 ** -((digits - 1) * 30103 // 100000)  # whole decimal digits


class iinfo(_Limits):
    """Limits of an integer dtype: bits, min, max, dtype."""

    def __init__(self, type):
        dtype = _lathe._to_dtype(type)
        if dtype.is_floating_point or dtype.is_complex or dtype is _lathe.bool:
            raise _wrong_kind("iinfo", dtype, "an integer dtype", "use lt.finfo()")
        self.dtype = dtype.name
        self.bits = 8 * dtype.itemsize
        self.max = 2 ** (self.bits - dtype.is_signed) - 1
        self.min = -self.max - 1 if dtype.is_signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def _category(dtype):
    return (
        3 if dtype.is_complex else 2 if dtype.is_floating_point else int(dtype is not _lathe.bool)
    )


@typed
def can_cast(from_, to) -> bool:
    """Whether the second dtype is of the same category as the first or a higher one: bool, integer,
    floating, complex."""
    return _category(_lathe._to_dtype(from_)) <= _category(_lathe._to_dtype(to))


@typed
def result_type(tensor1, tensor2) -> _lathe.dtype:
    """The dtype in which arithmetic on these tensors and numbers is done. A tensor without axes,
    and a number even more so, counts only where its category is higher."""
    return _lathe._promoted(tensor1, tensor2)


class tensortype(type):
    """The class of FloatTensor and its like: calls make tensors of one dtype, isinstance() tells
    them."""

    def __call__(cls, *data, device=None) -> Tensor:
        tensor = _lathe._legacy_tensor(cls.dtype, data)
        return tensor if device is None else tensor.to(device)

    def __instancecheck__(cls, value):
        return isinstance(value, Tensor) and value.dtype is cls.dtype

    def __repr__(cls):
        return f"<class 'lathe.{cls.__name__}'>"


_PREFIXES = {
    _lathe.float32: "Float", _lathe.float64: "Double", _lathe.float16: "Half",
    _lathe.bfloat16: "BFloat16", _lathe.uint8: "Byte", _lathe.int8: "Char", _lathe.int16: "Short",
    _lathe.int32: "Int", _lathe.int64: "Long", _lathe.bool: "Bool",
}  # fmt: skip
_CLASSES = {
    f"{prefix}Tensor": tensortype(
        f"{prefix}Tensor",
        (),
        {
            "__module__": "lathe",
            "__doc__": f"{prefix}Tensor(*sizes) or {prefix}Tensor(data): a tensor of {dtype.name}.",
            "dtype": dtype,
            "is_cuda": False,
        },
    )
    for dtype, prefix in _PREFIXES.items()
}
globals().update(_CLASSES)


def type_name(dtype) -> str:
    """What Tensor.type() says: 'lathe.FloatTensor'."""
    prefix = _PREFIXES.get(dtype) or {
        "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    }.get(dtype.name, dtype.name.replace("uint", "UInt"))  # fmt: skip
    return f"lathe.{prefix}Tensor"


def dtype_of_type(kind):
    """The dtype that Tensor.type(kind) converts to: of a dtype, a class or the name of one."""
    if isinstance(kind, tensortype):
        return kind.dtype
    if isinstance(kind, str):
        module, _, name = kind.rpartition(".")
        if module in ("", "lathe", "torch") and name in _CLASSES:
            return _CLASSES[name].dtype
    return _lathe._to_dtype(kind)


@typed
def set_default_tensor_type(t, /) -> None:
    """Makes the dtype of this class, or of this name of one, the default one."""
    _lathe.set_default_dtype(dtype_of_type(t))
