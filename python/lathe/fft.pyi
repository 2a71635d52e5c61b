"""The names of fft. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from . import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

def fft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
) -> Tensor:
    """The discrete Fourier transform. Norm 'backward' scales the inverse by 1 / n,
    'forward' this one, 'ortho' both by its root. Operands are cut or padded to the lengths
    given.
    """

def fft2(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints = [-2, -1],
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The discrete Fourier transform. Norm 'backward' scales the inverse by 1 / n,
    'forward' this one, 'ortho' both by its root. Operands are cut or padded to the lengths
    given.
    """

def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """The frequencies of fft() of n points that are d apart."""

def fftn(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The discrete Fourier transform. Norm 'backward' scales the inverse by 1 / n,
    'forward' this one, 'ortho' both by its root. Operands are cut or padded to the lengths
    given.
    """

def fftshift(input: Tensor, *dim: Ints, out: Any = None) -> Tensor:
    """The frequency 0 moved to the middle, along dim or every axis."""

def hfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
) -> Tensor:
    """The transform, which is real, of the first half of numbers whose second half is its
    conjugate.
    """

def hfft2(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints = [-2, -1],
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The transform, which is real, of the first half of numbers whose second half is its
    conjugate.
    """

def hfftn(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The transform, which is real, of the first half of numbers whose second half is its
    conjugate.
    """

def ifft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
) -> Tensor:
    """The inverse of fft."""

def ifft2(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints = [-2, -1],
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of fft."""

def ifftn(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of fft."""

def ifftshift(input: Tensor, *dim: Ints, out: Any = None) -> Tensor:
    """The inverse of fftshift()."""

def ihfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
) -> Tensor:
    """The inverse of hfft."""

def ihfft2(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints = [-2, -1],
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of hfft."""

def ihfftn(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of hfft."""

def irfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
) -> Tensor:
    """The inverse of rfft; the length of the last axis is an even one unless it is given."""

def irfft2(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints = [-2, -1],
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of rfft; the length of the last axis is an even one unless it is given."""

def irfftn(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse of rfft; the length of the last axis is an even one unless it is given."""

def rfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
) -> Tensor:
    """The first half of the transform of real numbers, n / 2 + 1 along the last axis: the
    rest are its conjugates.
    """

def rfft2(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints = [-2, -1],
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The first half of the transform of real numbers, n / 2 + 1 along the last axis: the
    rest are its conjugates.
    """

def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """The frequencies of rfft() of n points that are d apart."""

def rfftn(
    input: Tensor,
    s: Ints | None = None,
    dim: Ints | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The first half of the transform of real numbers, n / 2 + 1 along the last axis: the
    rest are its conjugates.
    """
