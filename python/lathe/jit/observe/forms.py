"""Texts as data, for files: core/dispatch/printing.h says what a form is.

A text has one where it is made of texts, of tensors as str() writes them, and of numbers, also as
"8.3f" writes them. All else takes Python to be made.
"""

from ... import _lathe
from ..._lathe import Tensor
from .texts import Chosen, Text, _Made, _OfNumber, _OfTensor, _Plain

_MARKS = str.maketrans({mark: "\\" + mark for mark in "\\{}|"})


class _NoForm(Exception):
    """It is more than data can say."""


def form_of(texts):
    """The form of these texts, one behind the other, with the tensors of Text.tensors(); None if
    they have none."""
    try:
        return "".join(map(_form, texts))
    except _NoForm:
        return None


def _form(text):
    if type(text) is str:
        return text.translate(_MARKS)
    if type(text) is Text:
        return "".join(map(_form, text._parts))
    if type(text) is Chosen:
        return "{?" + "|".join(map(_form, text._texts)) + "}"
    if type(text) is _Made:
        return _made(text._function, *text._values)
    raise _NoForm


def _is_simple(spec):
    """Is it a width, digits after a point, both or neither, before a letter?"""
    width, point, digits = spec[:-1].partition(".")
    wide = width in ("", "0") or width[0] != "0" and len(width) <= 3 and width.isdecimal()
    return wide and spec[-1] in "defg" and (not point or len(digits) <= 3 and digits.isdecimal())


def _has_dtype_of(kind, value):
    """Is the tensor that stands for the number at a run one of such numbers?"""
    tensor = value if isinstance(value, Tensor) else getattr(value, "tensor", None)
    if tensor is None:  # a size or a float of the program
        return kind in (int, float)
    dtype = tensor.dtype
    if dtype is _lathe.bool or dtype.is_complex:
        return kind is bool and dtype is _lathe.bool
    return kind is (float if dtype.is_floating_point else int)


def _made(function, value, *more):
    if function not in (str, repr, format) or any(type(spec) is not _Plain for spec in more):
        raise _NoForm
    spec = more[0].now(()) if more else ""
    if type(value) is _OfTensor and not value._history:
        tensor = value._tensor
        if not spec and (function is not format or tensor.ndim > 0):
            return "{t}"
        is_number = tensor.ndim == 0 and not tensor.dtype.is_complex
        is_float = is_number and tensor.dtype.is_floating_point
    elif type(value) is _OfNumber:
        is_number, is_float = _has_dtype_of(value._kind, value._value), value._kind is float
    else:
        raise _NoForm
    if not is_number:
        raise _NoForm
    if not spec:
        return "{n}"
    if not _is_simple(spec) or (is_float and spec[-1] == "d") or ("." in spec and spec[-1] == "d"):
        raise _NoForm
    return "{n:" + spec + "}"
