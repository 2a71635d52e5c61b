"""The names of signal.windows. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from .. import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """Straight up to 1 and down again."""

def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x) over one period."""

def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """Half a period of a sine."""

def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """exp(-|k - center| / tau); the centre is the middle unless given."""

def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """exp(-(k - middle)^2 / (2 std^2))."""

def general_cosine(
    M: int,
    *,
    a: float | Sequence[float],
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """a[0] - a[1] cos(x) + a[2] cos(2 x) - ... over one period."""

def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """alpha - (1 - alpha) cos(x) over one period."""

def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """0.54 - 0.46 cos(x) over one period."""

def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """(1 - cos(x)) / 2 over one period."""

def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """i0(beta sqrt(1 - t^2)) / i0(beta) for t from -1 to 1: the larger beta, the narrower."""

def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    out: Any = None,
) -> Tensor:
    """Nuttall's window of four cosines with the least side lobes."""
