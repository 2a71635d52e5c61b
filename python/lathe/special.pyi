"""The names of special. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from . import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

def expit(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-x))."""
