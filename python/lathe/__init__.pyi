"""The names of `lathe`. Printed by python/stubs/print_stubs.py; do not edit."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

from . import autograd as autograd
from . import nn as nn
from . import optim as optim
from . import special as special
from . import utils as utils
from ._files import load as load
from ._files import save as save

Number: TypeAlias = builtins.float | builtins.int | builtins.bool | builtins.complex
Ints: TypeAlias = builtins.int | Sequence[builtins.int]
DTypeLike: TypeAlias = dtype | str | type | None
DeviceLike: TypeAlias = device | str | None

__version__: str
cmake_prefix_path: str

class dtype:
    """The type of a tensor's elements."""

    @property
    def name(self) -> str: ...
    @property
    def itemsize(self) -> builtins.int: ...
    @property
    def is_floating_point(self) -> builtins.bool: ...
    @property
    def is_complex(self) -> builtins.bool: ...

class device:
    """Where a tensor lives: device('cpu'), device('sim')."""

    def __init__(self, what: device | str) -> None: ...
    @property
    def type(self) -> str: ...
    @property
    def index(self) -> builtins.int: ...

class _max(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _min(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _sort(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _topk(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class Tensor:
    """An n-dimensional array of one dtype on one device, with gradients where asked for."""

    def __init__(self, data: Any = ...) -> None: ...
    @property
    def T(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Any, /) -> Tensor: ...
    def __and__(self, other: Any, /) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any: ...
    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """The array-API standard over tensors: lathe.array_api."""
    def __bool__(self) -> builtins.bool: ...
    def __complex__(self) -> builtins.complex:
        """The number of a tensor of one element."""
    def __contains__(self, key: Any, /) -> builtins.bool: ...
    def __copy__(self) -> Tensor: ...
    def __deepcopy__(self, memo: Any) -> Tensor: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...
    def __eq__(self, other: Any, /) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> builtins.float: ...
    def __floordiv__(self, other: Any, /) -> Tensor: ...
    def __format__(self, spec: Any) -> str: ...
    def __ge__(self, other: Any, /) -> Tensor: ...
    def __getitem__(self, key: Any, /) -> Tensor: ...
    def __gt__(self, other: Any, /) -> Tensor: ...
    def __iadd__(self, other: Any, /) -> Tensor: ...
    def __iand__(self, other: Any, /) -> Tensor: ...
    def __ifloordiv__(self, other: Any, /) -> Tensor: ...
    def __imod__(self, other: Any, /) -> Tensor: ...
    def __imul__(self, other: Any, /) -> Tensor: ...
    def __index__(self) -> builtins.int: ...
    def __int__(self) -> builtins.int: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Any, /) -> Tensor: ...
    def __ipow__(self, other: Any, /) -> Tensor: ...
    def __isub__(self, other: Any, /) -> Tensor: ...
    def __iter__(self) -> Any: ...
    def __itruediv__(self, other: Any, /) -> Tensor: ...
    def __ixor__(self, other: Any, /) -> Tensor: ...
    def __le__(self, other: Any, /) -> Tensor: ...
    def __len__(self) -> builtins.int: ...
    def __lt__(self, other: Any, /) -> Tensor: ...
    def __matmul__(self, other: Any, /) -> Tensor: ...
    def __mod__(self, other: Any, /) -> Tensor: ...
    def __mul__(self, other: Any, /) -> Tensor: ...
    def __ne__(self, other: Any, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Any, /) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Any, /) -> Tensor: ...
    def __radd__(self, other: Any, /) -> Tensor: ...
    def __rand__(self, other: Any, /) -> Tensor: ...
    def __reduce_ex__(self, protocol: Any) -> Any: ...
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, other: Any, /) -> Tensor: ...
    def __rmatmul__(self, other: Any, /) -> Tensor: ...
    def __rmod__(self, other: Any, /) -> Tensor: ...
    def __rmul__(self, other: Any, /) -> Tensor: ...
    def __ror__(self, other: Any, /) -> Tensor: ...
    def __rpow__(self, other: Any, /) -> Tensor: ...
    def __rsub__(self, other: Any, /) -> Tensor: ...
    def __rtruediv__(self, other: Any, /) -> Tensor: ...
    def __rxor__(self, other: Any, /) -> Tensor: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __sub__(self, other: Any, /) -> Tensor: ...
    def __truediv__(self, other: Any, /) -> Tensor: ...
    def __xor__(self, other: Any, /) -> Tensor: ...
    @property
    def _version(self) -> builtins.int: ...
    def abs(self) -> Tensor:
        """Absolute value; of a complex number, its modulus."""
    def abs_(self) -> Tensor: ...
    def absolute(self) -> Tensor:
        """Absolute value; of a complex number, its modulus."""
    def absolute_(self) -> Tensor: ...
    def acos(self) -> Tensor:
        """Arc cosine, in radians."""
    def acos_(self) -> Tensor: ...
    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""
    def acosh_(self) -> Tensor: ...
    @overload
    def add(self, other: Tensor | Number) -> Tensor:
        """x + y, element by element."""
    @overload
    def add(self, other: Tensor | Number, *, alpha: Number) -> Tensor:
        """input + alpha * other."""
    @overload
    def add_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def add_(self, other: Tensor | Number, *, alpha: Number) -> Tensor: ...
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)."""
    def addmm_(
        self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor: ...
    def all(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """True if no element is zero."""
    def allclose(
        self, other: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
    ) -> builtins.bool:
        """Whether all elements are close (see isclose); a Python bool."""
    def amax(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Largest element over the axes of dim; NaN if there is one."""
    def amin(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Smallest element over the axes of dim; NaN if there is one."""
    def any(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """True if an element is nonzero."""
    def argmax(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Index of the largest element along dim (of the flattened input if None); the lowest
        such index; a NaN counts as largest.
        """
    def argmin(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Index of the smallest element along dim; the lowest such index; a NaN counts as
        smallest.
        """
    @overload
    def argsort(self, dim: builtins.int = -1, descending: builtins.bool = False) -> Tensor:
        """The indices of sort."""
    @overload
    def argsort(
        self, *, stable: builtins.bool, dim: builtins.int = -1, descending: builtins.bool = False
    ) -> Tensor:
        """As argsort, which is always stable."""
    def asin(self) -> Tensor:
        """Arc sine, in radians."""
    def asin_(self) -> Tensor: ...
    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine."""
    def asinh_(self) -> Tensor: ...
    def atan(self) -> Tensor:
        """Arc tangent, in radians."""
    def atan2(self, other: Tensor) -> Tensor:
        """Angle of the point (x, y), in radians, in [-pi, pi]."""
    def atan2_(self, other: Tensor) -> Tensor: ...
    def atan_(self) -> Tensor: ...
    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""
    def atanh_(self) -> Tensor: ...
    def backward(
        self, gradient: Any = None, retain_graph: Any = None, create_graph: Any = False
    ) -> None:
        """Adds the gradients of this tensor to the .grad of every leaf it depends on."""
    def bernoulli(self) -> Tensor:
        """1 with the probability that input has there, else 0. One outside of [0, 1] is a
        ValueError.
        """
    def bfloat16(self) -> Tensor:
        """Converted to lathe.bfloat16."""
    def bitwise_and(self, other: Tensor | Number) -> Tensor:
        """Bits set in both; on bool, and."""
    def bitwise_and_(self, other: Tensor | Number) -> Tensor: ...
    def bitwise_not(self) -> Tensor:
        """Every bit turned; on bool, not."""
    def bitwise_not_(self) -> Tensor: ...
    def bitwise_or(self, other: Tensor | Number) -> Tensor:
        """Bits set in either; on bool, or."""
    def bitwise_or_(self, other: Tensor | Number) -> Tensor: ...
    def bitwise_xor(self, other: Tensor | Number) -> Tensor:
        """Bits set in just one; on bool, xor."""
    def bitwise_xor_(self, other: Tensor | Number) -> Tensor: ...
    def bmm(self, mat2: Tensor) -> Tensor:
        """Matrix products of a batch: input[n, i, k] @ mat2[n, k, j]."""
    def bool(self) -> Tensor:
        """Converted to lathe.bool."""
    def byte(self) -> Tensor:
        """Converted to lathe.uint8."""
    def ceil(self) -> Tensor:
        """Smallest integer not below x."""
    def ceil_(self) -> Tensor: ...
    def cfloat(self) -> Tensor:
        """Converted to lathe.complex64."""
    def char(self) -> Tensor:
        """Converted to lathe.int8."""
    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """At most so many pieces of equal size along dim (the last may be shorter); views."""
    def clamp(
        self, min: Tensor | Number | None = None, max: Tensor | Number | None = None
    ) -> Tensor:
        """input limited to [min, max]; NaN where a bound is NaN."""
    def clamp_(
        self, min: Tensor | Number | None = None, max: Tensor | Number | None = None
    ) -> Tensor: ...
    def clamp_max(self, max: Tensor | Number) -> Tensor:
        """x, or max where x is larger; NaN if either is NaN."""
    def clamp_max_(self, max: Tensor | Number) -> Tensor: ...
    def clamp_min(self, min: Tensor | Number) -> Tensor:
        """x, or min where x is smaller; NaN if either is NaN."""
    def clamp_min_(self, min: Tensor | Number) -> Tensor: ...
    @overload
    def clone(self) -> Tensor:
        """A copy of x."""
    @overload
    def clone(self, *, memory_format: str | None) -> Tensor:
        """A copy of x."""
    def clone_(self) -> Tensor: ...
    def complex(self, imag: Tensor) -> Tensor:
        """re + i im."""
    def conj(self) -> Tensor:
        """Complex conjugate; a real x as it is."""
    def conj_(self) -> Tensor: ...
    @overload
    def contiguous(self) -> Tensor:
        """x itself if its elements lie in row-major order, else a copy that does."""
    @overload
    def contiguous(self, *, memory_format: str | None) -> Tensor:
        """x itself if its elements lie in row-major order, else a copy."""
    def copy_(self, other: Any, non_blocking: Any = False) -> Tensor:
        """other's elements, broadcast and cast, in place."""
    def cos(self) -> Tensor:
        """Cosine of x in radians."""
    def cos_(self) -> Tensor: ...
    def cosh(self) -> Tensor:
        """Hyperbolic cosine."""
    def cosh_(self) -> Tensor: ...
    def cpu(self, *, memory_format: Any = None) -> Tensor: ...
    @overload
    def cumprod(self, dim: builtins.int, *, reverse: builtins.bool = False) -> Tensor:
        """Running product along dim, from its start or, reversed, from its end."""
    @overload
    def cumprod(
        self, dim: builtins.int, *, reverse: builtins.bool = False, dtype: DTypeLike
    ) -> Tensor:
        """Running product along dim, from its start or, reversed, from its end."""
    def cumprod_(self, dim: builtins.int, *, reverse: builtins.bool = False) -> Tensor: ...
    @overload
    def cumsum(self, dim: builtins.int, *, reverse: builtins.bool = False) -> Tensor:
        """Running sum along dim, from its start or, reversed, from its end. Order:
        docs/architecture.md.
        """
    @overload
    def cumsum(
        self, dim: builtins.int, *, reverse: builtins.bool = False, dtype: DTypeLike
    ) -> Tensor:
        """Running sum along dim, from its start or, reversed, from its end. Order:
        docs/architecture.md.
        """
    def cumsum_(self, dim: builtins.int, *, reverse: builtins.bool = False) -> Tensor: ...
    @property
    def data(self) -> Tensor: ...
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def data_ptr(self) -> builtins.int:
        """Address of the first element."""
    def detach(self) -> Tensor:
        """The same elements without history."""
    def detach_(self) -> Tensor:
        """Takes this tensor out of history."""
    @property
    def device(self) -> device: ...
    def digamma(self) -> Tensor:
        """Derivative of lgamma."""
    def digamma_(self) -> Tensor: ...
    def dim(self) -> builtins.int:
        """Number of axes."""
    def dim_order(self) -> tuple[builtins.int, ...]:
        """The axes from the one with the longest steps to the one with the shortest."""
    @overload
    def div(self, other: Tensor | Number) -> Tensor:
        """x / y; integers are divided as floats."""
    @overload
    def div(self, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor:
        """The quotient, rounded towards zero ('trunc') or down ('floor')."""
    @overload
    def div_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def div_(self, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor: ...
    def double(self) -> Tensor:
        """Converted to lathe.float64."""
    @property
    def dtype(self) -> dtype: ...
    def element_size(self) -> builtins.int:
        """Bytes of one element."""
    def eq(self, other: Tensor | Number) -> Tensor:
        """x == y."""
    def eq_(self, other: Tensor | Number) -> Tensor: ...
    def equal(self, other: Any) -> builtins.bool:
        """Whether both have one shape and equal elements; a Python bool."""
    def erf(self) -> Tensor:
        """Error function."""
    def erf_(self) -> Tensor: ...
    def erfc(self) -> Tensor:
        """1 - erf(x), accurate for large x."""
    def erfc_(self) -> Tensor: ...
    def erfinv(self) -> Tensor:
        """Inverse of erf on (-1, 1)."""
    def erfinv_(self) -> Tensor: ...
    def exp(self) -> Tensor:
        """e to the power x."""
    def exp2(self) -> Tensor:
        """2 to the power x."""
    def exp2_(self) -> Tensor: ...
    def exp_(self) -> Tensor: ...
    def expand(self, *size: Ints) -> Tensor:
        """Axes of size 1 repeated without a copy; new axes may be added in front; -1 keeps a
        size.
        """
    def expand_as(self, other: Tensor) -> Tensor:
        """input expanded to the shape of other; a view."""
    def expm1(self) -> Tensor:
        """exp(x) - 1, accurate near 0."""
    def expm1_(self) -> Tensor: ...
    def fill_(self, value: Any) -> Tensor:
        """value everywhere, in place."""
    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Axes start_dim..end_dim joined into one."""
    def float(self) -> Tensor:
        """Converted to lathe.float32."""
    def floor(self) -> Tensor:
        """Largest integer not above x."""
    def floor_(self) -> Tensor: ...
    def floor_divide(self, other: Tensor | Number) -> Tensor:
        """The largest integer not above x / y, as Python's //. An integer division by zero is a
        ValueError.
        """
    def floor_divide_(self, other: Tensor | Number) -> Tensor: ...
    def fma(self, other: Tensor | Number, addend: Tensor | Number) -> Tensor:
        """x * y + z with one rounding."""
    def fma_(self, other: Tensor | Number, addend: Tensor | Number) -> Tensor: ...
    def fmax(self, other: Tensor) -> Tensor:
        """The larger of the two; where one is NaN, the other."""
    def fmax_(self, other: Tensor) -> Tensor: ...
    def fmin(self, other: Tensor) -> Tensor:
        """The smaller of the two; where one is NaN, the other."""
    def fmin_(self, other: Tensor) -> Tensor: ...
    def fmod(self, other: Tensor | Number) -> Tensor:
        """x modulo y, with the sign of x, as C's fmod and %; exact. An integer division by zero
        is a ValueError.
        """
    def fmod_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def gather(self, dim: builtins.int, index: Tensor) -> Tensor:
        """out[i][j] = x[index[i][j]][j] for dim 0, and so on. Negative indexes are refused."""
    @overload
    def gather(self, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool) -> Tensor:
        """As gather; sparse gradients do not exist."""
    def ge(self, other: Tensor | Number) -> Tensor:
        """x >= y."""
    def ge_(self, other: Tensor | Number) -> Tensor: ...
    def get_device(self) -> builtins.int:
        """The index of the device, -1 for the host."""
    @property
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @property
    def grad_fn(self) -> Any: ...
    def gt(self, other: Tensor | Number) -> Tensor:
        """x > y."""
    def gt_(self, other: Tensor | Number) -> Tensor: ...
    def half(self) -> Tensor:
        """Converted to lathe.float16."""
    @property
    def imag(self) -> Tensor: ...
    def imag_(self) -> Tensor: ...
    @overload
    def index_add(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        """x with the slices of src added to those that index names along dim, in order."""
    @overload
    def index_add(
        self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: Number
    ) -> Tensor:
        """input with alpha * source added to the slices that index names along dim."""
    @overload
    def index_add_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor: ...
    @overload
    def index_add_(
        self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: Number
    ) -> Tensor: ...
    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Whole slices of x along dim, in the order of index; index may have any rank."""
    def int(self) -> Tensor:
        """Converted to lathe.int32."""
    def is_complex(self) -> builtins.bool: ...
    def is_conj(self) -> builtins.bool:
        """False: there is no such tensor here."""
    def is_contiguous(self, *, memory_format: Any = None) -> builtins.bool:
        """Whether elements lie in row-major order."""
    @property
    def is_cpu(self) -> Tensor: ...
    is_cuda: Any
    def is_floating_point(self) -> builtins.bool: ...
    def is_inference(self) -> builtins.bool:
        """False: there is no such tensor here."""
    is_ipu: Any
    @property
    def is_leaf(self) -> builtins.bool: ...
    is_meta: Any
    is_mkldnn: Any
    is_mps: Any
    def is_neg(self) -> builtins.bool:
        """False: there is no such tensor here."""
    def is_nonzero(self) -> builtins.bool:
        """Whether the only element is not zero. ValueError if there is not one."""
    def is_pinned(self) -> builtins.bool:
        """False: there is no such tensor here."""
    is_quantized: Any
    def is_same_size(self, other: Any) -> builtins.bool: ...
    def is_set_to(self, tensor: Any) -> builtins.bool:
        """Whether both are the same elements of the same memory in the same order."""
    def is_shared(self) -> builtins.bool:
        """False: there is no such tensor here."""
    def is_signed(self) -> builtins.bool: ...
    is_sparse: Any
    is_vulkan: Any
    is_xla: Any
    is_xpu: Any
    def isclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> Tensor:
        """|input - other| <= atol + rtol * |other|, element by element; equal infinities are
        close, NaNs if equal_nan.
        """
    def isfinite(self) -> Tensor:
        """True where x is neither infinite nor NaN."""
    def isfinite_(self) -> Tensor: ...
    def isinf(self) -> Tensor:
        """True where x is infinite."""
    def isinf_(self) -> Tensor: ...
    def isnan(self) -> Tensor:
        """True where x is not a number."""
    def isnan_(self) -> Tensor: ...
    def item(self) -> Any:
        """The only element, as a Python number. ValueError if there is not one."""
    @property
    def itemsize(self) -> builtins.int: ...
    layout: Any
    def le(self, other: Tensor | Number) -> Tensor:
        """x <= y."""
    def le_(self, other: Tensor | Number) -> Tensor: ...
    def lerp(self, end: Tensor, weight: Tensor | Number) -> Tensor:
        """x + weight * (y - x), or y - (y - x) * (1 - weight) from |weight| of 0.5 on: from x
        to y as weight goes from 0 to 1.
        """
    def lerp_(self, end: Tensor, weight: Tensor | Number) -> Tensor: ...
    def lgamma(self) -> Tensor:
        """log |gamma(x)|."""
    def lgamma_(self) -> Tensor: ...
    def log(self) -> Tensor:
        """Natural logarithm; NaN below 0."""
    def log10(self) -> Tensor:
        """Logarithm to base 10."""
    def log10_(self) -> Tensor: ...
    def log1p(self) -> Tensor:
        """log(1 + x), accurate near 0."""
    def log1p_(self) -> Tensor: ...
    def log2(self) -> Tensor:
        """Logarithm to base 2."""
    def log2_(self) -> Tensor: ...
    def log_(self) -> Tensor: ...
    @overload
    def log_softmax(self, dim: builtins.int) -> Tensor:
        """log(softmax(x)) along dim, without overflow."""
    @overload
    def log_softmax(self, dim: builtins.int, *, dtype: DTypeLike) -> Tensor:
        """log(softmax(x)) along dim, without overflow."""
    @overload
    def log_softmax(self, dim: builtins.int, dtype: DTypeLike) -> Tensor:
        """log(softmax(x)) along dim, without overflow."""
    def logical_and(self, other: Tensor) -> Tensor:
        """True where both are nonzero."""
    def logical_and_(self, other: Tensor) -> Tensor: ...
    def logical_not(self) -> Tensor:
        """True where x is zero."""
    def logical_not_(self) -> Tensor: ...
    def logical_or(self, other: Tensor) -> Tensor:
        """True where either is nonzero."""
    def logical_or_(self, other: Tensor) -> Tensor: ...
    def logsumexp(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """log(sum(exp(x))), without overflow: the largest element is taken out first."""
    def long(self) -> Tensor:
        """Converted to lathe.int64."""
    def lt(self, other: Tensor | Number) -> Tensor:
        """x < y."""
    def lt_(self, other: Tensor | Number) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """value where mask (bool) is true, in the dtype of input."""
    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Tensor: ...
    def matmul(self, other: Tensor) -> Tensor:
        """Matrix product; a 1-d operand is a row on the left and a column on the right."""
    @overload
    def max(self, dim: builtins.int, keepdim: builtins.bool = False) -> _max:
        """Largest element along dim, and its lowest index."""
    @overload
    def max(self) -> Tensor:
        """The largest element; NaN if one is NaN."""
    @overload
    def max(self, other: Tensor) -> Tensor:
        """The larger of the two, element by element; NaN if either is NaN."""
    def maximum(self, other: Tensor | Number) -> Tensor:
        """The larger of x and y; NaN if either is NaN."""
    def maximum_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def mean(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Arithmetic mean over the axes of dim; NaN of no elements."""
    @overload
    def mean(self, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike) -> Tensor:
        """Arithmetic mean over the axes of dim; NaN of no elements."""
    @overload
    def min(self, dim: builtins.int, keepdim: builtins.bool = False) -> _min:
        """Smallest element along dim, and its lowest index."""
    @overload
    def min(self) -> Tensor:
        """The smallest element; NaN if one is NaN."""
    @overload
    def min(self, other: Tensor) -> Tensor:
        """The smaller of the two, element by element; NaN if either is NaN."""
    def minimum(self, other: Tensor | Number) -> Tensor:
        """The smaller of x and y; NaN if either is NaN."""
    def minimum_(self, other: Tensor | Number) -> Tensor: ...
    def mm(self, mat2: Tensor, out_dtype: DTypeLike = None) -> Tensor:
        """Matrix product over the last two axes; leading axes broadcast. out_dtype: of the sums
        and the result, wider than the operands' own.
        """
    def mul(self, other: Tensor | Number) -> Tensor:
        """x * y, element by element."""
    def mul_(self, other: Tensor | Number) -> Tensor: ...
    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """length elements from start along dim, which may count from the end; a view."""
    @property
    def nbytes(self) -> builtins.int: ...
    @property
    def ndim(self) -> builtins.int: ...
    def ndimension(self) -> builtins.int:
        """Number of axes."""
    def ne(self, other: Tensor | Number) -> Tensor:
        """x != y; true where either is NaN."""
    def ne_(self, other: Tensor | Number) -> Tensor: ...
    def neg(self) -> Tensor:
        """-x."""
    def neg_(self) -> Tensor: ...
    def nelement(self) -> builtins.int:
        """Number of elements."""
    def new(self, *shape: Any) -> Tensor:
        """A tensor of this one's dtype and device: of zeros if sizes are given, else of the
        data.
        """
    def new_empty(self, *size: Any, **options: Any) -> Tensor:
        """A tensor of these sizes, its elements not set; options as in new_zeros."""
    def new_full(self, size: Any, fill_value: Any, **options: Any) -> Tensor:
        """fill_value in these sizes; options as in new_zeros."""
    def new_ones(self, *size: Any, **options: Any) -> Tensor:
        """Ones of these sizes; options as in new_zeros."""
    def new_tensor(
        self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
    ) -> Tensor:
        """data as a tensor of this one's dtype and device, or of those given."""
    def new_zeros(self, *size: Any, **options: Any) -> Tensor:
        """Zeros of these sizes; options as in lathe.zeros, by default this one's dtype and
        device.
        """
    @overload
    def norm(
        self,
        p: Number | None = 2,
        *dim: Ints,
        keepdim: builtins.bool = False,
        dtype: DTypeLike = None,
    ) -> Tensor:
        """(sum |x|^p)^(1/p) over dim, or over everything; integers as floats. p: a number, inf,
        -inf, 0 (how many elements are not 0) or 'fro', which is 2. Where the norm is 0 its
        derivative is taken as 0.
        """
    @overload
    def norm(
        self, p: str, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike = None
    ) -> Tensor:
        """(sum |x|^p)^(1/p) over dim, or over everything; integers as floats. p: a number, inf,
        -inf, 0 (how many elements are not 0) or 'fro', which is 2. Where the norm is 0 its
        derivative is taken as 0.
        """
    def normal_(self, mean: Any = 0.0, std: Any = 1.0) -> Tensor:
        """Normal numbers, in place. ValueError for a negative std."""
    def numel(self) -> builtins.int:
        """Number of elements."""
    def numpy(self, *, force: Any = False) -> Any:
        """A NumPy array over the same memory (a copy from other devices). AutogradError if
        the tensor requires grad, unless forced; DTypeError for bfloat16.
        """
    def permute(self, *dims: Ints) -> Tensor:
        """Axes in another order."""
    def pow(self, exponent: Tensor | Number) -> Tensor:
        """x to the power y. By the numbers 2, 3, 0.5, -0.5, -1 and -2 it is x * x, x * x * x,
        sqrt(x), 1 / sqrt(x), 1 / x and 1 / (x * x). Integers stay integers; to a negative power
        they are a ValueError.
        """
    def pow_(self, exponent: Tensor | Number) -> Tensor: ...
    @overload
    def prod(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Product over the axes of dim."""
    @overload
    def prod(self, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike) -> Tensor:
        """Product over the axes of dim."""
    @property
    def real(self) -> Tensor: ...
    def real_(self) -> Tensor: ...
    def reciprocal(self) -> Tensor:
        """1 / x."""
    def reciprocal_(self) -> Tensor: ...
    def register_hook(self, hook: Any) -> Any:
        """Calls hook(gradient) in backward(); what it gives, if not None, replaces the
        gradient.
        """
    def relu(self) -> Tensor:
        """max(x, 0); NaN stays NaN; the derivative at 0 is 0."""
    def relu_(self) -> Tensor: ...
    def remainder(self, other: Tensor | Number) -> Tensor:
        """x modulo y, with the sign of y, as Python's %."""
    def remainder_(self, other: Tensor | Number) -> Tensor: ...
    def repeat(self, *repeats: Ints) -> Tensor:
        """input laid side by side, repeats[i] times along axis i; more counts than axes make
        new axes in front.
        """
    @property
    def requires_grad(self) -> builtins.bool: ...
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    def requires_grad_(self, requires_grad: Any = True) -> Tensor:
        """Records what is done with this leaf from now on."""
    def reshape(self, *shape: Ints) -> Tensor:
        """The same elements under another shape: a view where possible, else a copy."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """input reshaped to the shape of other."""
    def retain_grad(self) -> None:
        """Keeps the gradient of a computed tensor in .grad, too."""
    @overload
    def round(self) -> Tensor:
        """Nearest integer, ties to even."""
    @overload
    def round(self, *, decimals: builtins.int) -> Tensor:
        """Rounded to so many decimals, which may be negative; ties to even."""
    @overload
    def round_(self) -> Tensor: ...
    @overload
    def round_(self, *, decimals: builtins.int) -> Tensor: ...
    def rsqrt(self) -> Tensor:
        """1 / sqrt(x), the square root rounded first."""
    def rsqrt_(self) -> Tensor: ...
    @overload
    def scatter(self, dim: builtins.int, index: Tensor, src: Tensor | Number) -> Tensor:
        """x with src written at index along dim; of several writes to one place the last in
        row-major order stays. src may be a number.
        """
    @overload
    def scatter(self, dim: builtins.int, index: Tensor, value: Number) -> Tensor:
        """input with value written at index along dim."""
    @overload
    def scatter_(self, dim: builtins.int, index: Tensor, src: Tensor | Number) -> Tensor: ...
    @overload
    def scatter_(self, dim: builtins.int, index: Tensor, value: Number) -> Tensor: ...
    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """x with src added at index along dim, in row-major order."""
    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor: ...
    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """x[index] along dim; a view without that axis."""
    @property
    def shape(self) -> tuple[builtins.int, ...]: ...
    def short(self) -> Tensor:
        """Converted to lathe.int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Tensor: ...
    def sign(self) -> Tensor:
        """-1, 0 or 1; a NaN and a zero stay as they are."""
    def sign_(self) -> Tensor: ...
    def sin(self) -> Tensor:
        """Sine of x in radians."""
    def sin_(self) -> Tensor: ...
    def sinh(self) -> Tensor:
        """Hyperbolic sine."""
    def sinh_(self) -> Tensor: ...
    def size(self, dim: Any = None) -> Any:
        """All sizes, or the one of an axis."""
    @overload
    def softmax(self, dim: builtins.int) -> Tensor:
        """exp(x) / sum(exp(x)) along dim, without overflow."""
    @overload
    def softmax(self, dim: builtins.int, *, dtype: DTypeLike) -> Tensor:
        """exp(x) / sum(exp(x)) along dim, without overflow."""
    @overload
    def softmax(self, dim: builtins.int, dtype: DTypeLike) -> Tensor:
        """exp(x) / sum(exp(x)) along dim, without overflow."""
    @overload
    def sort(self, dim: builtins.int = -1, descending: builtins.bool = False) -> _sort:
        """Sorted along dim, and where each came from. Stable; NaN counts as largest."""
    @overload
    def sort(
        self,
        *,
        stable: builtins.bool | None,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
    ) -> _sort:
        """As sort, which is always stable."""
    @overload
    def split(
        self, split_size_or_sections: builtins.int, dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Pieces of that size along dim (the last may be shorter); views."""
    @overload
    def split(self, split_size_or_sections: Ints, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Pieces of these sizes along dim, which they cover; views."""
    @overload
    def split(self, split_size: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Pieces of that size along dim; views."""
    @overload
    def split(self, split_size: Ints, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Pieces of these sizes along dim; views."""
    def sqrt(self) -> Tensor:
        """Square root; NaN below 0."""
    def sqrt_(self) -> Tensor: ...
    def square(self) -> Tensor:
        """x * x."""
    def square_(self) -> Tensor: ...
    def squeeze(self, *dim: Ints) -> Tensor:
        """Without the axes of size 1 that dim names; without all of them if it is None."""
    @overload
    def std(self, unbiased: builtins.bool) -> Tensor:
        """Square root of var; its gradient is 0 where that is 0."""
    @overload
    def std(
        self, *dim: Ints, correction: Number | None = 1, keepdim: builtins.bool = False
    ) -> Tensor:
        """Square root of var; its gradient is 0 where that is 0."""
    @overload
    def std(
        self, *dim: Ints, unbiased: builtins.bool = True, keepdim: builtins.bool = False
    ) -> Tensor:
        """Square root of var; its gradient is 0 where that is 0."""
    def storage_offset(self) -> builtins.int:
        """Where the first element is, in elements."""
    def stride(self, dim: Any = None) -> Any:
        """Steps between neighbours along each axis, or one, in elements."""
    @overload
    def sub(self, other: Tensor | Number) -> Tensor:
        """x - y, element by element."""
    @overload
    def sub(self, other: Tensor | Number, *, alpha: Number) -> Tensor:
        """input - alpha * other."""
    @overload
    def sub_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def sub_(self, other: Tensor | Number, *, alpha: Number) -> Tensor: ...
    @overload
    def sum(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Sum over the axes of dim (all if empty). Order: the fixed tree of
        docs/architecture.md.
        """
    @overload
    def sum(self, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike) -> Tensor:
        """Sum over the axes of dim (all if empty). Order: the fixed tree of
        docs/architecture.md.
        """
    def t(self) -> Tensor:
        """The transpose of a matrix, a vector as it is; a view."""
    def tan(self) -> Tensor:
        """Tangent of x in radians."""
    def tan_(self) -> Tensor: ...
    def tanh(self) -> Tensor:
        """Hyperbolic tangent."""
    def tanh_(self) -> Tensor: ...
    @overload
    def to(
        self, dtype: Any, non_blocking: Any = False, copy: Any = False, *, memory_format: Any = None
    ) -> Tensor:
        """Converted to a dtype, moved to a device, or both, or like another tensor; itself
        if it is there already, unless a copy is asked for. non_blocking changes nothing.
        """
    @overload
    def to(
        self,
        device: Any = None,
        dtype: Any = None,
        non_blocking: Any = False,
        copy: Any = False,
        *,
        memory_format: Any = None,
    ) -> Tensor:
        """Converted to a dtype, moved to a device, or both, or like another tensor; itself
        if it is there already, unless a copy is asked for. non_blocking changes nothing.
        """
    @overload
    def to(
        self,
        tensor: Any,
        non_blocking: Any = False,
        copy: Any = False,
        *,
        memory_format: Any = None,
    ) -> Tensor:
        """Converted to a dtype, moved to a device, or both, or like another tensor; itself
        if it is there already, unless a copy is asked for. non_blocking changes nothing.
        """
    def to_device(self, device: Any, *, stream: Any = None) -> Tensor:
        """On that device; the array-API standard's name of to()."""
    def tolist(self) -> Any:
        """The elements as nested lists."""
    @overload
    def topk(self, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True) -> _topk:
        """The k largest (smallest) along dim, in order. Ties: lowest index first; NaN is
        largest.
        """
    @overload
    def topk(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> _topk:
        """As topk, whose results are always in order."""
    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two axes exchanged; a view."""
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """The lower triangle of the last two axes; zeros above the diagonal."""
    def tril_(self, diagonal: builtins.int = 0) -> Tensor: ...
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """The upper triangle of the last two axes; zeros below the diagonal."""
    def triu_(self, diagonal: builtins.int = 0) -> Tensor: ...
    def trunc(self) -> Tensor:
        """x without its fraction."""
    def trunc_(self) -> Tensor: ...
    def type(self, dtype: Any = None, non_blocking: Any = False) -> Any:
        """The name of the class for this dtype ('lathe.FloatTensor'), or, given a dtype, a
        class or its name, this tensor converted to it.
        """
    def type_as(self, other: Any) -> Tensor: ...
    def unbind(self, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """The slices along dim, without that axis; views."""
    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """Windows of `size` elements along an axis, each `step` after the one before, as a new
        last axis; a view that cannot be written through.
        """
    def uniform_(self, low: Any = 0.0, high: Any = 1.0) -> Tensor:
        """Uniform numbers in [low, high), in place. ValueError unless low <= high."""
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """With a new axis of size 1 at dim."""
    @overload
    def var(self, unbiased: builtins.bool) -> Tensor:
        """Sum of squared distances from the mean, over (count - correction). Two passes."""
    @overload
    def var(
        self, *dim: Ints, correction: Number | None = 1, keepdim: builtins.bool = False
    ) -> Tensor:
        """Sum of squared distances from the mean, over (count - correction). Two passes."""
    @overload
    def var(
        self, *dim: Ints, unbiased: builtins.bool = True, keepdim: builtins.bool = False
    ) -> Tensor:
        """Sum of squared distances from the mean, over (count - correction). Two passes."""
    def view(self, *size: Ints) -> Tensor:
        """The same elements under another shape, without a copy. One size may be -1."""
    def view_as(self, other: Tensor) -> Tensor:
        """input viewed under the shape of other."""
    def where(self, condition: Tensor, other: Tensor | Number) -> Tensor:
        """input where the condition holds, else other."""
    def zero_(self) -> Tensor:
        """Zeros, in place."""

class Error(Exception):
    """What Lathe raises. op, problem, got, expected, next (what to do) and site (the line
    of the program that asked for it) are attributes; str() is all of them.
    """

    op: str
    problem: str
    got: str
    expected: str
    next: str
    site: str

class AliasError(Error, builtins.RuntimeError, builtins.ValueError):
    """A write that overlaps itself or another operand."""

class AutogradError(Error, builtins.RuntimeError):
    """Backward without history, or a saved value that changed."""

class CancelledError(Error, builtins.KeyboardInterrupt):
    """Stopped before it was done."""

class DTypeError(Error, builtins.RuntimeError, builtins.TypeError):
    """An element type the op is not defined for."""

class DeviceError(Error, builtins.RuntimeError, builtins.ValueError):
    """Operands on different devices, or an unknown device."""

class FileError(Error, builtins.OSError):
    """A damaged, unknown or unreadable file."""

class IndexError(Error, builtins.IndexError):
    """An axis or an element index out of range."""

class InternalError(Error, builtins.RuntimeError):
    """A fault in Lathe itself; please report it."""

class MemoryError(Error, builtins.MemoryError):
    """Out of memory, or over the flag max_memory."""

class NameError(Error, builtins.AttributeError):
    """An op, flag or attribute that does not exist."""

class OverflowError(Error, builtins.OverflowError, builtins.ValueError):
    """A size or count outside the range of a size."""

class ScriptError(Error, builtins.RuntimeError):
    """Something a script cannot express."""

class ShapeError(Error, builtins.RuntimeError, builtins.ValueError):
    """Sizes do not fit together."""

class TraceError(Error, builtins.RuntimeError):
    """Something a trace cannot capture."""

class TypeError(Error, builtins.TypeError):
    """An argument of the wrong kind altogether."""

class UnsupportedError(Error, builtins.NotImplementedError):
    """Valid, but this build or device has no way to do it."""

class ValueError(Error, builtins.ValueError):
    """An argument outside its domain."""

bfloat16: dtype
bool: dtype
byte: dtype
cfloat: dtype
char: dtype
complex64: dtype
double: dtype
float: dtype
float16: dtype
float32: dtype
float64: dtype
half: dtype
int: dtype
int16: dtype
int32: dtype
int64: dtype
int8: dtype
long: dtype
short: dtype
uint8: dtype
e: builtins.float
inf: builtins.float
nan: builtins.float
pi: builtins.float
newaxis: None

def allclose(
    input: Any, other: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
) -> builtins.bool:
    """Whether all elements are close (see isclose); a Python bool."""

def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """data itself if it is a tensor of that kind, a tensor over its memory where that can
    be, else a copy.
    """

def backward(
    tensors: Any,
    grad_tensors: Any | None = ...,
    retain_graph: Any | None = ...,
    create_graph: builtins.bool = ...,
) -> None:
    """Adds the gradients of the sum of `tensors` to the .grad of every leaf they depend on.
    grad_tensors: what each is multiplied by; may be left out for tensors of one element.
    AutogradError where there is no history, or a saved value has changed.
    """

def equal(input: Any, other: Any) -> builtins.bool:
    """Whether both have one shape and equal elements; a Python bool."""

def flags() -> list:
    """All flags: (name, environment variable, default, meaning)."""

def from_dlpack(
    ext_tensor: Any, *, device: Any | None = ..., copy: builtins.bool | None = ...
) -> Tensor:
    """A tensor over the memory of another library's array (anything with __dlpack__, or its
    capsule). DeviceError for memory that is not the cpu's, ValueError where it is read-
    only.
    """

def from_numpy(array: Any) -> Tensor:
    """A tensor over the array's own memory: what one writes the other sees. The array must
    be writable and its strides not negative; lathe.tensor(array) copies any.
    """

def frombuffer(buffer: Any) -> Tensor:
    """The same for any writable object with the buffer protocol."""

def get_default_dtype() -> Any:
    """The dtype of float tensors where none is asked for."""

def get_device(input: Any) -> builtins.int:
    """The index of the device, -1 for the host."""

def get_flag(name: str) -> str:
    """The value of a flag, as text. AttributeError for an unknown one."""

def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any | None = ...,
    retain_graph: Any | None = ...,
    create_graph: builtins.bool = ...,
    allow_unused: builtins.bool = ...,
) -> Any:
    """The gradients of the sum of `outputs` by each of `inputs`, as a tuple; no .grad
    changes. create_graph=True records the computation, for higher derivatives.
    """

def is_complex(input: Any) -> builtins.bool: ...
def is_conj(input: Any) -> builtins.bool:
    """False: conj() conjugates at once."""

def is_floating_point(input: Any) -> builtins.bool: ...
def is_grad_enabled() -> builtins.bool:
    """Whether operations are recorded on this thread."""

def is_inference(input: Any) -> builtins.bool:
    """False: no tensor is barred from history for ever."""

def is_neg(input: Any) -> builtins.bool:
    """False: neg() negates at once."""

def is_nonzero(input: Any) -> builtins.bool:
    """Whether the only element is not zero."""

def is_storage(obj: Any) -> builtins.bool:
    """False: storages are no objects here."""

def is_tensor(obj: Any) -> builtins.bool: ...
def manual_seed(seed: builtins.int) -> None:
    """Starts the random stream anew: the same seed gives the same numbers, in every mode
    and for any number of threads.
    """

def numel(input: Any) -> builtins.int: ...
def promote_types(type1: Any, type2: Any) -> Any:
    """The least dtype that both can be converted to. DTypeError where there is none."""

def scan(function: Any, start: Any, x: Any, dim: Any = 0) -> Any:
    """carry, y = function(carry, slice) for each slice of x along dim; the last carry, and
    the ys stacked along dim.
    """

def set_default_dtype(dtype: Any) -> None:
    """Makes Python floats, zeros(), rand() and so on give this float dtype."""

def set_flag(name: str, value: Any) -> None:
    """Sets a flag of the process. ValueError says what fits."""

def set_printoptions(
    precision: Any | None = ...,
    threshold: Any | None = ...,
    edgeitems: Any | None = ...,
    linewidth: Any | None = ...,
) -> None:
    """How tensors are printed."""

def table(op: str, *arguments) -> str:
    """Which implementations can run an op, in order: the first that accepts does; and why
    one cannot be used at all (disabled by flag, not built). With the op's arguments: what
    each says to them, and which is chosen.
    """

def tensor(
    data: Any,
    *,
    dtype: Any | None = ...,
    device: Any | None = ...,
    requires_grad: builtins.bool = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """A copy of data: a number, nested sequences of numbers, a tensor, or whatever has the
    buffer protocol (a NumPy array keeps its dtype). Python floats take the default dtype,
    ints int64. ValueError for ragged sequences, TypeError for what is no number.
    """

def use_table(text: str) -> None:
    """Takes rules such as "mm f32 1..64 eigen.gemm", one a line: a product of this dtype
    whose summed extent lies in the range goes to that entry, if it accepts. The first rule
    that fits counts; '#' begins a comment. To be called before the first op; ValueError,
    UnsupportedError.
    """

def while_loop(condition: Any, body: Any, values: Any) -> Any:
    """values = body(*values) as long as condition(*values) holds; the last values, as a
    tuple.
    """

def abs(input: Tensor, *, out: Any = None) -> Tensor:
    """Absolute value; of a complex number, its modulus."""

def absolute(input: Tensor, *, out: Any = None) -> Tensor:
    """Absolute value; of a complex number, its modulus."""

def acos(input: Tensor, *, out: Any = None) -> Tensor:
    """Arc cosine, in radians."""

def acosh(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse hyperbolic cosine."""

@overload
def add(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x + y, element by element."""

@overload
def add(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number, out: Any = None
) -> Tensor:
    """input + alpha * other."""

def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""

def all(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """True if no element is zero."""

def amax(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """Largest element over the axes of dim; NaN if there is one."""

def amin(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """Smallest element over the axes of dim; NaN if there is one."""

def any(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """True if an element is nonzero."""

@overload
def arange(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """start, start + step, ... below end; each is start + i * step, rounded once a step."""

@overload
def arange(
    end: Number,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """0, 1, ... below end."""

def argmax(
    input: Tensor,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Index of the largest element along dim (of the flattened input if None); the lowest
    such index; a NaN counts as largest.
    """

def argmin(
    input: Tensor,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Index of the smallest element along dim; the lowest such index; a NaN counts as
    smallest.
    """

@overload
def argsort(
    input: Tensor, dim: builtins.int = -1, descending: builtins.bool = False, *, out: Any = None
) -> Tensor:
    """The indices of sort."""

@overload
def argsort(
    input: Tensor,
    *,
    stable: builtins.bool,
    dim: builtins.int = -1,
    descending: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """As argsort, which is always stable."""

def asin(input: Tensor, *, out: Any = None) -> Tensor:
    """Arc sine, in radians."""

def asinh(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse hyperbolic sine."""

def atan(input: Tensor, *, out: Any = None) -> Tensor:
    """Arc tangent, in radians."""

def atan2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Angle of the point (x, y), in radians, in [-pi, pi]."""

def atanh(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse hyperbolic tangent."""

def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    cudnn_enabled: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Normalisation a channel over batch and space (Ioffe and Szegedy 2015); in training
    the running mean and (unbiased) variance move by momentum.
    """

@overload
def bernoulli(input: Tensor, *, out: Any = None) -> Tensor:
    """1 with the probability that input has there, else 0. One outside of [0, 1] is a
    ValueError.
    """

@overload
def bernoulli(input: Tensor, p: builtins.float, *, out: Any = None) -> Tensor:
    """1 with probability p, else 0; of the shape and dtype of input."""

def bitwise_and(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """Bits set in both; on bool, and."""

def bitwise_not(input: Tensor, *, out: Any = None) -> Tensor:
    """Every bit turned; on bool, not."""

def bitwise_or(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """Bits set in either; on bool, or."""

def bitwise_xor(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """Bits set in just one; on bool, xor."""

def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    """Matrix products of a batch: input[n, i, k] @ mat2[n, k, j]."""

def cat(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """Tensors joined along an axis they all have."""

def ceil(input: Tensor, *, out: Any = None) -> Tensor:
    """Smallest integer not below x."""

def chunk(
    input: Tensor, chunks: builtins.int, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """At most so many pieces of equal size along dim (the last may be shorter); views."""

def clamp(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input limited to [min, max]; NaN where a bound is NaN."""

def clamp_max(input: Tensor, max: Tensor | Number, *, out: Any = None) -> Tensor:
    """x, or max where x is larger; NaN if either is NaN."""

def clamp_min(input: Tensor, min: Tensor | Number, *, out: Any = None) -> Tensor:
    """x, or min where x is smaller; NaN if either is NaN."""

@overload
def clone(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of x."""

@overload
def clone(input: Tensor, *, memory_format: str | None, out: Any = None) -> Tensor:
    """A copy of x."""

def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """re + i im."""

def conj(input: Tensor, *, out: Any = None) -> Tensor:
    """Complex conjugate; a real x as it is."""

def constant_pad_nd(input: Tensor, pad: Ints, value: Number = 0, *, out: Any = None) -> Tensor:
    """input with a border of value; pad lists (before, after) from the last axis on."""

@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Cross-correlation of input[n, c, ...] with weight[o, c / groups, ...], plus bias[o];
    input without n is one image. padding: numbers, 'valid', or 'same' at stride 1.
    """

@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: str = "valid",
    dilation: Ints = 1,
    groups: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Cross-correlation of input[n, c, ...] with weight[o, c / groups, ...], plus bias[o];
    input without n is one image. padding: numbers, 'valid', or 'same' at stride 1.
    """

@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Cross-correlation of input[n, c, ...] with weight[o, c / groups, ...], plus bias[o];
    input without n is one image. padding: numbers, 'valid', or 'same' at stride 1.
    """

@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: str = "valid",
    dilation: Ints = 1,
    groups: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Cross-correlation of input[n, c, ...] with weight[o, c / groups, ...], plus bias[o];
    input without n is one image. padding: numbers, 'valid', or 'same' at stride 1.
    """

@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Cross-correlation of input[n, c, ...] with weight[o, c / groups, ...], plus bias[o];
    input without n is one image. padding: numbers, 'valid', or 'same' at stride 1.
    """

@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: str = "valid",
    dilation: Ints = 1,
    groups: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Cross-correlation of input[n, c, ...] with weight[o, c / groups, ...], plus bias[o];
    input without n is one image. padding: numbers, 'valid', or 'same' at stride 1.
    """

def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: builtins.int = 1,
    dilation: Ints = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Transposed convolution of input[n, c, ...] with weight[c, o / groups, ...], plus
    bias[o]: what a convolution's gradient does. output_padding: sizes more at the end of
    each axis.
    """

def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: builtins.int = 1,
    dilation: Ints = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Transposed convolution of input[n, c, ...] with weight[c, o / groups, ...], plus
    bias[o]: what a convolution's gradient does. output_padding: sizes more at the end of
    each axis.
    """

def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: builtins.int = 1,
    dilation: Ints = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Transposed convolution of input[n, c, ...] with weight[c, o / groups, ...], plus
    bias[o]: what a convolution's gradient does. output_padding: sizes more at the end of
    each axis.
    """

def cos(input: Tensor, *, out: Any = None) -> Tensor:
    """Cosine of x in radians."""

def cosh(input: Tensor, *, out: Any = None) -> Tensor:
    """Hyperbolic cosine."""

@overload
def cumprod(
    input: Tensor, dim: builtins.int, *, reverse: builtins.bool = False, out: Any = None
) -> Tensor:
    """Running product along dim, from its start or, reversed, from its end."""

@overload
def cumprod(
    input: Tensor,
    dim: builtins.int,
    *,
    reverse: builtins.bool = False,
    dtype: DTypeLike,
    out: Any = None,
) -> Tensor:
    """Running product along dim, from its start or, reversed, from its end."""

@overload
def cumsum(
    input: Tensor, dim: builtins.int, *, reverse: builtins.bool = False, out: Any = None
) -> Tensor:
    """Running sum along dim, from its start or, reversed, from its end. Order:
    docs/architecture.md.
    """

@overload
def cumsum(
    input: Tensor,
    dim: builtins.int,
    *,
    reverse: builtins.bool = False,
    dtype: DTypeLike,
    out: Any = None,
) -> Tensor:
    """Running sum along dim, from its start or, reversed, from its end. Order:
    docs/architecture.md.
    """

def digamma(input: Tensor, *, out: Any = None) -> Tensor:
    """Derivative of lgamma."""

@overload
def div(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x / y; integers are divided as floats."""

@overload
def div(
    input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None, out: Any = None
) -> Tensor:
    """The quotient, rounded towards zero ('trunc') or down ('floor')."""

def dropout(input: Tensor, p: builtins.float, train: builtins.bool, *, out: Any = None) -> Tensor:
    """In training, zeros with probability p and the rest scaled by 1 / (1 - p)."""

def embedding(weight: Tensor, indices: Tensor, *, out: Any = None) -> Tensor:
    """Rows of weight by index."""

def empty(
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Zeros; uninitialised memory is never exposed."""

def empty_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Zeros; uninitialised memory is never exposed."""

def eq(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x == y."""

def erf(input: Tensor, *, out: Any = None) -> Tensor:
    """Error function."""

def erfc(input: Tensor, *, out: Any = None) -> Tensor:
    """1 - erf(x), accurate for large x."""

def erfinv(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse of erf on (-1, 1)."""

def exp(input: Tensor, *, out: Any = None) -> Tensor:
    """e to the power x."""

def exp2(input: Tensor, *, out: Any = None) -> Tensor:
    """2 to the power x."""

def expm1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(x) - 1, accurate near 0."""

def eye(
    n: builtins.int,
    m: builtins.int | None = None,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Ones on the diagonal of an n x m matrix, zeros elsewhere."""

def flatten(
    input: Tensor, start_dim: builtins.int = 0, end_dim: builtins.int = -1, *, out: Any = None
) -> Tensor:
    """Axes start_dim..end_dim joined into one."""

def floor(input: Tensor, *, out: Any = None) -> Tensor:
    """Largest integer not above x."""

def floor_divide(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """The largest integer not above x / y, as Python's //. An integer division by zero is a
    ValueError.
    """

def fma(
    input: Tensor | Number, other: Tensor | Number, addend: Tensor | Number, *, out: Any = None
) -> Tensor:
    """x * y + z with one rounding."""

def fmax(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The larger of the two; where one is NaN, the other."""

def fmin(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The smaller of the two; where one is NaN, the other."""

def fmod(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x modulo y, with the sign of x, as C's fmod and %; exact. An integer division by zero
    is a ValueError.
    """

def full(
    size: Ints,
    fill_value: Number,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """value everywhere; its type decides the dtype unless one is given."""

def full_like(
    input: Tensor,
    fill_value: Number,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """value in x's shape and dtype."""

@overload
def gather(input: Tensor, dim: builtins.int, index: Tensor, *, out: Any = None) -> Tensor:
    """out[i][j] = x[index[i][j]][j] for dim 0, and so on. Negative indexes are refused."""

@overload
def gather(
    input: Tensor, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool, out: Any = None
) -> Tensor:
    """As gather; sparse gradients do not exist."""

def ge(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x >= y."""

def gelu(input: Tensor, *, approximate: str = "none", out: Any = None) -> Tensor:
    """Gaussian error linear unit, exact by erf or by the tanh approximation."""

def gt(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x > y."""

def imag(input: Tensor, *, out: Any = None) -> Tensor:
    """Imaginary part."""

@overload
def index_add(
    input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, *, out: Any = None
) -> Tensor:
    """x with the slices of src added to those that index names along dim, in order."""

@overload
def index_add(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: Number,
    out: Any = None,
) -> Tensor:
    """input with alpha * source added to the slices that index names along dim."""

def index_select(input: Tensor, dim: builtins.int, index: Tensor, *, out: Any = None) -> Tensor:
    """Whole slices of x along dim, in the order of index; index may have any rank."""

def isclose(
    input: Tensor,
    other: Tensor,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """|input - other| <= atol + rtol * |other|, element by element; equal infinities are
    close, NaNs if equal_nan.
    """

def isfinite(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is neither infinite nor NaN."""

def isinf(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is infinite."""

def isnan(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is not a number."""

def layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: builtins.float = 1e-05,
    *,
    out: Any = None,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the last axes, then weight and bias (Ba et al.
    2016).
    """

def le(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x <= y."""

def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Any = None) -> Tensor:
    """x + weight * (y - x), or y - (y - x) * (1 - weight) from |weight| of 0.5 on: from x
    to y as weight goes from 0 to 1.
    """

def lgamma(input: Tensor, *, out: Any = None) -> Tensor:
    """log |gamma(x)|."""

def linspace(
    start: Number,
    end: Number,
    steps: builtins.int,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """steps evenly spaced numbers from start to end, both included."""

def log(input: Tensor, *, out: Any = None) -> Tensor:
    """Natural logarithm; NaN below 0."""

def log10(input: Tensor, *, out: Any = None) -> Tensor:
    """Logarithm to base 10."""

def log1p(input: Tensor, *, out: Any = None) -> Tensor:
    """log(1 + x), accurate near 0."""

def log2(input: Tensor, *, out: Any = None) -> Tensor:
    """Logarithm to base 2."""

@overload
def log_softmax(input: Tensor, dim: builtins.int, *, out: Any = None) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

@overload
def log_softmax(input: Tensor, dim: builtins.int, *, dtype: DTypeLike, out: Any = None) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

@overload
def log_softmax(input: Tensor, dim: builtins.int, dtype: DTypeLike, *, out: Any = None) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

def logical_and(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """True where both are nonzero."""

def logical_not(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is zero."""

def logical_or(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """True where either is nonzero."""

def logsumexp(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """log(sum(exp(x))), without overflow: the largest element is taken out first."""

def lt(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x < y."""

def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number, *, out: Any = None) -> Tensor:
    """value where mask (bool) is true, in the dtype of input."""

def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Matrix product; a 1-d operand is a row on the left and a column on the right."""

@overload
def max(
    input: Tensor, dim: builtins.int, keepdim: builtins.bool = False, *, out: Any = None
) -> _max:
    """Largest element along dim, and its lowest index."""

@overload
def max(input: Tensor, *, out: Any = None) -> Tensor:
    """The largest element; NaN if one is NaN."""

@overload
def max(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The larger of the two, element by element; NaN if either is NaN."""

def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Largest element of each window of x[..., h, w]."""

def maximum(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """The larger of x and y; NaN if either is NaN."""

@overload
def mean(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """Arithmetic mean over the axes of dim; NaN of no elements."""

@overload
def mean(
    input: Tensor, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike, out: Any = None
) -> Tensor:
    """Arithmetic mean over the axes of dim; NaN of no elements."""

@overload
def min(
    input: Tensor, dim: builtins.int, keepdim: builtins.bool = False, *, out: Any = None
) -> _min:
    """Smallest element along dim, and its lowest index."""

@overload
def min(input: Tensor, *, out: Any = None) -> Tensor:
    """The smallest element; NaN if one is NaN."""

@overload
def min(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The smaller of the two, element by element; NaN if either is NaN."""

def minimum(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """The smaller of x and y; NaN if either is NaN."""

def mm(input: Tensor, mat2: Tensor, out_dtype: DTypeLike = None, *, out: Any = None) -> Tensor:
    """Matrix product over the last two axes; leading axes broadcast. out_dtype: of the sums
    and the result, wider than the operands' own.
    """

def mul(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x * y, element by element."""

def narrow(
    input: Tensor, dim: builtins.int, start: builtins.int, length: builtins.int, *, out: Any = None
) -> Tensor:
    """length elements from start along dim, which may count from the end; a view."""

def ne(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x != y; true where either is NaN."""

def neg(input: Tensor, *, out: Any = None) -> Tensor:
    """-x."""

@overload
def norm(
    input: Tensor,
    p: Number | None = 2,
    *dim: Ints,
    keepdim: builtins.bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """(sum |x|^p)^(1/p) over dim, or over everything; integers as floats. p: a number, inf,
    -inf, 0 (how many elements are not 0) or 'fro', which is 2. Where the norm is 0 its
    derivative is taken as 0.
    """

@overload
def norm(
    input: Tensor,
    p: str,
    *dim: Ints,
    keepdim: builtins.bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """(sum |x|^p)^(1/p) over dim, or over everything; integers as floats. p: a number, inf,
    -inf, 0 (how many elements are not 0) or 'fro', which is 2. Where the norm is 0 its
    derivative is taken as 0.
    """

def ones(
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Ones."""

def ones_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Ones of x's shape."""

def permute(input: Tensor, *dims: Ints) -> Tensor:
    """Axes in another order."""

def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Any = None) -> Tensor:
    """x to the power y. By the numbers 2, 3, 0.5, -0.5, -1 and -2 it is x * x, x * x * x,
    sqrt(x), 1 / sqrt(x), 1 / x and 1 / (x * x). Integers stay integers; to a negative power
    they are a ValueError.
    """

@overload
def prod(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """Product over the axes of dim."""

@overload
def prod(
    input: Tensor, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike, out: Any = None
) -> Tensor:
    """Product over the axes of dim."""

def rand(
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Uniform in [0, 1). Philox4x32-10 keyed by seed, call and element: the same stream in
    every mode and for any thread count (Salmon et al. 2011).
    """

def rand_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Uniform in [0, 1), of the shape of input."""

@overload
def randint(
    low: builtins.int,
    high: builtins.int,
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Uniform integers in [low, high)."""

@overload
def randint(
    high: builtins.int,
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Uniform integers in [0, high)."""

def randn(
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Normal with mean 0 and variance 1 (Box and Muller 1958)."""

def randn_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Normal with mean 0 and variance 1, of the shape of input."""

def real(input: Tensor, *, out: Any = None) -> Tensor:
    """Real part."""

def reciprocal(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / x."""

def relu(input: Tensor, *, out: Any = None) -> Tensor:
    """max(x, 0); NaN stays NaN; the derivative at 0 is 0."""

def remainder(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x modulo y, with the sign of y, as Python's %."""

def reshape(input: Tensor, *shape: Ints, out: Any = None) -> Tensor:
    """The same elements under another shape: a view where possible, else a copy."""

@overload
def round(input: Tensor, *, out: Any = None) -> Tensor:
    """Nearest integer, ties to even."""

@overload
def round(input: Tensor, *, decimals: builtins.int, out: Any = None) -> Tensor:
    """Rounded to so many decimals, which may be negative; ties to even."""

def rsqrt(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / sqrt(x), the square root rounded first."""

@overload
def scatter(
    input: Tensor, dim: builtins.int, index: Tensor, src: Tensor | Number, *, out: Any = None
) -> Tensor:
    """x with src written at index along dim; of several writes to one place the last in
    row-major order stays. src may be a number.
    """

@overload
def scatter(
    input: Tensor, dim: builtins.int, index: Tensor, value: Number, *, out: Any = None
) -> Tensor:
    """input with value written at index along dim."""

def scatter_add(
    input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, *, out: Any = None
) -> Tensor:
    """x with src added at index along dim, in row-major order."""

def searchsorted(
    sorted_sequence: Tensor, input: Tensor, *, right: builtins.bool = False, out: Any = None
) -> Tensor:
    """Where each value would go into an ascending 1-d sequence: before equal elements, or
    behind them if right.
    """

def select(input: Tensor, dim: builtins.int, index: builtins.int, *, out: Any = None) -> Tensor:
    """x[index] along dim; a view without that axis."""

def sigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-x))."""

def sign(input: Tensor, *, out: Any = None) -> Tensor:
    """-1, 0 or 1; a NaN and a zero stay as they are."""

def sin(input: Tensor, *, out: Any = None) -> Tensor:
    """Sine of x in radians."""

def sinh(input: Tensor, *, out: Any = None) -> Tensor:
    """Hyperbolic sine."""

@overload
def softmax(input: Tensor, dim: builtins.int, *, out: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

@overload
def softmax(input: Tensor, dim: builtins.int, *, dtype: DTypeLike, out: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

@overload
def softmax(input: Tensor, dim: builtins.int, dtype: DTypeLike, *, out: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

@overload
def sort(
    input: Tensor, dim: builtins.int = -1, descending: builtins.bool = False, *, out: Any = None
) -> _sort:
    """Sorted along dim, and where each came from. Stable; NaN counts as largest."""

@overload
def sort(
    input: Tensor,
    *,
    stable: builtins.bool | None,
    dim: builtins.int = -1,
    descending: builtins.bool = False,
    out: Any = None,
) -> _sort:
    """As sort, which is always stable."""

@overload
def split(
    tensor: Tensor, split_size_or_sections: builtins.int, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """Pieces of that size along dim (the last may be shorter); views."""

@overload
def split(
    tensor: Tensor, split_size_or_sections: Ints, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """Pieces of these sizes along dim, which they cover; views."""

def sqrt(input: Tensor, *, out: Any = None) -> Tensor:
    """Square root; NaN below 0."""

def square(input: Tensor, *, out: Any = None) -> Tensor:
    """x * x."""

def squeeze(input: Tensor, *dim: Ints) -> Tensor:
    """Without the axes of size 1 that dim names; without all of them if it is None."""

def stack(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """Tensors of one shape joined along a new axis."""

@overload
def std(input: Tensor, unbiased: builtins.bool, *, out: Any = None) -> Tensor:
    """Square root of var; its gradient is 0 where that is 0."""

@overload
def std(
    input: Tensor,
    *dim: Ints,
    correction: Number | None = 1,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Square root of var; its gradient is 0 where that is 0."""

@overload
def std(
    input: Tensor,
    *dim: Ints,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Square root of var; its gradient is 0 where that is 0."""

@overload
def sub(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x - y, element by element."""

@overload
def sub(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number, out: Any = None
) -> Tensor:
    """input - alpha * other."""

@overload
def sum(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """Sum over the axes of dim (all if empty). Order: the fixed tree of
    docs/architecture.md.
    """

@overload
def sum(
    input: Tensor, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike, out: Any = None
) -> Tensor:
    """Sum over the axes of dim (all if empty). Order: the fixed tree of
    docs/architecture.md.
    """

def t(input: Tensor, *, out: Any = None) -> Tensor:
    """The transpose of a matrix, a vector as it is; a view."""

def tan(input: Tensor, *, out: Any = None) -> Tensor:
    """Tangent of x in radians."""

def tanh(input: Tensor, *, out: Any = None) -> Tensor:
    """Hyperbolic tangent."""

@overload
def topk(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = -1,
    largest: builtins.bool = True,
    *,
    out: Any = None,
) -> _topk:
    """The k largest (smallest) along dim, in order. Ties: lowest index first; NaN is
    largest.
    """

@overload
def topk(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = -1,
    largest: builtins.bool = True,
    sorted: builtins.bool = True,
    *,
    out: Any = None,
) -> _topk:
    """As topk, whose results are always in order."""

def transpose(input: Tensor, dim0: builtins.int, dim1: builtins.int, *, out: Any = None) -> Tensor:
    """Two axes exchanged; a view."""

def tril(input: Tensor, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The lower triangle of the last two axes; zeros above the diagonal."""

def triu(input: Tensor, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The upper triangle of the last two axes; zeros below the diagonal."""

def trunc(input: Tensor, *, out: Any = None) -> Tensor:
    """x without its fraction."""

def unbind(input: Tensor, dim: builtins.int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """The slices along dim, without that axis; views."""

def unsqueeze(input: Tensor, dim: builtins.int) -> Tensor:
    """With a new axis of size 1 at dim."""

@overload
def var(input: Tensor, unbiased: builtins.bool, *, out: Any = None) -> Tensor:
    """Sum of squared distances from the mean, over (count - correction). Two passes."""

@overload
def var(
    input: Tensor,
    *dim: Ints,
    correction: Number | None = 1,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Sum of squared distances from the mean, over (count - correction). Two passes."""

@overload
def var(
    input: Tensor,
    *dim: Ints,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Sum of squared distances from the mean, over (count - correction). Two passes."""

def where(
    condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Any = None
) -> Tensor:
    """input where the condition holds, else other."""

def zeros(
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Zeros."""

def zeros_like(
    input: Tensor,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Zeros of x's shape."""

class no_grad:
    def __init__(self, function: Any = None) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *_: Any) -> None: ...
    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]: ...

class enable_grad(no_grad):
    def __init__(self) -> None: ...

class set_grad_enabled(no_grad):
    def __init__(self, mode: builtins.bool) -> None: ...

inference_mode = no_grad
