"""The names of masked. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from . import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

def amax(
    input: Tensor,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """The largest along dim of the elements at which mask is true."""

def amin(
    input: Tensor,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """The smallest along dim of the elements at which mask is true."""

def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """The place of the largest along dim of the elements at which mask is true."""

def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """The place of the smallest along dim of the elements at which mask is true."""

def cumprod(
    input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None, out: Any = None
) -> Tensor:
    """Running product along dim of the elements at which mask is true."""

def cumsum(
    input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None, out: Any = None
) -> Tensor:
    """Running sum along dim of the elements at which mask is true."""

def log_softmax(
    input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None, out: Any = None
) -> Tensor:
    """log_softmax along dim of the elements at which mask is true."""

def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: DTypeLike = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """log(exp(input) + exp(other)), of those at which their masks are true."""

def logsumexp(
    input: Tensor,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """log(sum(exp(x))) along dim of the elements at which mask is true."""

def mean(
    input: Tensor,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Mean (NaN of none) along dim of the elements at which mask is true."""

def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Median (NaN of none) along dim of the elements at which mask is true."""

def norm(
    input: Tensor,
    ord: float = 2.0,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """The ord-norm along dim of the elements at which mask is true."""

def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """x / max(norm, eps) along dim of the elements at which mask is true."""

def prod(
    input: Tensor,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Product along dim of the elements at which mask is true."""

def softmax(
    input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None, out: Any = None
) -> Tensor:
    """softmax along dim of the elements at which mask is true."""

def softmin(
    input: Tensor, dim: int, *, dtype: DTypeLike = None, mask: Tensor | None = None, out: Any = None
) -> Tensor:
    """softmax of -x along dim of the elements at which mask is true."""

def std(
    input: Tensor,
    *dim: Ints,
    unbiased: bool | None = None,
    correction: Number | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Standard deviation along dim of the elements at which mask is true."""

def sum(
    input: Tensor,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Sum along dim of the elements at which mask is true."""

def var(
    input: Tensor,
    *dim: Ints,
    unbiased: bool | None = None,
    correction: Number | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    mask: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Variance along dim of the elements at which mask is true."""
