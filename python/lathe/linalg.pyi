"""The names of linalg. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from . import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """The vector at right angles to both, along dim."""

def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The product of all, in the order that takes the fewest multiplications."""

def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """Sums along dim of the products of x, conjugated if it is complex, and y."""
