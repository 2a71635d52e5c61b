"""Data types: their kinds, limits and promotion, in the standard's words."""

import builtins
import functools
from collections import namedtuple
from math import e, inf, nan, pi

import lathe as lt

__all__ = ["e", "inf", "nan", "pi", "newaxis", "astype", "can_cast", "finfo", "iinfo", "isdtype",
           "result_type", "broadcast_shapes"]  # fmt: skip

newaxis = None
FInfo = namedtuple("finfo_object", "bits eps max min smallest_normal dtype")
IInfo = namedtuple("iinfo_object", "bits max min dtype")
KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]

for _name in (*KINDS["bool"], *KINDS["numeric"]):
    if isinstance(getattr(lt, _name, None), lt.dtype):
        globals()[_name] = getattr(lt, _name)
        __all__.append(_name)


def name_of(dtype):
    return str(dtype).removeprefix("lathe.")


def isdtype(dtype, kind):
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise lt.ValueError(
                "no such kind of dtypes", op="isdtype", got=kind, expected=", ".join(KINDS)
            )
        return name_of(dtype) in KINDS[kind]
    return dtype == kind


@functools.cache
def promoted(a, b):
    """The dtype that two tensors of these meet in. One element each: no axes would be weak."""
    return (lt.zeros(1, dtype=a) + lt.zeros(1, dtype=b)).dtype


def with_number(dtype, number):
    """The dtype of an operation of a tensor with a Python number."""
    return (lt.zeros(1, dtype=dtype) + number).dtype


def result_type(*arrays_and_dtypes):
    numbers, found = [], None
    for value in arrays_and_dtypes:
        if isinstance(value, (builtins.bool, int, float, complex)):
            numbers.append(value)
            continue
        dtype = value.dtype if isinstance(value, lt.Tensor) else value
        found = dtype if found is None else promoted(found, dtype)
    if found is None:
        raise lt.ValueError("a dtype is asked for of numbers alone", op="result_type")
    for number in numbers:
        found = with_number(found, number)
    return found


def together(*values):
    """These as tensors of the dtype that they promote to, numbers among them."""
    if len({v.dtype if isinstance(v, lt.Tensor) else type(v) for v in values}) < 2:
        return values
    dtype = result_type(*values)
    return tuple(
        v.to(dtype) if isinstance(v, lt.Tensor) else lt.tensor(v, dtype=dtype) for v in values
    )


def can_cast(from_, to, /):
    dtype = from_.dtype if isinstance(from_, lt.Tensor) else from_
    try:
        return promoted(dtype, to) == to
    except lt.Error:
        return False


def astype(x, dtype, /, *, copy=True, device=None):
    made = x.to(dtype)
    made = made if device is None else made.to(device)
    return made.clone() if copy and made is x else made


def limits(found, names):
    """The numbers of lathe's finfo or iinfo, with a dtype that is one and no name of it."""
    return {n: getattr(found, n) for n in names.split()} | {"dtype": getattr(lt, str(found.dtype))}


def finfo(type, /):
    """The limits of a floating dtype; of a complex one, those of its parts."""
    found = lt.finfo(type.dtype if isinstance(type, lt.Tensor) else type)
    return FInfo(**limits(found, "bits eps max min smallest_normal"))


def iinfo(type, /):
    """The limits of an integer dtype."""
    found = lt.iinfo(type.dtype if isinstance(type, lt.Tensor) else type)
    return IInfo(**limits(found, "bits max min"))


def broadcast_shapes(*shapes):
    return tuple(lt.broadcast_shapes(*shapes))
