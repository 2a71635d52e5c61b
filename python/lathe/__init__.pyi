"""The names of `lathe`. Printed by python/stubs/print_stubs.py; do not edit."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, overload

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

class _frexp(tuple[Tensor, ...]):
    @property
    def mantissa(self) -> Tensor: ...
    @property
    def exponent(self) -> Tensor: ...

class _max(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _largest_of(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _min(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _cummax(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _cummin(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _aminmax(tuple[Tensor, ...]):
    @property
    def min(self) -> Tensor: ...
    @property
    def max(self) -> Tensor: ...

class _kthvalue(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _median(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _nanmedian(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _mode(tuple[Tensor, ...]):
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

class _histogram(tuple[Tensor, ...]):
    @property
    def hist(self) -> Tensor: ...
    @property
    def bin_edges(self) -> Tensor: ...

class _histogramdd(tuple[Tensor, ...]):
    @property
    def hist(self) -> Tensor: ...
    @property
    def bin_edges(self) -> Tensor: ...

class _max_pool1d(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _max_pool1d_with_indices(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _max_pool2d(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _max_pool2d_with_indices(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _max_pool3d(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _max_pool3d_with_indices(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _adaptive_max_pool1d(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _adaptive_max_pool1d_with_indices(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _adaptive_max_pool2d(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _adaptive_max_pool2d_with_indices(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _fractional_max_pool2d(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _fractional_max_pool2d_with_indices(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _adaptive_max_pool3d(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _adaptive_max_pool3d_with_indices(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _fractional_max_pool3d(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _fractional_max_pool3d_with_indices(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _native_layer_norm(tuple[Tensor, ...]):
    @property
    def output(self) -> Tensor: ...
    @property
    def mean(self) -> Tensor: ...
    @property
    def rstd(self) -> Tensor: ...

class _native_batch_norm(tuple[Tensor, ...]):
    @property
    def output(self) -> Tensor: ...
    @property
    def mean(self) -> Tensor: ...
    @property
    def rstd(self) -> Tensor: ...

class _lstm_step(tuple[Tensor, ...]):
    @property
    def hidden(self) -> Tensor: ...
    @property
    def cell(self) -> Tensor: ...

class _linalg_inv_ex(tuple[Tensor, ...]):
    @property
    def inverse(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_slogdet(tuple[Tensor, ...]):
    @property
    def sign(self) -> Tensor: ...
    @property
    def logabsdet(self) -> Tensor: ...

class _slogdet(tuple[Tensor, ...]):
    @property
    def sign(self) -> Tensor: ...
    @property
    def logabsdet(self) -> Tensor: ...

class _linalg_solve_matrices(tuple[Tensor, ...]):
    @property
    def result(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_solve_ex(tuple[Tensor, ...]):
    @property
    def result(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _triangular_solve(tuple[Tensor, ...]):
    @property
    def solution(self) -> Tensor: ...
    @property
    def cloned_coefficient(self) -> Tensor: ...

class _linalg_lu_factor_ex(tuple[Tensor, ...]):
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_lu_factor(tuple[Tensor, ...]):
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...

class _lu(tuple[Tensor, ...]):
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...

class _lu_unpack(tuple[Tensor, ...]):
    @property
    def P(self) -> Tensor: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def U(self) -> Tensor: ...

class _linalg_lu(tuple[Tensor, ...]):
    @property
    def P(self) -> Tensor: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def U(self) -> Tensor: ...

class _linalg_ldl_factor_ex(tuple[Tensor, ...]):
    @property
    def LD(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_ldl_factor(tuple[Tensor, ...]):
    @property
    def LD(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...

class _linalg_cholesky_ex(tuple[Tensor, ...]):
    @property
    def L(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_qr(tuple[Tensor, ...]):
    @property
    def Q(self) -> Tensor: ...
    @property
    def R(self) -> Tensor: ...

class _qr(tuple[Tensor, ...]):
    @property
    def Q(self) -> Tensor: ...
    @property
    def R(self) -> Tensor: ...

class _geqrf(tuple[Tensor, ...]):
    @property
    def a(self) -> Tensor: ...
    @property
    def tau(self) -> Tensor: ...

class _linalg_least_squares(tuple[Tensor, ...]):
    @property
    def solution(self) -> Tensor: ...
    @property
    def residuals(self) -> Tensor: ...
    @property
    def rank(self) -> Tensor: ...
    @property
    def singular_values(self) -> Tensor: ...

class _linalg_lstsq(tuple[Tensor, ...]):
    @property
    def solution(self) -> Tensor: ...
    @property
    def residuals(self) -> Tensor: ...
    @property
    def rank(self) -> Tensor: ...
    @property
    def singular_values(self) -> Tensor: ...

class _svd_lowrank(tuple[Tensor, ...]):
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def V(self) -> Tensor: ...

class _pca_lowrank(tuple[Tensor, ...]):
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def V(self) -> Tensor: ...

class _linalg_svd_parts(tuple[Tensor, ...]):
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def Vh(self) -> Tensor: ...

class _linalg_svd(tuple[Tensor, ...]):
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def Vh(self) -> Tensor: ...

class _svd(tuple[Tensor, ...]):
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def V(self) -> Tensor: ...

class _linalg_eigh(tuple[Tensor, ...]):
    @property
    def eigenvalues(self) -> Tensor: ...
    @property
    def eigenvectors(self) -> Tensor: ...

class _linalg_eig(tuple[Tensor, ...]):
    @property
    def eigenvalues(self) -> Tensor: ...
    @property
    def eigenvectors(self) -> Tensor: ...

class Tensor:
    """An n-dimensional array of one dtype on one device, with gradients where asked for."""

    def __init__(self, data: Any = ...) -> None: ...
    @property
    def H(self) -> Tensor: ...
    @property
    def T(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Any, /) -> Tensor: ...
    def __and__(self, other: Any, /) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any: ...
    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """The array-API standard over tensors: lathe.array_api."""
    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: Any = False) -> Any:
        """What NumPy's functions make of a tensor is one, where there is such a dtype."""
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
    __ilshift__: Any
    def __imod__(self, other: Any, /) -> Tensor: ...
    def __imul__(self, other: Any, /) -> Tensor: ...
    def __index__(self) -> builtins.int: ...
    def __int__(self) -> builtins.int: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Any, /) -> Tensor: ...
    def __ipow__(self, other: Any, /) -> Tensor: ...
    __irshift__: Any
    def __isub__(self, other: Any, /) -> Tensor: ...
    def __iter__(self) -> Any: ...
    def __itruediv__(self, other: Any, /) -> Tensor: ...
    def __ixor__(self, other: Any, /) -> Tensor: ...
    def __le__(self, other: Any, /) -> Tensor: ...
    def __len__(self) -> builtins.int: ...
    __lshift__: Any
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
    __rdiv__: Any
    def __reduce_ex__(self, protocol: Any) -> Any: ...
    def __repr__(self) -> str: ...
    def __reversed__(self) -> Tensor:
        """Its slices along the first axis from the last to the first."""
    def __rfloordiv__(self, other: Any, /) -> Tensor: ...
    __rlshift__: Any
    def __rmatmul__(self, other: Any, /) -> Tensor: ...
    def __rmod__(self, other: Any, /) -> Tensor: ...
    def __rmul__(self, other: Any, /) -> Tensor: ...
    def __ror__(self, other: Any, /) -> Tensor: ...
    def __rpow__(self, other: Any, /) -> Tensor: ...
    __rrshift__: Any
    __rshift__: Any
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
    def add(self, other: Tensor | Number, *, alpha: Tensor | Number) -> Tensor:
        """input + alpha * other."""
    @overload
    def add_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def add_(self, other: Tensor | Number, *, alpha: Number) -> Tensor: ...
    @overload
    def add_(self, other: Tensor | Number, *, alpha: Tensor | Number) -> Tensor: ...
    @overload
    def addbmm(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor:
        """beta * input + alpha * the sum of bmm(batch1, batch2) over its matrices."""
    @overload
    def addbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Tensor | Number = 1,
        alpha: Tensor | Number = 1,
    ) -> Tensor:
        """beta * input + alpha * the sum of bmm(batch1, batch2) over its matrices."""
    @overload
    def addbmm_(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor: ...
    @overload
    def addbmm_(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Tensor | Number = 1,
        alpha: Tensor | Number = 1,
    ) -> Tensor: ...
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 / tensor2, of floats."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor: ...
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 * tensor2."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor: ...
    @overload
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)."""
    @overload
    def addmm(
        self, mat1: Tensor, mat2: Tensor, *, beta: Tensor | Number = 1, alpha: Tensor | Number = 1
    ) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)."""
    @overload
    def addmm_(
        self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor: ...
    @overload
    def addmm_(
        self, mat1: Tensor, mat2: Tensor, *, beta: Tensor | Number = 1, alpha: Tensor | Number = 1
    ) -> Tensor: ...
    @overload
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat @ vec)."""
    @overload
    def addmv(
        self, mat: Tensor, vec: Tensor, *, beta: Tensor | Number = 1, alpha: Tensor | Number = 1
    ) -> Tensor:
        """beta * input + alpha * (mat @ vec)."""
    @overload
    def addmv_(
        self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor: ...
    @overload
    def addmv_(
        self, mat: Tensor, vec: Tensor, *, beta: Tensor | Number = 1, alpha: Tensor | Number = 1
    ) -> Tensor: ...
    @overload
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2)."""
    @overload
    def addr(
        self, vec1: Tensor, vec2: Tensor, *, beta: Tensor | Number = 1, alpha: Tensor | Number = 1
    ) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2)."""
    @overload
    def addr_(
        self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor: ...
    @overload
    def addr_(
        self, vec1: Tensor, vec2: Tensor, *, beta: Tensor | Number = 1, alpha: Tensor | Number = 1
    ) -> Tensor: ...
    def adjoint(self) -> Tensor:
        """The last two axes exchanged, and the complex conjugate of each element."""
    def all(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """True if no element is zero; of uint8 1 or 0 in uint8, as in PyTorch."""
    def allclose(
        self, other: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
    ) -> builtins.bool:
        """Whether all elements are close (see isclose); a Python bool."""
    def amax(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Largest element over the axes of dim; NaN if there is one."""
    def amin(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Smallest element over the axes of dim; NaN if there is one."""
    def aminmax(
        self, *, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> _aminmax:
        """The smallest and the largest element along dim, or of all."""
    def angle(self) -> Tensor:
        """The angle of a complex number, in radians; of a real one 0, or pi below 0."""
    def any(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """True if an element is nonzero; of uint8 1 or 0 in uint8, as in PyTorch."""
    def arccos(self) -> Tensor:
        """Arc cosine, in radians."""
    def arccos_(self) -> Tensor: ...
    def arccosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""
    def arccosh_(self) -> Tensor: ...
    def arcsin(self) -> Tensor:
        """Arc sine, in radians."""
    def arcsin_(self) -> Tensor: ...
    def arcsinh(self) -> Tensor:
        """Inverse hyperbolic sine."""
    def arcsinh_(self) -> Tensor: ...
    def arctan(self) -> Tensor:
        """Arc tangent, in radians."""
    def arctan2(self, other: Tensor) -> Tensor:
        """Angle of the point (x, y), in radians, in [-pi, pi]."""
    def arctan2_(self, other: Tensor) -> Tensor: ...
    def arctan_(self) -> Tensor: ...
    def arctanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""
    def arctanh_(self) -> Tensor: ...
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
    def argwhere(self) -> Tensor:
        """Coordinates of the elements that are not 0, a row each."""
    def as_strided(
        self, size: Ints, stride: Ints, storage_offset: builtins.int | None = None
    ) -> Tensor:
        """The memory of input seen with these sizes and strides; a view, written through only
        where no element is seen twice.
        """
    def as_strided_(self, *args: Any, **kwargs: Any) -> Tensor:
        """As as_strided, but x itself becomes the view."""
    def as_strided_scatter(
        self, src: Tensor, size: Ints, stride: Ints, storage_offset: builtins.int | None = None
    ) -> Tensor:
        """A copy of input with src at these sizes and strides."""
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
        self,
        gradient: Any = None,
        retain_graph: Any = None,
        create_graph: Any = False,
        inputs: Any = None,
    ) -> None:
        """Adds the gradients of this tensor to the .grad of every leaf it depends on, or of
        `inputs`.
        """
    @overload
    def baddbmm(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor:
        """beta * input + alpha * bmm(batch1, batch2)."""
    @overload
    def baddbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Tensor | Number = 1,
        alpha: Tensor | Number = 1,
    ) -> Tensor:
        """beta * input + alpha * bmm(batch1, batch2)."""
    @overload
    def baddbmm_(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Tensor: ...
    @overload
    def baddbmm_(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Tensor | Number = 1,
        alpha: Tensor | Number = 1,
    ) -> Tensor: ...
    @overload
    def bernoulli(self, *, generator: Any = None) -> Tensor:
        """1 with the probability that input has there, else 0. One outside of [0, 1] is a
        ValueError.
        """
    @overload
    def bernoulli(self, p: builtins.float, *, generator: Any = None) -> Tensor:
        """1 with probability p, else 0; of the shape and dtype of input."""
    @overload
    def bernoulli_(self, p: builtins.float = 0.5, *, generator: Any = None) -> Tensor: ...
    @overload
    def bernoulli_(self, p: Tensor, *, generator: Any = None) -> Tensor: ...
    def bfloat16(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.bfloat16."""
    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
        """How often (with what weight) each integer from 0 to the greatest occurs."""
    def bitwise_and(self, other: Tensor | Number) -> Tensor:
        """Bits set in both; on bool, and."""
    def bitwise_and_(self, other: Tensor | Number) -> Tensor: ...
    def bitwise_left_shift(self, other: Tensor | Number) -> Tensor:
        """The bits moved up by other places; 0 by as many as there are."""
    def bitwise_left_shift_(self, other: Tensor | Number) -> Tensor: ...
    def bitwise_not(self) -> Tensor:
        """Every bit turned; on bool, not."""
    def bitwise_not_(self) -> Tensor: ...
    def bitwise_or(self, other: Tensor | Number) -> Tensor:
        """Bits set in either; on bool, or."""
    def bitwise_or_(self, other: Tensor | Number) -> Tensor: ...
    def bitwise_right_shift(self, other: Tensor | Number) -> Tensor:
        """The bits moved down by other places; the sign stays."""
    def bitwise_right_shift_(self, other: Tensor | Number) -> Tensor: ...
    def bitwise_xor(self, other: Tensor | Number) -> Tensor:
        """Bits set in just one; on bool, xor."""
    def bitwise_xor_(self, other: Tensor | Number) -> Tensor: ...
    def bmm(self, mat2: Tensor) -> Tensor:
        """Matrix products of a batch: input[n, i, k] @ mat2[n, k, j]."""
    def bool(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.bool."""
    def broadcast_to(self, *size: Ints) -> Tensor:
        """Axes of size 1 repeated without a copy; new axes may be added in front."""
    def byte(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.uint8."""
    def cauchy_(
        self, median: builtins.float = 0.0, sigma: builtins.float = 1.0, *, generator: Any = None
    ) -> Tensor: ...
    def cbrt(self) -> Tensor:
        """Cube root, also of negative numbers; beyond PyTorch, as NumPy has it."""
    def cbrt_(self) -> Tensor: ...
    def cdouble(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.complex128."""
    def ceil(self) -> Tensor:
        """Smallest integer not below x."""
    def ceil_(self) -> Tensor: ...
    def cfloat(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.complex64."""
    def char(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.int8."""
    def cholesky(self, upper: builtins.bool = False) -> Tensor:
        """L of A = L L^H (U of U^H U if upper); a LinAlgError if a matrix is not positive-
        definite. Only that triangle is read.
        """
    def cholesky_inverse(self, upper: builtins.bool = False) -> Tensor:
        """The inverse of A, of its Cholesky factor."""
    def cholesky_solve(self, input2: Tensor, upper: builtins.bool = False) -> Tensor:
        """X of A X = input, of A's Cholesky factor input2."""
    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """At most so many pieces of equal size along dim (the last may be shorter); views."""
    def clamp(
        self, min: Tensor | Number | None = None, max: Tensor | Number | None = None
    ) -> Tensor:
        """input limited to [min, max]; NaN where a bound is NaN. At a bound that is a number
        the derivative is 0, at a tensor's elements it is shared.
        """
    def clamp_(
        self, min: Tensor | Number | None = None, max: Tensor | Number | None = None
    ) -> Tensor: ...
    def clamp_max(self, max: Tensor | Number) -> Tensor:
        """x, or max where x is larger; NaN if either is NaN."""
    def clamp_max_(self, max: Tensor | Number) -> Tensor: ...
    def clamp_min(self, min: Tensor | Number) -> Tensor:
        """x, or min where x is smaller; NaN if either is NaN."""
    def clamp_min_(self, min: Tensor | Number) -> Tensor: ...
    def clip(
        self, min: Tensor | Number | None = None, max: Tensor | Number | None = None
    ) -> Tensor:
        """input limited to [min, max]; NaN where a bound is NaN. At a bound that is a number
        the derivative is 0, at a tensor's elements it is shared.
        """
    def clip_(
        self, min: Tensor | Number | None = None, max: Tensor | Number | None = None
    ) -> Tensor: ...
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
    def conj_physical(self) -> Tensor:
        """Complex conjugate; a real x as it is."""
    def conj_physical_(self) -> Tensor: ...
    @overload
    def contiguous(self) -> Tensor:
        """x itself if its elements lie in row-major order, else a copy that does."""
    @overload
    def contiguous(self, *, memory_format: str | None) -> Tensor:
        """x itself if its elements lie in row-major order, else a copy."""
    def copy_(self, other: Any, non_blocking: Any = False) -> Tensor:
        """other's elements, broadcast and cast, in place."""
    def copysign(self, other: Tensor | Number) -> Tensor:
        """The magnitude of input with the sign of other, also of its zeros."""
    def copysign_(self, other: Tensor | Number) -> Tensor: ...
    def corrcoef(self) -> Tensor:
        """The correlation of rows: their covariance over the roots of both variances."""
    def cos(self) -> Tensor:
        """Cosine of x in radians."""
    def cos_(self) -> Tensor: ...
    def cosh(self) -> Tensor:
        """Hyperbolic cosine."""
    def cosh_(self) -> Tensor: ...
    def count_nonzero(self, *dim: Ints) -> Tensor:
        """How many elements along dim are not 0."""
    def cov(
        self,
        *,
        correction: builtins.int = 1,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
    ) -> Tensor:
        """The covariance of rows; columns are observations, each as often as fweights says and
        of the weight aweights.
        """
    def cpu(self, *, memory_format: Any = None) -> Tensor: ...
    def cross(self, other: Tensor, dim: builtins.int | None = None) -> Tensor:
        """The vector at right angles to both, along dim or the first axis of size 3."""
    def cuda(
        self, device: Any = None, non_blocking: Any = False, memory_format: Any = None
    ) -> Tensor:
        """On a CUDA device. DeviceError, which names the devices there are, if there is
        none.
        """
    def cummax(self, dim: builtins.int) -> _cummax:
        """The largest element so far along dim, and where it lies (the last such place). A NaN
        counts as largest.
        """
    def cummin(self, dim: builtins.int) -> _cummin:
        """The smallest element so far along dim, and where it lies (the last such place). A NaN
        counts as smallest.
        """
    @overload
    def cumprod(self, dim: builtins.int, *, reverse: builtins.bool = False) -> Tensor:
        """Running product along dim, from its start or, reversed, from its end."""
    @overload
    def cumprod(
        self, dim: builtins.int, *, reverse: builtins.bool = False, dtype: DTypeLike
    ) -> Tensor:
        """Running product along dim, from its start or, reversed, from its end."""
    @overload
    def cumprod_(self, dim: builtins.int, *, reverse: builtins.bool = False) -> Tensor: ...
    @overload
    def cumprod_(
        self, dim: builtins.int, *, reverse: builtins.bool = False, dtype: DTypeLike
    ) -> Tensor: ...
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
    @overload
    def cumsum_(self, dim: builtins.int, *, reverse: builtins.bool = False) -> Tensor: ...
    @overload
    def cumsum_(
        self, dim: builtins.int, *, reverse: builtins.bool = False, dtype: DTypeLike
    ) -> Tensor: ...
    @property
    def data(self) -> Tensor: ...
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def data_ptr(self) -> builtins.int:
        """Address of the first element."""
    def deg2rad(self) -> Tensor:
        """Degrees in radians."""
    def deg2rad_(self) -> Tensor: ...
    def det(self) -> Tensor:
        """The determinant of each matrix."""
    def detach(self) -> Tensor:
        """The same elements without history."""
    def detach_(self) -> Tensor:
        """Takes this tensor out of history."""
    @property
    def device(self) -> device: ...
    def diag(self, diagonal: builtins.int = 0) -> Tensor:
        """A matrix with the vector on a diagonal; of a matrix, a copy of one."""
    def diag_embed(
        self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1
    ) -> Tensor:
        """Matrices with the last axis of input on a diagonal, zeros elsewhere."""
    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """A matrix with all elements of input on a diagonal."""
    def diagonal(
        self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> Tensor:
        """The diagonal of two axes as a new last axis; offset above 0 is right of it; a view."""
    def diagonal_scatter(
        self, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> Tensor:
        """A copy of input with src on a diagonal."""
    def diff(
        self,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
    ) -> Tensor:
        """Differences of neighbours along dim, n times; of bool, whether they differ."""
    def digamma(self) -> Tensor:
        """Derivative of lgamma."""
    def digamma_(self) -> Tensor: ...
    def dim(self) -> builtins.int:
        """Number of axes."""
    def dim_order(self) -> tuple[builtins.int, ...]:
        """The axes from the one with the longest steps to the one with the shortest."""
    def dist(self, other: Tensor, p: Number = 2) -> Tensor:
        """The p-norm of input - other."""
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
    @overload
    def divide(self, other: Tensor | Number) -> Tensor:
        """x / y; integers are divided as floats."""
    @overload
    def divide(self, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor:
        """The quotient, rounded towards zero ('trunc') or down ('floor')."""
    @overload
    def divide_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def divide_(self, other: Tensor | Number, *, rounding_mode: str | None) -> Tensor: ...
    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors' elements."""
    def double(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.float64."""
    @overload
    def dsplit(self, sections: builtins.int) -> tuple[Tensor, ...]:
        """Pieces along axis 2; views."""
    @overload
    def dsplit(self, *indices: Ints) -> tuple[Tensor, ...]:
        """Pieces along axis 2; views."""
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
    def exponential_(self, lambd: builtins.float = 1.0, *, generator: Any = None) -> Tensor: ...
    def fill_(self, value: Any) -> Tensor:
        """value everywhere, in place."""
    def fill_diagonal_(self, fill_value: Number, wrap: builtins.bool = False) -> Tensor:
        """Writes a number on the diagonal; wrap goes on below a tall matrix' squares."""
    def fix(self) -> Tensor:
        """x without its fraction."""
    def fix_(self) -> Tensor: ...
    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Axes start_dim..end_dim joined into one."""
    def flip(self, *dims: Ints) -> Tensor:
        """A copy with the elements from the last to the first along dims."""
    def fliplr(self) -> Tensor:
        """A copy with the columns from the last to the first."""
    def flipud(self) -> Tensor:
        """A copy with the rows from the last to the first."""
    def float(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.float32."""
    def float_power(self, exponent: Tensor | Number) -> Tensor:
        """input to the power exponent, in float64 or complex128."""
    def float_power_(self, exponent: Tensor | Number) -> Tensor: ...
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
    def frac(self) -> Tensor:
        """input without its whole part; the sign stays."""
    def frac_(self) -> Tensor: ...
    def frexp(self) -> _frexp:
        """A mantissa of magnitude in [1/2, 1) and an int32 exponent e with input = mantissa *
        2^e; 0, infinities and NaN have the exponent 0.
        """
    @overload
    def gather(self, dim: builtins.int, index: Tensor) -> Tensor:
        """out[i][j] = x[index[i][j]][j] for dim 0, and so on. Negative indexes are refused; an
        index without elements may have any rank, and that of a 0-d input an axis.
        """
    @overload
    def gather(self, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool) -> Tensor:
        """As gather; sparse gradients do not exist."""
    def gcd(self, other: Tensor) -> Tensor:
        """The greatest common divisor, not negative; 0 of two zeros."""
    def gcd_(self, other: Tensor) -> Tensor: ...
    def ge(self, other: Tensor | Number) -> Tensor:
        """x >= y."""
    def ge_(self, other: Tensor | Number) -> Tensor: ...
    def geometric_(self, p: builtins.float, *, generator: Any = None) -> Tensor: ...
    def geqrf(self) -> _geqrf:
        """The reflectors of a QR decomposition as LAPACK has them: R above, the vectors below
        the diagonal, and their factors tau.
        """
    def ger(self, vec2: Tensor) -> Tensor:
        """Each element of one vector times each of another: input[i] * vec2[j]."""
    def get_device(self) -> builtins.int:
        """The index of the device, -1 for the host."""
    @property
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @property
    def grad_fn(self) -> Any: ...
    @overload
    def gradient(
        self,
        *,
        spacing: Number | None = None,
        dim: Ints | None = None,
        edge_order: builtins.int = 1,
    ) -> tuple[Tensor, ...]:
        """The slope of input along each axis of dim (each axis, if None), from values that lie
        spacing apart, or at positions that it gives.
        """
    @overload
    def gradient(
        self,
        *,
        spacing: builtins.float | Sequence[builtins.float],
        dim: Ints | None = None,
        edge_order: builtins.int = 1,
    ) -> tuple[Tensor, ...]:
        """The slope of input along each axis of dim (each axis, if None), from values that lie
        spacing apart, or at positions that it gives.
        """
    @overload
    def gradient(
        self, *, spacing: Sequence[Tensor], dim: Ints | None = None, edge_order: builtins.int = 1
    ) -> tuple[Tensor, ...]:
        """The slope of input along each axis of dim (each axis, if None), from values that lie
        spacing apart, or at positions that it gives.
        """
    def greater(self, other: Tensor | Number) -> Tensor:
        """x > y."""
    def greater_(self, other: Tensor | Number) -> Tensor: ...
    def greater_equal(self, other: Tensor | Number) -> Tensor:
        """x >= y."""
    def greater_equal_(self, other: Tensor | Number) -> Tensor: ...
    def gt(self, other: Tensor | Number) -> Tensor:
        """x > y."""
    def gt_(self, other: Tensor | Number) -> Tensor: ...
    def half(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.float16."""
    def hardshrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """x, or 0 where |x| is at most lambd."""
    def hardshrink_(self, lambd: builtins.float = 0.5) -> Tensor: ...
    def heaviside(self, values: Tensor) -> Tensor:
        """0 below 0, 1 above, values at 0; 0 where input is NaN."""
    def heaviside_(self, values: Tensor) -> Tensor: ...
    def histc(self, bins: builtins.int = 100, min: Number = 0, max: Number = 0) -> Tensor:
        """How many elements fall into each of so many equal bins between min and max, or
        between the least and the greatest element if those are equal. Others are left out.
        """
    @overload
    def histogram(
        self,
        bins: builtins.int = 100,
        *,
        range: builtins.float | Sequence[builtins.float] | None = None,
        weight: Tensor | None = None,
        density: builtins.bool = False,
    ) -> _histogram:
        """How many elements (or what weight) fall into each bin, and the bins' borders; with
        density divided so that the area is 1.
        """
    @overload
    def histogram(
        self, bins: Tensor, *, weight: Tensor | None = None, density: builtins.bool = False
    ) -> _histogram:
        """How many elements (or what weight) fall into each bin, and the bins' borders; with
        density divided so that the area is 1.
        """
    @overload
    def hsplit(self, sections: builtins.int) -> tuple[Tensor, ...]:
        """Pieces along axis 1, of a vector along axis 0; views."""
    @overload
    def hsplit(self, *indices: Ints) -> tuple[Tensor, ...]:
        """Pieces along axis 1, of a vector along axis 0; views."""
    def hypot(self, other: Tensor) -> Tensor:
        """sqrt(input^2 + other^2), without overflow in between."""
    def hypot_(self, other: Tensor) -> Tensor: ...
    def i0(self) -> Tensor:
        """Modified Bessel function of the first kind, order 0."""
    def i0_(self) -> Tensor: ...
    def igamma(self, other: Tensor) -> Tensor:
        """The lower incomplete gamma function P(input, other), regularised."""
    def igamma_(self, other: Tensor) -> Tensor: ...
    def igammac(self, other: Tensor) -> Tensor:
        """The upper incomplete gamma function Q(input, other), regularised."""
    def igammac_(self, other: Tensor) -> Tensor: ...
    @property
    def imag(self) -> Tensor: ...
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
    def index_copy(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        """input with the slices of source in place of those that index names along dim; of
        several for one place the last stays.
        """
    def index_copy_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor: ...
    def index_fill(self, dim: builtins.int, index: Tensor, value: Tensor | Number) -> Tensor:
        """input with value in the slices that index names along dim."""
    def index_fill_(self, dim: builtins.int, index: Tensor, value: Tensor | Number) -> Tensor: ...
    def index_put(
        self, indices: Sequence[Tensor], values: Tensor, accumulate: builtins.bool = False
    ) -> Tensor:
        """input with values written (added, if accumulate) at the places that the index tensors
        name together on the leading axes.
        """
    def index_put_(
        self, indices: Sequence[Tensor], values: Tensor, accumulate: builtins.bool = False
    ) -> Tensor: ...
    def index_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor:
        """input with the slices of source combined into those that index names along dim by
        'prod', 'mean', 'amax' or 'amin'; without what was there, if not include_self.
        """
    def index_reduce_(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor: ...
    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Whole slices of x along dim, in the order of index; index may have any rank."""
    def inner(self, other: Tensor) -> Tensor:
        """Sums of products along the last axes, for each pair of the other indices."""
    def int(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.int32."""
    def inverse(self) -> Tensor:
        """The inverse of each matrix; a LinAlgError if one has none."""
    def is_complex(self) -> builtins.bool: ...
    def is_conj(self) -> builtins.bool:
        """False: there is no such tensor here."""
    def is_contiguous(self, *, memory_format: Any = None) -> builtins.bool:
        """Whether elements lie in row-major order."""
    @property
    def is_cpu(self) -> Tensor: ...
    is_cuda: Any
    def is_distributed(self) -> builtins.bool:
        """False: there is no such tensor here."""
    def is_floating_point(self) -> builtins.bool: ...
    def is_inference(self) -> builtins.bool:
        """False: there is no such tensor here."""
    is_ipu: Any
    @property
    def is_leaf(self) -> builtins.bool: ...
    is_maia: Any
    is_meta: Any
    is_mkldnn: Any
    is_mps: Any
    is_mtia: Any
    def is_neg(self) -> builtins.bool:
        """False: there is no such tensor here."""
    is_nested: Any
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
    is_sparse_csr: Any
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
    def isneginf(self) -> Tensor:
        """True where x is minus infinity."""
    def isneginf_(self) -> Tensor: ...
    def isposinf(self) -> Tensor:
        """True where x is plus infinity."""
    def isposinf_(self) -> Tensor: ...
    def isreal(self) -> Tensor:
        """True where the imaginary part is 0."""
    def isreal_(self) -> Tensor: ...
    def istft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
    ) -> Tensor:
        """The signal that stft() gives this of: the stretches under the window added up, by the
        sum of its squares there. Where that is 0, the signal is not finite.
        """
    def item(self) -> Any:
        """The only element, as a Python number. ValueError if there is not one."""
    @property
    def itemsize(self) -> builtins.int: ...
    def kron(self, other: Tensor) -> Tensor:
        """Blocks of other, each times an element of input."""
    def kthvalue(
        self, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False
    ) -> _kthvalue:
        """The k-th smallest element along dim, from k = 1, and its place."""
    layout: Any
    def lcm(self, other: Tensor) -> Tensor:
        """The least common multiple, not negative; 0 where either is 0."""
    def lcm_(self, other: Tensor) -> Tensor: ...
    def ldexp(self, other: Tensor) -> Tensor:
        """input * 2^other, rounded once unless it is complex."""
    def ldexp_(self, other: Tensor) -> Tensor: ...
    def le(self, other: Tensor | Number) -> Tensor:
        """x <= y."""
    def le_(self, other: Tensor | Number) -> Tensor: ...
    def lerp(self, end: Tensor, weight: Tensor | Number) -> Tensor:
        """x + weight * (y - x), or y - (y - x) * (1 - weight) from |weight| of 0.5 on: from x
        to y as weight goes from 0 to 1.
        """
    def lerp_(self, end: Tensor, weight: Tensor | Number) -> Tensor: ...
    def less(self, other: Tensor | Number) -> Tensor:
        """x < y."""
    def less_(self, other: Tensor | Number) -> Tensor: ...
    def less_equal(self, other: Tensor | Number) -> Tensor:
        """x <= y."""
    def less_equal_(self, other: Tensor | Number) -> Tensor: ...
    def lgamma(self) -> Tensor:
        """log |gamma(x)|."""
    def lgamma_(self) -> Tensor: ...
    def log(self) -> Tensor:
        """Natural logarithm; NaN below 0 unless x is complex."""
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
    def log_normal_(
        self, mean: builtins.float = 1.0, std: builtins.float = 2.0, *, generator: Any = None
    ) -> Tensor: ...
    @overload
    def log_softmax(self, dim: builtins.int) -> Tensor:
        """log(softmax(x)) along dim, without overflow."""
    @overload
    def log_softmax(self, dim: builtins.int, *, dtype: DTypeLike) -> Tensor:
        """log(softmax(x)) along dim, without overflow."""
    @overload
    def log_softmax(self, dim: builtins.int, dtype: DTypeLike) -> Tensor:
        """log(softmax(x)) along dim, without overflow."""
    def logaddexp(self, other: Tensor) -> Tensor:
        """log(exp(input) + exp(other)), without overflow."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """log2(2^input + 2^other), without overflow."""
    def logaddexp2_(self, other: Tensor) -> Tensor: ...
    def logaddexp_(self, other: Tensor) -> Tensor: ...
    def logcumsumexp(self, dim: builtins.int) -> Tensor:
        """log of the running sum of exp(x) along dim, without overflow."""
    def logdet(self) -> Tensor:
        """The logarithm of the determinant; NaN where that is negative."""
    def logical_and(self, other: Tensor) -> Tensor:
        """True where both are nonzero."""
    def logical_and_(self, other: Tensor) -> Tensor: ...
    def logical_not(self) -> Tensor:
        """True where x is zero."""
    def logical_not_(self) -> Tensor: ...
    def logical_or(self, other: Tensor) -> Tensor:
        """True where either is nonzero."""
    def logical_or_(self, other: Tensor) -> Tensor: ...
    def logical_xor(self, other: Tensor) -> Tensor:
        """True where just one is nonzero."""
    def logical_xor_(self, other: Tensor) -> Tensor: ...
    def logit(self, eps: builtins.float | None = None) -> Tensor:
        """log(x / (1 - x)), the inverse of sigmoid; x is limited to [eps, 1 - eps] if eps is
        given.
        """
    def logit_(self, eps: builtins.float | None = None) -> Tensor: ...
    def logsumexp(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """log(sum(exp(x))), without overflow: the largest element is taken out first; of no
        elements -inf.
        """
    def long(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.int64."""
    def lt(self, other: Tensor | Number) -> Tensor:
        """x < y."""
    def lt_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def lu(self, pivot: builtins.bool = True, get_infos: Literal[False] = False) -> _lu:
        """L (below the diagonal, which is 1) and U in one matrix, and the pivots."""
    @overload
    def lu(self, pivot: builtins.bool = True, *, get_infos: Literal[True]) -> _lu:
        """L (below the diagonal, which is 1) and U in one matrix, the pivots, and 0 or which
        pivot was 0.
        """
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """X of A X = input, of A's LU decomposition."""
    @property
    def mH(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """value where mask (bool) is true, in the dtype of input."""
    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Tensor: ...
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """input with the elements of source, one after the other, where mask (bool) is true."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor: ...
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements at which mask (bool) is true, along one axis."""
    def matmul(self, other: Tensor) -> Tensor:
        """Matrix product; a 1-d operand is a row on the left and a column on the right."""
    def matrix_exp(self) -> Tensor:
        """The exponential of each matrix, by scaling and squaring."""
    def matrix_power(self, n: builtins.int) -> Tensor:
        """The product of n factors A; of the inverse for a negative n."""
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
    def median(self) -> Tensor:
        """The lower of the two middle elements, and its place; NaN if there is one."""
    @overload
    def median(self, dim: builtins.int, keepdim: builtins.bool = False) -> _median:
        """The lower of the two middle elements, and its place; NaN if there is one."""
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
        and the result, wider than the operands' own. Gradients of bfloat16 operands are
        products of bfloat16 then, too.
        """
    def mode(self, dim: builtins.int = -1, keepdim: builtins.bool = False) -> _mode:
        """The element that occurs most often along dim, of several the smallest, and the last
        place where it does.
        """
    def moveaxis(self, source: Ints, destination: Ints) -> Tensor:
        """Axes moved to other places, the rest in their order; a view."""
    def movedim(self, source: Ints, destination: Ints) -> Tensor:
        """Axes moved to other places, the rest in their order; a view."""
    def msort(self) -> Tensor:
        """Sorted along the first axis."""
    def mul(self, other: Tensor | Number) -> Tensor:
        """x * y, element by element."""
    def mul_(self, other: Tensor | Number) -> Tensor: ...
    def multinomial(
        self,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: Any = None,
    ) -> Tensor:
        """Categories drawn with chances in proportion to the weights along the last axis."""
    def multiply(self, other: Tensor | Number) -> Tensor:
        """x * y, element by element."""
    def multiply_(self, other: Tensor | Number) -> Tensor: ...
    def mv(self, vec: Tensor) -> Tensor:
        """A matrix times a vector."""
    def mvlgamma(self, p: builtins.int) -> Tensor:
        """The logarithm of the gamma function of p variables."""
    def mvlgamma_(self, p: builtins.int) -> Tensor: ...
    def nan_to_num(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Tensor:
        """input with NaN as nan (0) and the infinities as posinf and neginf (the largest and
        lowest of the dtype).
        """
    def nan_to_num_(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Tensor: ...
    def nanmean(
        self, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike = None
    ) -> Tensor:
        """Mean over the axes of dim of what is not NaN."""
    @overload
    def nanmedian(self) -> Tensor:
        """The lower of the two middle elements that are not NaN, and its place."""
    @overload
    def nanmedian(self, dim: builtins.int, keepdim: builtins.bool = False) -> _nanmedian:
        """The lower of the two middle elements that are not NaN, and its place."""
    def nanquantile(
        self,
        q: Tensor | Number,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        """The quantile of what is not NaN."""
    def nansum(self, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike = None) -> Tensor:
        """Sum over the axes of dim in which NaN counts as 0."""
    @overload
    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """length elements from start along dim, which may count from the end; a view."""
    @overload
    def narrow(self, dim: builtins.int, start: Tensor, length: builtins.int) -> Tensor:
        """From where a tensor of one element says."""
    def narrow_copy(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """A copy of length elements from start along dim."""
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
    def negative(self) -> Tensor:
        """-x."""
    def negative_(self) -> Tensor: ...
    def nelement(self) -> builtins.int:
        """Number of elements."""
    def new(self, *shape: Any) -> Tensor:
        """A tensor of this one's dtype and device: of zeros if sizes are given, else of the
        data.
        """
    def new_empty(self, *size: Any, **options: Any) -> Tensor:
        """A tensor of these sizes, its elements not set; options as in new_zeros."""
    def new_empty_strided(
        self,
        size: Ints,
        stride: Ints,
        *,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        requires_grad: builtins.bool = False,
        layout: Any = None,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Zeros with these strides, of this tensor's dtype and device unless others are given."""
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
    def nextafter(self, other: Tensor) -> Tensor:
        """The number of input's dtype that comes next on the way to other."""
    def nextafter_(self, other: Tensor) -> Tensor: ...
    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """Coordinates of the elements that are not 0, a row each; as_tuple: an index tensor for
        each axis.
        """
    def nonzero_static(self, *, size: builtins.int, fill_value: builtins.int = -1) -> Tensor:
        """Coordinates of the first so many elements that are not 0, a row each; rows of
        fill_value where there are fewer.
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
    def normal_(
        self, mean: builtins.float = 0.0, std: builtins.float = 1.0, *, generator: Any = None
    ) -> Tensor: ...
    def not_equal(self, other: Tensor | Number) -> Tensor:
        """x != y; true where either is NaN."""
    def not_equal_(self, other: Tensor | Number) -> Tensor: ...
    def numel(self) -> builtins.int:
        """Number of elements."""
    def numpy(self, *, force: Any = False) -> Any:
        """A NumPy array over the same memory (a copy from other devices). AutogradError if
        the tensor requires grad, unless forced; DTypeError for bfloat16.
        """
    def orgqr(self, input2: Tensor) -> Tensor:
        """The first columns of the product of reflections that geqrf() gives."""
    def ormqr(
        self,
        tau: Tensor,
        other: Tensor,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
    ) -> Tensor:
        """Q other (other Q if not left; Q^H for Q if transpose), Q the product of all
        reflections that geqrf() gives.
        """
    def outer(self, vec2: Tensor) -> Tensor:
        """Each element of one vector times each of another: input[i] * vec2[j]."""
    def permute(self, *dims: Ints) -> Tensor:
        """Axes in another order."""
    def pinverse(self, rcond: builtins.float = 1e-15) -> Tensor:
        """The pseudoinverse; singular values up to rcond times the largest count as 0."""
    def polygamma(self, n: builtins.int) -> Tensor:
        """The n-th derivative of digamma."""
    def polygamma_(self, n: builtins.int) -> Tensor: ...
    def positive(self) -> Tensor:
        """input itself."""
    def pow(self, exponent: Tensor | Number) -> Tensor:
        """x to the power y. By the numbers 2, 3, 0.5, -0.5, -1 and -2 it is x * x, x * x * x,
        sqrt(x), 1 / sqrt(x), 1 / x and 1 / (x * x). Integers stay integers; to a negative power
        they are a ValueError.
        """
    def pow_(self, exponent: Tensor | Number) -> Tensor: ...
    def prelu(self, weight: Tensor) -> Tensor:
        """x above 0, else weight * x, with one weight or one a channel (He et al. 2015)."""
    @overload
    def prod(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Product over the axes of dim."""
    @overload
    def prod(self, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike) -> Tensor:
        """Product over the axes of dim."""
    def put(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """input with source written (added, if accumulate) at positions of the flattened input."""
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor: ...
    def qr(self, some: builtins.bool = True) -> _qr:
        """Q and R of input = Q R; with some=False all columns of Q."""
    def quantile(
        self,
        q: Tensor | Number,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        """The element below which the share q of the others lies, along dim or of all; between
        two by interpolation. NaN if there is one.
        """
    def rad2deg(self) -> Tensor:
        """Radians in degrees."""
    def rad2deg_(self) -> Tensor: ...
    @overload
    def random_(self, *, generator: Any = None) -> Tensor: ...
    @overload
    def random_(self, to: builtins.int, *, generator: Any = None) -> Tensor: ...
    @overload
    def random_(
        self, from_: builtins.int, to: builtins.int | None, *, generator: Any = None
    ) -> Tensor: ...
    def ravel(self) -> Tensor:
        """The elements in row-major order, as one axis; a copy only where it must be."""
    @property
    def real(self) -> Tensor: ...
    def reciprocal(self) -> Tensor:
        """1 / x."""
    def reciprocal_(self) -> Tensor: ...
    def register_hook(self, hook: Any) -> Any:
        """Calls hook(gradient) in backward(); what it gives, if not None, replaces the
        gradient.
        """
    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Calls hook(tensor) whenever a backward() has added to this leaf's .grad."""
    def relu(self) -> Tensor:
        """max(x, 0); NaN stays NaN; the derivative at 0 is 0."""
    def relu_(self) -> Tensor: ...
    def remainder(self, other: Tensor | Number) -> Tensor:
        """x modulo y, with the sign of y, a zero's too, as Python's %."""
    def remainder_(self, other: Tensor | Number) -> Tensor: ...
    def renorm(self, p: Number, dim: builtins.int, maxnorm: Number) -> Tensor:
        """input with the slices along dim whose p-norm is above maxnorm scaled down to it."""
    def renorm_(self, p: Number, dim: builtins.int, maxnorm: Number) -> Tensor: ...
    def repeat(self, *repeats: Ints) -> Tensor:
        """input laid side by side, repeats[i] times along axis i; more counts than axes make
        new axes in front.
        """
    @overload
    def repeat_interleave(
        self,
        repeats: builtins.int,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> Tensor:
        """Each element so many times one after the other along dim."""
    @overload
    def repeat_interleave(
        self,
        repeats: Tensor,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> Tensor:
        """Each element as many times as repeats says for it."""
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
    def resize_(self, *sizes: Any, size: Any = None, memory_format: Any = None) -> Tensor:
        """Takes other sizes: the first elements stay, in the order of the memory, and new
        ones are zeros. AutogradError where it requires grad.
        """
    def resize_as_(self, the_template: Any, *, memory_format: Any = None) -> Tensor:
        """As resize_, to the sizes of another tensor."""
    def resolve_conj(self) -> Tensor:
        """input itself, or a copy to write to of a conjugate: no tensor here keeps a
        conjugation or a sign for later.
        """
    def resolve_neg(self) -> Tensor:
        """input itself, or a copy to write to of a conjugate: no tensor here keeps a
        conjugation or a sign for later.
        """
    def retain_grad(self) -> None:
        """Keeps the gradient of a computed tensor in .grad, too."""
    @property
    def retains_grad(self) -> builtins.bool: ...
    def roll(self, shifts: Ints, dims: Ints = []) -> Tensor:
        """A copy shifted along dims; what leaves at the end comes in at the start."""
    def rot90(self, k: builtins.int = 1, *dims: Ints) -> Tensor:
        """A copy turned by k quarter turns from the first of two axes to the second."""
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
    def rsub(self, other: Tensor, *, alpha: Number = 1) -> Tensor:
        """other - alpha * input."""
    @overload
    def rsub(self, other: Number, alpha: Number = 1) -> Tensor:
        """other - alpha * input."""
    @overload
    def rsub(self, other: Tensor | Number, *, alpha: Tensor | Number) -> Tensor:
        """other - alpha * input."""
    @overload
    def scatter(self, dim: builtins.int, index: Tensor, src: Tensor | Number) -> Tensor:
        """x with src written at index along dim; of several writes to one place the last in
        row-major order stays. src may be a number.
        """
    @overload
    def scatter(self, dim: builtins.int, index: Tensor, src: Tensor, *, reduce: str) -> Tensor:
        """input with src added, or multiplied, into the elements at index along dim."""
    @overload
    def scatter(self, dim: builtins.int, index: Tensor, value: Number, *, reduce: str) -> Tensor:
        """input with value added, or multiplied, into the elements at index along dim."""
    @overload
    def scatter(self, dim: builtins.int, index: Tensor, value: Number) -> Tensor:
        """input with value written at index along dim."""
    @overload
    def scatter_(self, dim: builtins.int, index: Tensor, src: Tensor | Number) -> Tensor: ...
    @overload
    def scatter_(self, dim: builtins.int, index: Tensor, src: Tensor, *, reduce: str) -> Tensor: ...
    @overload
    def scatter_(
        self, dim: builtins.int, index: Tensor, value: Number, *, reduce: str
    ) -> Tensor: ...
    @overload
    def scatter_(self, dim: builtins.int, index: Tensor, value: Number) -> Tensor: ...
    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """x with src added at index along dim, in row-major order."""
    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor: ...
    def scatter_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor:
        """input with src combined into the elements at index along dim by 'sum', 'prod',
        'mean', 'amax' or 'amin'; without the elements that were there, if not include_self.
        """
    def scatter_reduce_(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Tensor: ...
    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """x[index] along dim; a view without that axis."""
    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
        """A copy of input with src at index along dim."""
    def sgn(self) -> Tensor:
        """sign(input); of a complex number z, z / |z|, and 0 at 0."""
    def sgn_(self) -> Tensor: ...
    @property
    def shape(self) -> tuple[builtins.int, ...]: ...
    def short(self, memory_format: Any = None) -> Tensor:
        """Converted to lathe.int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Tensor: ...
    def sign(self) -> Tensor:
        """-1, 0 or 1; of -0 and of a NaN 0."""
    def sign_(self) -> Tensor: ...
    def signbit(self) -> Tensor:
        """True where the sign is minus, of -0 too."""
    def signbit_(self) -> Tensor: ...
    def sin(self) -> Tensor:
        """Sine of x in radians."""
    def sin_(self) -> Tensor: ...
    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), and 1 at 0."""
    def sinc_(self) -> Tensor: ...
    def sinh(self) -> Tensor:
        """Hyperbolic sine."""
    def sinh_(self) -> Tensor: ...
    def size(self, dim: Any = None) -> Any:
        """All sizes, or the one of an axis."""
    def slice_scatter(
        self,
        src: Tensor,
        dim: builtins.int = 0,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> Tensor:
        """A copy of input with src at start:end:step along dim."""
    def slogdet(self) -> _slogdet:
        """The sign of the determinant (of a complex one, a number of modulus 1), and the
        logarithm of its modulus.
        """
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
    def split_with_sizes(self, split_sizes: Ints, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Pieces of these sizes along dim, which they cover; views."""
    def sqrt(self) -> Tensor:
        """Square root; NaN below 0, and of a complex number the root on the right."""
    def sqrt_(self) -> Tensor: ...
    def square(self) -> Tensor:
        """x * x."""
    def square_(self) -> Tensor: ...
    def squeeze(self, *dim: Ints) -> Tensor:
        """Without the axes of size 1 that dim names; without all of them if it is None."""
    def squeeze_(self, *args: Any, **kwargs: Any) -> Tensor:
        """As squeeze, but x itself becomes the view."""
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
    @overload
    def std_mean(self, unbiased: builtins.bool) -> tuple[Tensor, ...]:
        """(std, mean) over the axes of dim."""
    @overload
    def std_mean(
        self, *dim: Ints, correction: Number | None = 1, keepdim: builtins.bool = False
    ) -> tuple[Tensor, ...]:
        """(std, mean) over the axes of dim."""
    @overload
    def std_mean(
        self, *dim: Ints, unbiased: builtins.bool = True, keepdim: builtins.bool = False
    ) -> tuple[Tensor, ...]:
        """(std, mean) over the axes of dim."""
    def stft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        pad_mode: str = "reflect",
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        return_complex: builtins.bool | None = None,
        align_to_window: builtins.bool | None = None,
    ) -> Tensor:
        """The transforms of stretches of n_fft elements, hop_length (n_fft / 4) apart, under a
        window: [..., frequencies, time].
        """
    def storage(self) -> Any:
        """The memory that the tensor lies in, as elements of its dtype."""
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
    def sub(self, other: Tensor | Number, *, alpha: Tensor | Number) -> Tensor:
        """input - alpha * other."""
    @overload
    def sub_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def sub_(self, other: Tensor | Number, *, alpha: Number) -> Tensor: ...
    @overload
    def sub_(self, other: Tensor | Number, *, alpha: Tensor | Number) -> Tensor: ...
    @overload
    def subtract(self, other: Tensor | Number) -> Tensor:
        """x - y, element by element."""
    @overload
    def subtract(self, other: Tensor | Number, *, alpha: Number) -> Tensor:
        """input - alpha * other."""
    @overload
    def subtract(self, other: Number, alpha: Number) -> Tensor:
        """input - alpha * other."""
    @overload
    def subtract(self, other: Tensor | Number, *, alpha: Tensor | Number) -> Tensor:
        """input - alpha * other."""
    @overload
    def subtract_(self, other: Tensor | Number) -> Tensor: ...
    @overload
    def subtract_(self, other: Tensor | Number, *, alpha: Number) -> Tensor: ...
    @overload
    def subtract_(self, other: Number, alpha: Number) -> Tensor: ...
    @overload
    def subtract_(self, other: Tensor | Number, *, alpha: Tensor | Number) -> Tensor: ...
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
    def sum_to_size(self, *size: Ints) -> Tensor:
        """Summed over the axes that broadcasting would repeat."""
    def svd(self, some: builtins.bool = True, compute_uv: builtins.bool = True) -> _svd:
        """U, S and V of input = U diag(S) V^H; all columns of U and V if not some; U and V are
        0 if not compute_uv.
        """
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Two axes exchanged; a view."""
    def swapaxes_(self, *args: Any, **kwargs: Any) -> Tensor:
        """As swapaxes, but x itself becomes the view."""
    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two axes exchanged; a view."""
    def swapdims_(self, *args: Any, **kwargs: Any) -> Tensor:
        """As swapdims, but x itself becomes the view."""
    def t(self) -> Tensor:
        """The transpose of a matrix, a vector as it is; a view."""
    def t_(self, *args: Any, **kwargs: Any) -> Tensor:
        """As t, but x itself becomes the view."""
    def take(self, index: Tensor) -> Tensor:
        """The elements at positions of the flattened input; negative ones count from the end."""
    def take_along_dim(self, indices: Tensor, dim: builtins.int | None = None) -> Tensor:
        """gather() with input and indices broadcast on the other axes; of the flattened input
        if dim is None.
        """
    def tan(self) -> Tensor:
        """Tangent of x in radians."""
    def tan_(self) -> Tensor: ...
    def tanh(self) -> Tensor:
        """Hyperbolic tangent."""
    def tanh_(self) -> Tensor: ...
    @overload
    def tensor_split(self, sections: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """So many pieces whose sizes differ by at most one, or those between places along dim;
        views.
        """
    @overload
    def tensor_split(self, indices: Ints, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """So many pieces whose sizes differ by at most one, or those between places along dim;
        views.
        """
    @overload
    def tensor_split(
        self, tensor_indices_or_sections: Tensor, dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """So many pieces whose sizes differ by at most one, or those between places along dim;
        views.
        """
    def tile(self, *dims: Ints) -> Tensor:
        """input laid side by side, dims[i] times along the i-th axis from the last."""
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
    def trace(self) -> Tensor:
        """The sum of a matrix' diagonal."""
    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two axes exchanged; a view."""
    def transpose_(self, *args: Any, **kwargs: Any) -> Tensor:
        """As transpose, but x itself becomes the view."""
    def triangular_solve(
        self,
        A: Tensor,
        upper: builtins.bool = True,
        transpose: builtins.bool = False,
        unitriangular: builtins.bool = False,
    ) -> _triangular_solve:
        """X of A X = input (A.mT X = input if transpose) with a triangular A, and A."""
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """The lower triangle of the last two axes; zeros above the diagonal."""
    def tril_(self, diagonal: builtins.int = 0) -> Tensor: ...
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """The upper triangle of the last two axes; zeros below the diagonal."""
    def triu_(self, diagonal: builtins.int = 0) -> Tensor: ...
    def true_divide(self, other: Tensor | Number) -> Tensor:
        """x / y; integers are divided as floats."""
    def true_divide_(self, other: Tensor | Number) -> Tensor: ...
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
    def unflatten(self, dim: builtins.int, *sizes: Ints) -> Tensor:
        """One axis split into several, whose sizes multiply to its; a view."""
    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """Windows of `size` elements along an axis, each `step` after the one before, as a new
        last axis; a view that cannot be written through.
        """
    def uniform_(
        self, from_: builtins.float = 0.0, to: builtins.float = 1.0, *, generator: Any = None
    ) -> Tensor: ...
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """The elements (the slices along dim) of input without repetitions, always in ascending
        order; if asked, which of them each one is, and how often each occurs.
        """
    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """The first of each run of equal elements (slices along dim); if asked, which run each
        belongs to, and how long each is.
        """
    def unsafe_chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """As chunk."""
    def unsafe_split(self, split_size: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """As split."""
    def unsafe_split_with_sizes(
        self, split_sizes: Ints, dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Pieces of these sizes along dim, which they cover; views."""
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """With a new axis of size 1 at dim."""
    def unsqueeze_(self, *args: Any, **kwargs: Any) -> Tensor:
        """As unsqueeze, but x itself becomes the view."""
    def untyped_storage(self) -> Any:
        """The memory that the tensor lies in, as bytes."""
    @overload
    def var(self, unbiased: builtins.bool) -> Tensor:
        """Sum of squared distances from the mean, over (count - correction); of complex numbers
        real; free of the mean's error.
        """
    @overload
    def var(
        self, *dim: Ints, correction: Number | None = 1, keepdim: builtins.bool = False
    ) -> Tensor:
        """Sum of squared distances from the mean, over (count - correction); of complex numbers
        real; free of the mean's error.
        """
    @overload
    def var(
        self, *dim: Ints, unbiased: builtins.bool = True, keepdim: builtins.bool = False
    ) -> Tensor:
        """Sum of squared distances from the mean, over (count - correction); of complex numbers
        real; free of the mean's error.
        """
    @overload
    def var_mean(self, unbiased: builtins.bool) -> tuple[Tensor, ...]:
        """(var, mean) over the axes of dim."""
    @overload
    def var_mean(
        self, *dim: Ints, correction: Number | None = 1, keepdim: builtins.bool = False
    ) -> tuple[Tensor, ...]:
        """(var, mean) over the axes of dim."""
    @overload
    def var_mean(
        self, *dim: Ints, unbiased: builtins.bool = True, keepdim: builtins.bool = False
    ) -> tuple[Tensor, ...]:
        """(var, mean) over the axes of dim."""
    def vdot(self, other: Tensor) -> Tensor:
        """As dot, of the complex conjugate of the first."""
    @overload
    def view(self, dtype: DTypeLike) -> Tensor:
        """The same bytes as elements of another dtype, without a copy."""
    @overload
    def view(self, *size: Ints) -> Tensor:
        """The same elements under another shape, without a copy. One size may be -1."""
    def view_as(self, other: Tensor) -> Tensor:
        """input viewed under the shape of other."""
    @overload
    def vsplit(self, sections: builtins.int) -> tuple[Tensor, ...]:
        """Pieces along axis 0; views."""
    @overload
    def vsplit(self, *indices: Ints) -> tuple[Tensor, ...]:
        """Pieces along axis 0; views."""
    def where(self, condition: Tensor, other: Tensor | Number) -> Tensor:
        """input where the condition holds, else other."""
    def xlogy(self, other: Tensor | Number) -> Tensor:
        """input * log(other); 0 where input is 0."""
    def xlogy_(self, other: Tensor | Number) -> Tensor: ...
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

class IndexError(Error, builtins.RuntimeError, builtins.IndexError):
    """An axis or an element index out of range."""

class InternalError(Error, builtins.RuntimeError):
    """A fault in Lathe itself; please report it."""

class LinAlgError(Error, builtins.RuntimeError):
    """A matrix that has no such decomposition or inverse."""

class MemoryError(Error, builtins.RuntimeError, builtins.MemoryError):
    """Out of memory, or over the flag max_memory."""

class NameError(Error, builtins.AttributeError):
    """An op, flag or attribute that does not exist."""

class OverflowError(Error, builtins.RuntimeError, builtins.OverflowError):
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

class ValueError(Error, builtins.RuntimeError, builtins.ValueError):
    """An argument outside its domain."""

bfloat16: dtype
bool: dtype
byte: dtype
cdouble: dtype
cfloat: dtype
char: dtype
complex128: dtype
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
uint16: dtype
uint32: dtype
uint64: dtype
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

def as_strided_(input: Any, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
    """As as_strided, but input itself becomes the view."""

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

def detach(input: Any) -> Tensor:
    """The same elements without history."""

def detach_(input: Any) -> Tensor:
    """Takes the tensor itself out of history."""

def equal(input: Any, other: Any) -> builtins.bool:
    """Whether both have one shape and equal elements; a Python bool."""

def fill_(input: Any, value: Any) -> Tensor:
    """value everywhere in input, in place."""

def flags() -> list:
    """All flags: (name, environment variable, default, meaning)."""

def from_dlpack(
    ext_tensor: Any, *, device: Any | None = ..., copy: builtins.bool | None = ...
) -> Tensor:
    """A tensor over the memory of another library's array (anything with __dlpack__, or its
    capsule). DeviceError for memory that is not the cpu's, ValueError where it is read-
    only.
    """

def from_file(
    filename: Any,
    shared: Any = None,
    size: Any = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = False,
    requires_grad: Any = False,
) -> Tensor:
    """`size` elements from the start of a file, in the dtype. shared: what is written to
    the tensor is written to the file, which grows to that size; else the file stays as it
    is. FileError where it cannot be read, ValueError where it is too short.
    """

def from_numpy(array: Any) -> Tensor:
    """A tensor over the array's own memory: what one writes the other sees. The array must
    be writable and its strides not negative; lathe.tensor(array) copies any.
    """

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
    only_inputs: builtins.bool = ...,
    allow_unused: Any | None = ...,
    is_grads_batched: builtins.bool = ...,
    materialize_grads: builtins.bool = ...,
) -> Any:
    """The gradients of the sum of `outputs` by each of `inputs`, as a tuple; no .grad
    changes. grad_outputs: what each output is multiplied by; with is_grads_batched several
    of each, along a new first axis, and as many gradients. create_graph=True records the
    computation, for higher derivatives. An input that outputs do not depend on has the
    gradient None with allow_unused, zeros with materialize_grads; else it is an
    AutogradError.
    """

def is_complex(input: Any) -> builtins.bool: ...
def is_conj(input: Any) -> builtins.bool:
    """False: conj() conjugates at once."""

def is_distributed(input: Any) -> builtins.bool:
    """False: no tensor lies in several processes."""

def is_floating_point(input: Any) -> builtins.bool: ...
def is_grad_enabled() -> builtins.bool:
    """Whether operations are recorded on this thread."""

def is_inference(input: Any) -> builtins.bool:
    """False: no tensor is barred from history for ever."""

def is_inference_mode_enabled() -> builtins.bool:
    """Whether nothing is recorded, on this thread."""

def is_neg(input: Any) -> builtins.bool:
    """False: neg() negates at once."""

def is_nonzero(input: Any) -> builtins.bool:
    """Whether the only element is not zero."""

def is_signed(input: Any) -> builtins.bool:
    """Whether the dtype has numbers below 0."""

def is_storage(obj: Any) -> builtins.bool:
    """Whether it is what Tensor.storage() or untyped_storage() gives."""

def is_tensor(obj: Any) -> builtins.bool: ...
def manual_seed(seed: builtins.int) -> Any:
    """Starts the random stream anew: the same seed gives the same numbers, in every mode
    and for any number of threads. Gives default_generator, which stands for that stream.
    """

def numel(input: Any) -> builtins.int: ...
def promote_types(type1: Any, type2: Any) -> Any:
    """The least dtype that both can be converted to. DTypeError where there is none."""

def resize_as_(input: Any, the_template: Any, *, memory_format: Any = None) -> Tensor:
    """input with the sizes of another tensor, in place; see Tensor.resize_."""

def set_default_dtype(dtype: Any) -> None:
    """Makes Python floats, zeros(), rand() and so on give this float dtype."""

def set_flag(name: str, value: Any) -> None:
    """Sets a flag of the process. ValueError says what fits."""

def set_printoptions(
    precision: Any | None = ...,
    threshold: Any | None = ...,
    edgeitems: Any | None = ...,
    linewidth: Any | None = ...,
    profile: Any | None = ...,
    sci_mode: Any | None = ...,
) -> None:
    """How tensors are printed. profile: 'default', 'short' or 'full', the settings to begin
    with. threshold: more elements than this are summarised, edgeitems at each end of an
    axis; infinite: never. sci_mode: scientific notation always (True), never (False), or
    where fixed digits would hide some (None, which a call that leaves it out sets again).
    """

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
    ints int64; NumPy's numbers and tensors in a sequence keep theirs, and the whole takes
    what holds all. ValueError for ragged sequences, TypeError for what is no number.
    """

def to_dlpack(data: Any, *, dl_device: Any = None, copy: Any = None) -> Any:
    """The tensor's memory as a DLPack capsule."""

def use_table(text: str) -> None:
    """Takes rules such as "mm f32 1..64 eigen.gemm", one a line: a product of this dtype
    whose summed extent lies in the range goes to that entry, if it accepts. The first rule
    that fits counts; '#' begins a comment. To be called before the first op; ValueError,
    UnsupportedError.
    """

def zero_(input: Any) -> Tensor:
    """Writes 0 everywhere."""

def abs(input: Tensor, *, out: Any = None) -> Tensor:
    """Absolute value; of a complex number, its modulus."""

def absolute(input: Tensor, *, out: Any = None) -> Tensor:
    """Absolute value; of a complex number, its modulus."""

def acos(input: Tensor, *, out: Any = None) -> Tensor:
    """Arc cosine, in radians."""

def acosh(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse hyperbolic cosine."""

def adaptive_avg_pool1d(input: Tensor, output_size: Ints, *, out: Any = None) -> Tensor:
    """Means of as many windows as output_size says, which cover the last axes evenly; None
    keeps a size.
    """

def adaptive_max_pool1d(
    input: Tensor, output_size: Ints, *, out: Any = None
) -> _adaptive_max_pool1d:
    """As without return_indices, and where in the last axes, flattened, each lies."""

@overload
def add(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x + y, element by element."""

@overload
def add(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number, out: Any = None
) -> Tensor:
    """input + alpha * other."""

@overload
def add(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Tensor | Number, out: Any = None
) -> Tensor:
    """input + alpha * other."""

@overload
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * the sum of bmm(batch1, batch2) over its matrices."""

@overload
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Tensor | Number = 1,
    alpha: Tensor | Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * the sum of bmm(batch1, batch2) over its matrices."""

def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Any = None
) -> Tensor:
    """input + value * tensor1 / tensor2, of floats."""

def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Any = None
) -> Tensor:
    """input + value * tensor1 * tensor2."""

@overload
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

@overload
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Tensor | Number = 1,
    alpha: Tensor | Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""

@overload
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Any = None
) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""

@overload
def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: Tensor | Number = 1,
    alpha: Tensor | Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""

@overload
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)."""

@overload
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: Tensor | Number = 1,
    alpha: Tensor | Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)."""

def adjoint(input: Tensor, *, out: Any = None) -> Tensor:
    """The last two axes exchanged, and the complex conjugate of each element."""

def affine_grid_generator(
    theta: Tensor, *size: Ints, align_corners: builtins.bool = ..., out: Any = None
) -> Tensor:
    """affine_grid under its other name."""

def alias_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of input."""

def all(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """True if no element is zero; of uint8 1 or 0 in uint8, as in PyTorch."""

def alpha_dropout(
    input: Tensor, p: builtins.float, train: builtins.bool, *, out: Any = None
) -> Tensor:
    """In training, the value that selu has far below 0 with probability p; the result is
    scaled and moved so that mean and variance stay (Klambauer et al. 2017).
    """

def amax(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """Largest element over the axes of dim; NaN if there is one."""

def amin(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """Smallest element over the axes of dim; NaN if there is one."""

def aminmax(
    input: Tensor,
    *,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> _aminmax:
    """The smallest and the largest element along dim, or of all."""

def angle(input: Tensor, *, out: Any = None) -> Tensor:
    """The angle of a complex number, in radians; of a real one 0, or pi below 0."""

def any(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """True if an element is nonzero; of uint8 1 or 0 in uint8, as in PyTorch."""

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

def arccos(input: Tensor, *, out: Any = None) -> Tensor:
    """Arc cosine, in radians."""

def arccosh(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse hyperbolic cosine."""

def arcsin(input: Tensor, *, out: Any = None) -> Tensor:
    """Arc sine, in radians."""

def arcsinh(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse hyperbolic sine."""

def arctan(input: Tensor, *, out: Any = None) -> Tensor:
    """Arc tangent, in radians."""

def arctan2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Angle of the point (x, y), in radians, in [-pi, pi]."""

def arctanh(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse hyperbolic tangent."""

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

def argwhere(input: Tensor, *, out: Any = None) -> Tensor:
    """Coordinates of the elements that are not 0, a row each."""

def as_strided(
    input: Tensor,
    size: Ints,
    stride: Ints,
    storage_offset: builtins.int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The memory of input seen with these sizes and strides; a view, written through only
    where no element is seen twice.
    """

def as_strided_copy(
    input: Tensor,
    size: Ints,
    stride: Ints,
    storage_offset: builtins.int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of what the view shows."""

def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Ints,
    stride: Ints,
    storage_offset: builtins.int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of input with src at these sizes and strides."""

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

@overload
def atleast_1d(input: Tensor, *, out: Any = None) -> Tensor:  # type: ignore[overload-overlap]
    """As it is, with axes of size 1 where it has fewer; views."""

@overload
def atleast_1d(*tensors: Tensor | Sequence[Tensor], out: Any = None) -> tuple[Tensor, ...]:
    """As it is, with axes of size 1 where it has fewer; views."""

@overload
def atleast_2d(input: Tensor, *, out: Any = None) -> Tensor:  # type: ignore[overload-overlap]
    """As it is, with axes of size 1 where it has fewer; views."""

@overload
def atleast_2d(*tensors: Tensor | Sequence[Tensor], out: Any = None) -> tuple[Tensor, ...]:
    """As it is, with axes of size 1 where it has fewer; views."""

@overload
def atleast_3d(input: Tensor, *, out: Any = None) -> Tensor:  # type: ignore[overload-overlap]
    """As it is, with axes of size 1 where it has fewer; views."""

@overload
def atleast_3d(*tensors: Tensor | Sequence[Tensor], out: Any = None) -> tuple[Tensor, ...]:
    """As it is, with axes of size 1 where it has fewer; views."""

def avg_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: builtins.bool = False,
    count_include_pad: builtins.bool = True,
    *,
    out: Any = None,
) -> Tensor:
    """Mean of each window over the last axes; padding counts as 0, or not at all
    (count_include_pad=False). divisor_override: what sums are divided by instead. Of
    integers the quotient towards zero, in their dtype.
    """

@overload
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * bmm(batch1, batch2)."""

@overload
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Tensor | Number = 1,
    alpha: Tensor | Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * bmm(batch1, batch2)."""

def bartlett_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Straight up to 1 and down again."""

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
def bernoulli(input: Tensor, *, generator: Any = None, out: Any = None) -> Tensor:
    """1 with the probability that input has there, else 0. One outside of [0, 1] is a
    ValueError.
    """

@overload
def bernoulli(
    input: Tensor, p: builtins.float, *, generator: Any = None, out: Any = None
) -> Tensor:
    """1 with probability p, else 0; of the shape and dtype of input."""

def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Any = None
) -> Tensor:
    """input1[..., i] weight[out, i, j] input2[..., j], summed over i and j, plus bias."""

def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """-(p t log s(x) + (1 - t) log(1 - s(x))), s the sigmoid, p the weight of positives;
    without overflow.
    """

def bincount(
    input: Tensor, weights: Tensor | None = None, minlength: builtins.int = 0, *, out: Any = None
) -> Tensor:
    """How often (with what weight) each integer from 0 to the greatest occurs."""

def binomial(count: Tensor, prob: Tensor, *, generator: Any = None, out: Any = None) -> Tensor:
    """How many of count trials succeed, each with probability prob."""

def bitwise_and(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """Bits set in both; on bool, and."""

def bitwise_left_shift(
    input: Tensor | Number, other: Tensor | Number, *, out: Any = None
) -> Tensor:
    """The bits moved up by other places; 0 by as many as there are."""

def bitwise_not(input: Tensor, *, out: Any = None) -> Tensor:
    """Every bit turned; on bool, not."""

def bitwise_or(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """Bits set in either; on bool, or."""

def bitwise_right_shift(
    input: Tensor | Number, other: Tensor | Number, *, out: Any = None
) -> Tensor:
    """The bits moved down by other places; the sign stays."""

def bitwise_xor(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """Bits set in just one; on bool, xor."""

def blackman_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x) over one period."""

def block_diag(*tensors: Tensor | Sequence[Tensor], out: Any = None) -> Tensor:
    """Matrices along the diagonal of one, zeros elsewhere."""

def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    """Matrix products of a batch: input[n, i, k] @ mat2[n, k, j]."""

def broadcast_tensors(*tensors: Tensor | Sequence[Tensor], out: Any = None) -> tuple[Tensor, ...]:
    """Each expanded to the shape that all have in common; views."""

def broadcast_to(input: Tensor, *size: Ints, out: Any = None) -> Tensor:
    """Axes of size 1 repeated without a copy; new axes may be added in front."""

@overload
def bucketize(
    input: Tensor,
    boundaries: Tensor,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """The number of boundaries below each value; of those not above it, if right."""

@overload
def bucketize(
    self: Number,
    boundaries: Tensor,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """The number of boundaries below each value; of those not above it, if right."""

def cartesian_prod(*tensors: Tensor | Sequence[Tensor], out: Any = None) -> Tensor:
    """All rows with one element of each vector, the last changing fastest."""

def cat(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """Tensors joined along an axis they all have."""

def cbrt(input: Tensor, *, out: Any = None) -> Tensor:
    """Cube root, also of negative numbers; beyond PyTorch, as NumPy has it."""

def cdist(
    x1: Tensor,
    x2: Tensor,
    p: builtins.float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    *,
    out: Any = None,
) -> Tensor:
    """The distance of every row of x1 from every row of x2."""

def ceil(input: Tensor, *, out: Any = None) -> Tensor:
    """Smallest integer not below x."""

def celu(input: Tensor, alpha: builtins.float = 1.0, *, out: Any = None) -> Tensor:
    """x above 0, alpha (exp(x / alpha) - 1) below (Barron 2017)."""

def chain_matmul(*matrices: Tensor | Sequence[Tensor], out: Any = None) -> Tensor:
    """The product of all, in the order that takes the fewest multiplications."""

def channel_shuffle(input: Tensor, groups: builtins.int, *, out: Any = None) -> Tensor:
    """Channels dealt out anew: those of each group stand apart by groups."""

def cholesky(input: Tensor, upper: builtins.bool = False, *, out: Any = None) -> Tensor:
    """L of A = L L^H (U of U^H U if upper); a LinAlgError if a matrix is not positive-
    definite. Only that triangle is read.
    """

def cholesky_inverse(input: Tensor, upper: builtins.bool = False, *, out: Any = None) -> Tensor:
    """The inverse of A, of its Cholesky factor."""

def cholesky_solve(
    input: Tensor, input2: Tensor, upper: builtins.bool = False, *, out: Any = None
) -> Tensor:
    """X of A X = input, of A's Cholesky factor input2."""

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
    """input limited to [min, max]; NaN where a bound is NaN. At a bound that is a number
    the derivative is 0, at a tensor's elements it is shared.
    """

def clamp_max(input: Tensor, max: Tensor | Number, *, out: Any = None) -> Tensor:
    """x, or max where x is larger; NaN if either is NaN."""

def clamp_min(input: Tensor, min: Tensor | Number, *, out: Any = None) -> Tensor:
    """x, or min where x is smaller; NaN if either is NaN."""

def clip(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input limited to [min, max]; NaN where a bound is NaN. At a bound that is a number
    the derivative is 0, at a tensor's elements it is shared.
    """

@overload
def clone(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of x."""

@overload
def clone(input: Tensor, *, memory_format: str | None, out: Any = None) -> Tensor:
    """A copy of x."""

def column_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors side by side along axis 1, vectors as columns."""

def combinations(
    input: Tensor, r: builtins.int = 2, with_replacement: builtins.bool = False, *, out: Any = None
) -> Tensor:
    """All rows of r elements of a vector in its order, each taken once unless
    with_replacement.
    """

def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """re + i im."""

def concat(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """Tensors joined along an axis they all have."""

def concatenate(tensors: Sequence[Tensor], dim: builtins.int = 0, *, out: Any = None) -> Tensor:
    """Tensors joined along an axis they all have."""

def conj(input: Tensor, *, out: Any = None) -> Tensor:
    """Complex conjugate; a real x as it is."""

def conj_physical(input: Tensor, *, out: Any = None) -> Tensor:
    """Complex conjugate; a real x as it is."""

@overload
def constant_pad_nd(input: Tensor, pad: Ints, value: Number = 0, *, out: Any = None) -> Tensor:
    """input with a border of value; pad lists (before, after) from the last axis on, and
    what is negative shortens an axis.
    """

@overload
def constant_pad_nd(input: Tensor, pad: Ints, value: Tensor, *, out: Any = None) -> Tensor:
    """input with a border of value; pad lists (before, after) from the last axis on, and
    what is negative shortens an axis.
    """

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

def conv_tbc(
    input: Tensor, weight: Tensor, bias: Tensor, pad: builtins.int = 0, *, out: Any = None
) -> Tensor:
    """conv1d of input[time, n, c] with weight[width, c, o]: time comes first."""

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

def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: builtins.bool,
    output_padding: Ints,
    groups: builtins.int,
    *,
    out: Any = None,
) -> Tensor:
    """conv1d, conv2d, conv3d or the transposed ones, by input's rank."""

def copysign(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """The magnitude of input with the sign of other, also of its zeros."""

def corrcoef(input: Tensor, *, out: Any = None) -> Tensor:
    """The correlation of rows: their covariance over the roots of both variances."""

def cos(input: Tensor, *, out: Any = None) -> Tensor:
    """Cosine of x in radians."""

def cosh(input: Tensor, *, out: Any = None) -> Tensor:
    """Hyperbolic cosine."""

def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: builtins.float = 0.0,
    reduction: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""

def cosine_similarity(
    x1: Tensor, x2: Tensor, dim: builtins.int = 1, eps: builtins.float = 1e-08, *, out: Any = None
) -> Tensor:
    """The cosine of the angle between vectors along dim; lengths count as eps at least."""

def count_nonzero(input: Tensor, *dim: Ints, out: Any = None) -> Tensor:
    """How many elements along dim are not 0."""

def cov(
    input: Tensor,
    *,
    correction: builtins.int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """The covariance of rows; columns are observations, each as often as fweights says and
    of the weight aweights.
    """

def cross(
    input: Tensor, other: Tensor, dim: builtins.int | None = None, *, out: Any = None
) -> Tensor:
    """The vector at right angles to both, along dim or the first axis of size 3."""

@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: builtins.int = 0,
    reduction: builtins.int = 1,
    zero_infinity: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """-log of the probability that log_probs[time, n, classes] read targets[n, labels] (or
    all in one row), with blanks in between (Graves et al. 2006). zero_infinity: a target
    that does not fit into its time counts as 0. The mean is that of losses divided by the
    number of labels.
    """

@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Ints,
    target_lengths: Ints,
    blank: builtins.int = 0,
    reduction: builtins.int = 1,
    zero_infinity: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """-log of the probability that log_probs[time, n, classes] read targets[n, labels] (or
    all in one row), with blanks in between (Graves et al. 2006). zero_infinity: a target
    that does not fit into its time counts as 0. The mean is that of losses divided by the
    number of labels.
    """

def cummax(input: Tensor, dim: builtins.int, *, out: Any = None) -> _cummax:
    """The largest element so far along dim, and where it lies (the last such place). A NaN
    counts as largest.
    """

def cummin(input: Tensor, dim: builtins.int, *, out: Any = None) -> _cummin:
    """The smallest element so far along dim, and where it lies (the last such place). A NaN
    counts as smallest.
    """

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

@overload
def cumulative_trapezoid(
    y: Tensor, x: Tensor, *, dim: builtins.int = -1, out: Any = None
) -> Tensor:
    """The area under the straight lines up to each point but the first along dim."""

@overload
def cumulative_trapezoid(
    y: Tensor, *, dx: Number = 1, dim: builtins.int = -1, out: Any = None
) -> Tensor:
    """The area under the straight lines up to each point but the first along dim."""

def deg2rad(input: Tensor, *, out: Any = None) -> Tensor:
    """Degrees in radians."""

def det(input: Tensor, *, out: Any = None) -> Tensor:
    """The determinant of each matrix."""

def diag(input: Tensor, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
    """A matrix with the vector on a diagonal; of a matrix, a copy of one."""

def diag_embed(
    input: Tensor,
    offset: builtins.int = 0,
    dim1: builtins.int = -2,
    dim2: builtins.int = -1,
    *,
    out: Any = None,
) -> Tensor:
    """Matrices with the last axis of input on a diagonal, zeros elsewhere."""

def diagflat(input: Tensor, offset: builtins.int = 0, *, out: Any = None) -> Tensor:
    """A matrix with all elements of input on a diagonal."""

def diagonal(
    input: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
) -> Tensor:
    """The diagonal of two axes as a new last axis; offset above 0 is right of it; a view."""

def diagonal_copy(
    input: Tensor,
    offset: builtins.int = 0,
    dim1: builtins.int = 0,
    dim2: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of what the view shows."""

def diagonal_scatter(
    input: Tensor,
    src: Tensor,
    offset: builtins.int = 0,
    dim1: builtins.int = 0,
    dim2: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of input with src on a diagonal."""

def diff(
    input: Tensor,
    n: builtins.int = 1,
    dim: builtins.int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """Differences of neighbours along dim, n times; of bool, whether they differ."""

def digamma(input: Tensor, *, out: Any = None) -> Tensor:
    """Derivative of lgamma."""

def dist(input: Tensor, other: Tensor, p: Number = 2, *, out: Any = None) -> Tensor:
    """The p-norm of input - other."""

@overload
def div(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x / y; integers are divided as floats."""

@overload
def div(
    input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None, out: Any = None
) -> Tensor:
    """The quotient, rounded towards zero ('trunc') or down ('floor')."""

@overload
def divide(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x / y; integers are divided as floats."""

@overload
def divide(
    input: Tensor | Number, other: Tensor | Number, *, rounding_mode: str | None, out: Any = None
) -> Tensor:
    """The quotient, rounded towards zero ('trunc') or down ('floor')."""

def dot(input: Tensor, tensor: Tensor, *, out: Any = None) -> Tensor:
    """The sum of the products of two vectors' elements."""

def dropout(input: Tensor, p: builtins.float, train: builtins.bool, *, out: Any = None) -> Tensor:
    """In training, zeros with probability p and the rest scaled by 1 / (1 - p)."""

@overload
def dsplit(input: Tensor, sections: builtins.int, *, out: Any = None) -> tuple[Tensor, ...]:
    """Pieces along axis 2; views."""

@overload
def dsplit(input: Tensor, *indices: Ints, out: Any = None) -> tuple[Tensor, ...]:
    """Pieces along axis 2; views."""

def dstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors one behind the other: along axis 2."""

def einsum(equation: str, *operands: Tensor | Sequence[Tensor], out: Any = None) -> Tensor:
    """A sum of products over axes named by letters, as 'ij,jk->ik'; '...' stands for
    leading axes, which broadcast.
    """

def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: builtins.int = -1,
    scale_grad_by_freq: builtins.bool = False,
    sparse: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Rows of weight by index; the row padding_idx takes no gradient. The gradient is a
    whole tensor also with sparse=True.
    """

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

def empty_permuted(
    size: Ints,
    physical_layout: Ints,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Zeros whose axes lie in memory in another order."""

def empty_strided(
    size: Ints,
    stride: Ints,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Zeros with these strides."""

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

def expand_copy(input: Tensor, *size: Ints, out: Any = None) -> Tensor:
    """A copy of what the view shows."""

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

def feature_alpha_dropout(
    input: Tensor, p: builtins.float, train: builtins.bool, *, out: Any = None
) -> Tensor:
    """alpha_dropout of whole channels, those of axis 1."""

def feature_dropout(
    input: Tensor, p: builtins.float, train: builtins.bool, *, out: Any = None
) -> Tensor:
    """In training, whole channels (axis 1) are zeros with probability p and the rest is
    scaled by 1 / (1 - p).
    """

def fill(input: Tensor, value: Tensor | Number, *, out: Any = None) -> Tensor:
    """value, a number or a tensor without axes, in the shape and dtype of input."""

def fix(input: Tensor, *, out: Any = None) -> Tensor:
    """x without its fraction."""

def flatten(
    input: Tensor, start_dim: builtins.int = 0, end_dim: builtins.int = -1, *, out: Any = None
) -> Tensor:
    """Axes start_dim..end_dim joined into one."""

def flip(input: Tensor, *dims: Ints, out: Any = None) -> Tensor:
    """A copy with the elements from the last to the first along dims."""

def fliplr(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy with the columns from the last to the first."""

def flipud(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy with the rows from the last to the first."""

def float_power(input: Tensor | Number, exponent: Tensor | Number, *, out: Any = None) -> Tensor:
    """input to the power exponent, in float64 or complex128."""

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

def frac(input: Tensor, *, out: Any = None) -> Tensor:
    """input without its whole part; the sign stays."""

def frexp(input: Tensor, *, out: Any = None) -> _frexp:
    """A mantissa of magnitude in [1/2, 1) and an int32 exponent e with input = mantissa *
    2^e; 0, infinities and NaN have the exponent 0.
    """

def frobenius_norm(
    input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None
) -> Tensor:
    """The root of the sum of squared moduli over dim, or over everything if that is []."""

@overload
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

@overload
def full(
    size: Ints,
    fill_value: Tensor,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """value everywhere; its type decides the dtype unless one is given."""

@overload
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
def full_like(
    input: Tensor,
    fill_value: Tensor,
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
    """out[i][j] = x[index[i][j]][j] for dim 0, and so on. Negative indexes are refused; an
    index without elements may have any rank, and that of a 0-d input an axis.
    """

@overload
def gather(
    input: Tensor, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool, out: Any = None
) -> Tensor:
    """As gather; sparse gradients do not exist."""

def gcd(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The greatest common divisor, not negative; 0 of two zeros."""

def ge(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x >= y."""

def gelu(input: Tensor, *, approximate: str = "none", out: Any = None) -> Tensor:
    """Gaussian error linear unit, exact by erf or by the tanh approximation."""

def geqrf(input: Tensor, *, out: Any = None) -> _geqrf:
    """The reflectors of a QR decomposition as LAPACK has them: R above, the vectors below
    the diagonal, and their factors tau.
    """

def ger(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """Each element of one vector times each of another: input[i] * vec2[j]."""

@overload
def gradient(
    input: Tensor,
    *,
    spacing: Number | None = None,
    dim: Ints | None = None,
    edge_order: builtins.int = 1,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """The slope of input along each axis of dim (each axis, if None), from values that lie
    spacing apart, or at positions that it gives.
    """

@overload
def gradient(
    input: Tensor,
    *,
    spacing: builtins.float | Sequence[builtins.float],
    dim: Ints | None = None,
    edge_order: builtins.int = 1,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """The slope of input along each axis of dim (each axis, if None), from values that lie
    spacing apart, or at positions that it gives.
    """

@overload
def gradient(
    input: Tensor,
    *,
    spacing: Sequence[Tensor],
    dim: Ints | None = None,
    edge_order: builtins.int = 1,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """The slope of input along each axis of dim (each axis, if None), from values that lie
    spacing apart, or at positions that it gives.
    """

def greater(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x > y."""

def greater_equal(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x >= y."""

def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: builtins.int,
    padding_mode: builtins.int,
    align_corners: builtins.bool,
    *,
    out: Any = None,
) -> Tensor:
    """grid_sample, with numbers for the modes."""

def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: builtins.int,
    padding_mode: builtins.int,
    align_corners: builtins.bool,
    *,
    out: Any = None,
) -> Tensor:
    """grid_sample, with numbers for the modes."""

def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: builtins.int,
    padding_mode: builtins.int,
    align_corners: builtins.bool,
    *,
    out: Any = None,
) -> Tensor:
    """grid_sample, with numbers for the modes."""

@overload
def group_norm(
    input: Tensor,
    num_groups: builtins.int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: builtins.float = 1e-05,
    *,
    out: Any = None,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) of each group of channels of each image, then weight and
    bias a channel (Wu and He 2018).
    """

@overload
def group_norm(
    input: Tensor,
    num_groups: builtins.int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: builtins.float = 1e-05,
    *,
    cudnn_enabled: builtins.bool,
    out: Any = None,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) of each group of channels of each image, then weight and
    bias a channel (Wu and He 2018).
    """

def gt(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x > y."""

def hamming_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    alpha: builtins.float = 0.54,
    beta: builtins.float = 0.46,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """alpha - beta cos(x) over one period."""

def hann_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """(1 - cos(x)) / 2 over one period."""

def hardshrink(input: Tensor, lambd: builtins.float = 0.5, *, out: Any = None) -> Tensor:
    """x, or 0 where |x| is at most lambd."""

def heaviside(input: Tensor, values: Tensor, *, out: Any = None) -> Tensor:
    """0 below 0, 1 above, values at 0; 0 where input is NaN."""

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: builtins.float = 1.0,
    reduction: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """A distance where the target is 1, what it lacks of the margin where that is -1."""

def histc(
    input: Tensor, bins: builtins.int = 100, min: Number = 0, max: Number = 0, *, out: Any = None
) -> Tensor:
    """How many elements fall into each of so many equal bins between min and max, or
    between the least and the greatest element if those are equal. Others are left out.
    """

@overload
def histogram(
    input: Tensor,
    bins: builtins.int = 100,
    *,
    range: builtins.float | Sequence[builtins.float] | None = None,
    weight: Tensor | None = None,
    density: builtins.bool = False,
    out: Any = None,
) -> _histogram:
    """How many elements (or what weight) fall into each bin, and the bins' borders; with
    density divided so that the area is 1.
    """

@overload
def histogram(
    input: Tensor,
    bins: Tensor,
    *,
    weight: Tensor | None = None,
    density: builtins.bool = False,
    out: Any = None,
) -> _histogram:
    """How many elements (or what weight) fall into each bin, and the bins' borders; with
    density divided so that the area is 1.
    """

@overload
def histogramdd(
    input: Tensor,
    bins: builtins.int,
    range: builtins.float | Sequence[builtins.float] | None = None,
    weight: Tensor | None = None,
    density: builtins.bool = False,
    *,
    out: Any = None,
) -> _histogramdd:
    """How many points (or what weight), which lie along the last axis of input, fall into
    each bin of a grid, and the bins' borders along each axis; with density divided so that
    the volume is 1. range: both ends along the first axis, along the second, and so on.
    """

@overload
def histogramdd(
    input: Tensor,
    bins: Ints,
    range: builtins.float | Sequence[builtins.float] | None = None,
    weight: Tensor | None = None,
    density: builtins.bool = False,
    *,
    out: Any = None,
) -> _histogramdd:
    """How many points (or what weight), which lie along the last axis of input, fall into
    each bin of a grid, and the bins' borders along each axis; with density divided so that
    the volume is 1. range: both ends along the first axis, along the second, and so on.
    """

@overload
def histogramdd(
    input: Tensor,
    bins: Sequence[Tensor],
    range: None = None,
    weight: Tensor | None = None,
    density: builtins.bool = False,
    *,
    out: Any = None,
) -> _histogramdd:
    """How many points (or what weight), which lie along the last axis of input, fall into
    each bin of a grid, and the bins' borders along each axis; with density divided so that
    the volume is 1. range: both ends along the first axis, along the second, and so on.
    """

@overload
def hsplit(input: Tensor, sections: builtins.int, *, out: Any = None) -> tuple[Tensor, ...]:
    """Pieces along axis 1, of a vector along axis 0; views."""

@overload
def hsplit(input: Tensor, *indices: Ints, out: Any = None) -> tuple[Tensor, ...]:
    """Pieces along axis 1, of a vector along axis 0; views."""

def hstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors side by side: along axis 1, vectors along axis 0."""

def hypot(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """sqrt(input^2 + other^2), without overflow in between."""

def i0(input: Tensor, *, out: Any = None) -> Tensor:
    """Modified Bessel function of the first kind, order 0."""

def igamma(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The lower incomplete gamma function P(input, other), regularised."""

def igammac(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The upper incomplete gamma function Q(input, other), regularised."""

def imag(input: Tensor, *, out: Any = None) -> Tensor:
    """The imaginary parts, a view of them."""

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

def index_copy(
    input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, *, out: Any = None
) -> Tensor:
    """input with the slices of source in place of those that index names along dim; of
    several for one place the last stays.
    """

def index_fill(
    input: Tensor, dim: builtins.int, index: Tensor, value: Tensor | Number, *, out: Any = None
) -> Tensor:
    """input with value in the slices that index names along dim."""

def index_put(
    input: Tensor,
    indices: Sequence[Tensor],
    values: Tensor,
    accumulate: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """input with values written (added, if accumulate) at the places that the index tensors
    name together on the leading axes.
    """

def index_reduce(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: builtins.bool = True,
    out: Any = None,
) -> Tensor:
    """input with the slices of source combined into those that index names along dim by
    'prod', 'mean', 'amax' or 'amin'; without what was there, if not include_self.
    """

def index_select(input: Tensor, dim: builtins.int, index: Tensor, *, out: Any = None) -> Tensor:
    """Whole slices of x along dim, in the order of index; index may have any rank."""

def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Sums of products along the last axes, for each pair of the other indices."""

def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    cudnn_enabled: builtins.bool,
    *,
    out: Any = None,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) of each channel of each image, then weight and bias
    (Ulyanov et al. 2016); the running mean and (unbiased) variance move by momentum, and
    stand for the image's own if use_input_stats is False.
    """

def inverse(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse of each matrix; a LinAlgError if one has none."""

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

@overload
def isin(
    elements: Tensor,
    test_elements: Tensor,
    *,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """True where an element is among the test elements; where it is not, if invert."""

@overload
def isin(
    elements: Tensor,
    test_element: Number,
    *,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """True where an element is among the test elements; where it is not, if invert."""

@overload
def isin(
    element: Number,
    test_elements: Tensor,
    *,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """True where an element is among the test elements; where it is not, if invert."""

def isinf(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is infinite."""

def isnan(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is not a number."""

def isneginf(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is minus infinity."""

def isposinf(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is plus infinity."""

def isreal(input: Tensor, *, out: Any = None) -> Tensor:
    """True where the imaginary part is 0."""

def istft(
    input: Tensor,
    n_fft: builtins.int,
    hop_length: builtins.int | None = None,
    win_length: builtins.int | None = None,
    window: Tensor | None = None,
    center: builtins.bool = True,
    normalized: builtins.bool = False,
    onesided: builtins.bool | None = None,
    length: builtins.int | None = None,
    return_complex: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The signal that stft() gives this of: the stretches under the window added up, by the
    sum of its squares there. Where that is 0, the signal is not finite.
    """

def kaiser_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    beta: builtins.float = 12.0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """i0(beta sqrt(1 - t^2)) / i0(beta) for t from -1 to 1: the larger beta, the narrower."""

def kl_div(
    input: Tensor,
    target: Tensor,
    reduction: builtins.int = 1,
    *,
    log_target: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """target (log(target) - input), where input holds log probabilities, and target does if
    log_target. reduction='batchmean' divides the sum by the size of the batch, which is the
    divergence of Kullback and Leibler.
    """

def kron(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Blocks of other, each times an element of input."""

def kthvalue(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = -1,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> _kthvalue:
    """The k-th smallest element along dim, from k = 1, and its place."""

@overload
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

@overload
def layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: builtins.float = 1e-05,
    *,
    cudnn_enable: builtins.bool,
    out: Any = None,
) -> Tensor:
    """As layer_norm; there is no cuDNN to switch off."""

def lcm(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The least common multiple, not negative; 0 where either is 0."""

def ldexp(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """input * 2^other, rounded once unless it is complex."""

def le(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x <= y."""

def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Any = None) -> Tensor:
    """x + weight * (y - x), or y - (y - x) * (1 - weight) from |weight| of 0.5 on: from x
    to y as weight goes from 0 to 1.
    """

def less(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x < y."""

def less_equal(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x <= y."""

def lgamma(input: Tensor, *, out: Any = None) -> Tensor:
    """log |gamma(x)|."""

@overload
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

@overload
def linspace(
    start: Tensor | Number,
    end: Tensor | Number,
    steps: builtins.int,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Between ends that are tensors of one element."""

def log(input: Tensor, *, out: Any = None) -> Tensor:
    """Natural logarithm; NaN below 0 unless x is complex."""

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

def logaddexp(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """log(exp(input) + exp(other)), without overflow."""

def logaddexp2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """log2(2^input + 2^other), without overflow."""

def logcumsumexp(input: Tensor, dim: builtins.int, *, out: Any = None) -> Tensor:
    """log of the running sum of exp(x) along dim, without overflow."""

def logdet(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of the determinant; NaN where that is negative."""

def logical_and(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """True where both are nonzero."""

def logical_not(input: Tensor, *, out: Any = None) -> Tensor:
    """True where x is zero."""

def logical_or(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """True where either is nonzero."""

def logical_xor(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """True where just one is nonzero."""

def logit(input: Tensor, eps: builtins.float | None = None, *, out: Any = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; x is limited to [eps, 1 - eps] if eps is
    given.
    """

@overload
def logspace(
    start: Number,
    end: Number,
    steps: builtins.int,
    base: builtins.float = 10.0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """base to the power of steps evenly spaced numbers from start to end."""

@overload
def logspace(
    start: Tensor | Number,
    end: Tensor | Number,
    steps: builtins.int,
    base: builtins.float = 10.0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Between exponents that are tensors of one element."""

def logsumexp(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """log(sum(exp(x))), without overflow: the largest element is taken out first; of no
    elements -inf.
    """

def lt(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x < y."""

@overload
def lu(
    A: Tensor, pivot: builtins.bool = True, get_infos: Literal[False] = False, *, out: Any = None
) -> _lu:
    """L (below the diagonal, which is 1) and U in one matrix, and the pivots."""

@overload
def lu(A: Tensor, pivot: builtins.bool = True, *, get_infos: Literal[True], out: Any = None) -> _lu:
    """L (below the diagonal, which is 1) and U in one matrix, the pivots, and 0 or which
    pivot was 0.
    """

def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:
    """X of A X = input, of A's LU decomposition."""

def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: builtins.bool = True,
    unpack_pivots: builtins.bool = True,
    *,
    out: Any = None,
) -> _lu_unpack:
    """P, L and U of A = P L U from what lu_factor() gives; empty where not asked for."""

def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: builtins.float = 0.0,
    reduction: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """max(0, margin - target (input1 - input2)), target being 1 or -1."""

def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number, *, out: Any = None) -> Tensor:
    """value where mask (bool) is true, in the dtype of input."""

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor, *, out: Any = None) -> Tensor:
    """input with the elements of source, one after the other, where mask (bool) is true."""

def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """The elements at which mask (bool) is true, along one axis."""

def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Matrix product; a 1-d operand is a row on the left and a column on the right."""

def matrix_exp(input: Tensor, *, out: Any = None) -> Tensor:
    """The exponential of each matrix, by scaling and squaring."""

def matrix_power(input: Tensor, n: builtins.int, *, out: Any = None) -> Tensor:
    """The product of n factors A; of the inverse for a negative n."""

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

def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: builtins.bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Any = None,
) -> Tensor:
    """Largest element of each window over the last axes; the first of equal ones takes the
    gradient.
    """

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
    *,
    out: Any = None,
) -> _max_pool1d_with_indices:
    """Largest element of each window over the last axes, and where in these axes,
    flattened, it lies.
    """

def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: builtins.bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Any = None,
) -> Tensor:
    """Largest element of each window over the last axes; the first of equal ones takes the
    gradient.
    """

def max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: builtins.bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Any = None,
) -> Tensor:
    """Largest element of each window over the last axes; the first of equal ones takes the
    gradient.
    """

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
def median(input: Tensor, *, out: Any = None) -> Tensor:
    """The lower of the two middle elements, and its place; NaN if there is one."""

@overload
def median(
    input: Tensor, dim: builtins.int, keepdim: builtins.bool = False, *, out: Any = None
) -> _median:
    """The lower of the two middle elements, and its place; NaN if there is one."""

def meshgrid(
    *tensors: Tensor | Sequence[Tensor], indexing: str | None = None, out: Any = None
) -> tuple[Tensor, ...]:
    """Each vector as one axis of a grid, expanded over the others; views."""

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
    and the result, wider than the operands' own. Gradients of bfloat16 operands are
    products of bfloat16 then, too.
    """

def mode(
    input: Tensor, dim: builtins.int = -1, keepdim: builtins.bool = False, *, out: Any = None
) -> _mode:
    """The element that occurs most often along dim, of several the smallest, and the last
    place where it does.
    """

def moveaxis(input: Tensor, source: Ints, destination: Ints, *, out: Any = None) -> Tensor:
    """Axes moved to other places, the rest in their order; a view."""

def movedim(input: Tensor, source: Ints, destination: Ints, *, out: Any = None) -> Tensor:
    """Axes moved to other places, the rest in their order; a view."""

def msort(input: Tensor, *, out: Any = None) -> Tensor:
    """Sorted along the first axis."""

def mul(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x * y, element by element."""

def multinomial(
    input: Tensor,
    num_samples: builtins.int,
    replacement: builtins.bool = False,
    *,
    generator: Any = None,
    out: Any = None,
) -> Tensor:
    """Categories drawn with chances in proportion to the weights along the last axis."""

def multiply(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x * y, element by element."""

def mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Tensor:
    """A matrix times a vector."""

def mvlgamma(input: Tensor, p: builtins.int, *, out: Any = None) -> Tensor:
    """The logarithm of the gamma function of p variables."""

def nan_to_num(
    input: Tensor,
    nan: builtins.float | None = None,
    posinf: builtins.float | None = None,
    neginf: builtins.float | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input with NaN as nan (0) and the infinities as posinf and neginf (the largest and
    lowest of the dtype).
    """

def nanmean(
    input: Tensor,
    *dim: Ints,
    keepdim: builtins.bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """Mean over the axes of dim of what is not NaN."""

@overload
def nanmedian(input: Tensor, *, out: Any = None) -> Tensor:
    """The lower of the two middle elements that are not NaN, and its place."""

@overload
def nanmedian(
    input: Tensor, dim: builtins.int, keepdim: builtins.bool = False, *, out: Any = None
) -> _nanmedian:
    """The lower of the two middle elements that are not NaN, and its place."""

def nanquantile(
    input: Tensor,
    q: Tensor | Number,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
) -> Tensor:
    """The quantile of what is not NaN."""

def nansum(
    input: Tensor,
    *dim: Ints,
    keepdim: builtins.bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """Sum over the axes of dim in which NaN counts as 0."""

@overload
def narrow(
    input: Tensor, dim: builtins.int, start: builtins.int, length: builtins.int, *, out: Any = None
) -> Tensor:
    """length elements from start along dim, which may count from the end; a view."""

@overload
def narrow(
    input: Tensor, dim: builtins.int, start: Tensor, length: builtins.int, *, out: Any = None
) -> Tensor:
    """From where a tensor of one element says."""

def narrow_copy(
    input: Tensor, dim: builtins.int, start: builtins.int, length: builtins.int, *, out: Any = None
) -> Tensor:
    """A copy of length elements from start along dim."""

def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    *,
    out: Any = None,
) -> _native_batch_norm:
    """batch_norm(), and in training the mean and 1 / sqrt(var + eps) of each channel; else
    two empty tensors.
    """

def native_channel_shuffle(input: Tensor, groups: builtins.int, *, out: Any = None) -> Tensor:
    """Channels dealt out anew: those of each group stand apart by groups."""

def native_layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: builtins.float,
    *,
    out: Any = None,
) -> _native_layer_norm:
    """layer_norm(), the mean and 1 / sqrt(var + eps), each with axes of 1."""

def ne(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x != y; true where either is NaN."""

def neg(input: Tensor, *, out: Any = None) -> Tensor:
    """-x."""

def negative(input: Tensor, *, out: Any = None) -> Tensor:
    """-x."""

def nextafter(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The number of input's dtype that comes next on the way to other."""

def nonzero(input: Tensor, *, as_tuple: builtins.bool = False, out: Any = None) -> Any:
    """Coordinates of the elements that are not 0, a row each; as_tuple: an index tensor for
    each axis.
    """

def nonzero_static(
    input: Tensor, *, size: builtins.int, fill_value: builtins.int = -1, out: Any = None
) -> Tensor:
    """Coordinates of the first so many elements that are not 0, a row each; rows of
    fill_value where there are fewer.
    """

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

@overload
def normal(mean: Tensor, std: Tensor, *, generator: Any = None, out: Any = None) -> Tensor:
    """Normal, with a mean and a standard deviation for each element."""

@overload
def normal(
    mean: Tensor, std: builtins.float = 1.0, *, generator: Any = None, out: Any = None
) -> Tensor:
    """Normal, with a mean for each element."""

@overload
def normal(mean: builtins.float, std: Tensor, *, generator: Any = None, out: Any = None) -> Tensor:
    """Normal, with a standard deviation for each element."""

@overload
def normal(
    mean: builtins.float,
    std: builtins.float,
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    generator: Any = None,
    out: Any = None,
) -> Tensor:
    """Normal, of these sizes."""

def not_equal(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x != y; true where either is NaN."""

@overload
def nuclear_norm(input: Tensor, keepdim: builtins.bool = False, *, out: Any = None) -> Tensor:
    """The sum of the singular values of matrices[..., m, n], or of those along the two axes
    dim.
    """

@overload
def nuclear_norm(
    input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None
) -> Tensor:
    """The sum of the singular values of matrices[..., m, n], or of those along the two axes
    dim.
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

def orgqr(input: Tensor, input2: Tensor, *, out: Any = None) -> Tensor:
    """The first columns of the product of reflections that geqrf() gives."""

def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: builtins.bool = True,
    transpose: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Q other (other Q if not left; Q^H for Q if transpose), Q the product of all
    reflections that geqrf() gives.
    """

def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor:
    """Each element of one vector times each of another: input[i] * vec2[j]."""

def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: builtins.float = 2.0,
    eps: builtins.float = 1e-06,
    keepdim: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis."""

def pca_lowrank(
    A: Tensor,
    q: builtins.int | None = None,
    center: builtins.bool = True,
    niter: builtins.int = 2,
    *,
    out: Any = None,
) -> _pca_lowrank:
    """The q main components of the rows of A, less their mean if center, as svd_lowrank()
    finds them; q: 6, or as many as there are.
    """

def pdist(input: Tensor, p: builtins.float = 2.0, *, out: Any = None) -> Tensor:
    """The distance of every two rows, each pair once."""

def permute(input: Tensor, *dims: Ints) -> Tensor:
    """Axes in another order."""

def permute_copy(input: Tensor, *dims: Ints, out: Any = None) -> Tensor:
    """A copy of what the view shows."""

def pinverse(input: Tensor, rcond: builtins.float = 1e-15, *, out: Any = None) -> Tensor:
    """The pseudoinverse; singular values up to rcond times the largest count as 0."""

def pixel_shuffle(input: Tensor, upscale_factor: builtins.int, *, out: Any = None) -> Tensor:
    """Channels turned into blocks of pixels: [c f f, h, w] to [c, h f, w f]."""

def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int, *, out: Any = None) -> Tensor:
    """Blocks of pixels turned into channels: [c, h f, w f] to [c f f, h, w]."""

def poisson(input: Tensor, *, generator: Any = None, out: Any = None) -> Tensor:
    """How many events there are at the rate that input has there."""

def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: builtins.bool,
    full: builtins.bool,
    eps: builtins.float,
    reduction: builtins.int,
    *,
    out: Any = None,
) -> Tensor:
    """exp(x) - target x, or x - target log(x + eps) if not log_input; full: with
    log(target!) by Stirling's formula.
    """

def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """The complex number of this modulus and angle."""

def polygamma(n: builtins.int, input: Tensor, *, out: Any = None) -> Tensor:
    """The n-th derivative of digamma."""

def positive(input: Tensor, *, out: Any = None) -> Tensor:
    """input itself."""

def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Any = None) -> Tensor:
    """x to the power y. By the numbers 2, 3, 0.5, -0.5, -1 and -2 it is x * x, x * x * x,
    sqrt(x), 1 / sqrt(x), 1 / x and 1 / (x * x). Integers stay integers; to a negative power
    they are a ValueError.
    """

def prelu(input: Tensor, weight: Tensor, *, out: Any = None) -> Tensor:
    """x above 0, else weight * x, with one weight or one a channel (He et al. 2015)."""

@overload
def prod(input: Tensor, *dim: Ints, keepdim: builtins.bool = False, out: Any = None) -> Tensor:
    """Product over the axes of dim."""

@overload
def prod(
    input: Tensor, *dim: Ints, keepdim: builtins.bool = False, dtype: DTypeLike, out: Any = None
) -> Tensor:
    """Product over the axes of dim."""

def put(
    input: Tensor,
    index: Tensor,
    source: Tensor,
    accumulate: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """input with source written (added, if accumulate) at positions of the flattened input."""

def qr(input: Tensor, some: builtins.bool = True, *, out: Any = None) -> _qr:
    """Q and R of input = Q R; with some=False all columns of Q."""

def quantile(
    input: Tensor,
    q: Tensor | Number,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
) -> Tensor:
    """The element below which the share q of the others lies, along dim or of all; between
    two by interpolation. NaN if there is one.
    """

def rad2deg(input: Tensor, *, out: Any = None) -> Tensor:
    """Radians in degrees."""

def rand(
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    generator: Any = None,
    out: Any = None,
) -> Tensor:
    """Uniform in [0, 1), both parts of a complex number. Philox4x32-10 keyed by seed, call
    and element: the same stream in every mode and for any thread count (Salmon et al.
    2011).
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
    generator: Any = None,
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

@overload
def randint_like(
    input: Tensor,
    high: builtins.int,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Whole numbers from low to high - 1, of the shape of input."""

@overload
def randint_like(
    input: Tensor,
    low: builtins.int,
    high: builtins.int,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Whole numbers from low to high - 1, of the shape of input."""

def randn(
    *size: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    generator: Any = None,
    out: Any = None,
) -> Tensor:
    """Normal with mean 0 and variance 1, of a complex number 1/2 in each part (Box and
    Muller 1958).
    """

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

def randperm(
    n: builtins.int,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    generator: Any = None,
    out: Any = None,
) -> Tensor:
    """0 to n - 1 in random order; int64 unless a dtype is given."""

def range(
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
    """start, start + step, ... up to end, which counts; of the default dtype unless one is
    given, for integers too. PyTorch's older form of arange.
    """

def ravel(input: Tensor, *, out: Any = None) -> Tensor:
    """The elements in row-major order, as one axis; a copy only where it must be."""

def real(input: Tensor, *, out: Any = None) -> Tensor:
    """The real parts, a view of them; a real input as it is."""

def reciprocal(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / x."""

def relu(input: Tensor, *, out: Any = None) -> Tensor:
    """max(x, 0); NaN stays NaN; the derivative at 0 is 0."""

def remainder(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x modulo y, with the sign of y, a zero's too, as Python's %."""

def renorm(
    input: Tensor, p: Number, dim: builtins.int, maxnorm: Number, *, out: Any = None
) -> Tensor:
    """input with the slices along dim whose p-norm is above maxnorm scaled down to it."""

@overload
def repeat_interleave(
    input: Tensor,
    repeats: builtins.int,
    dim: builtins.int | None = None,
    *,
    output_size: builtins.int | None = None,
    out: Any = None,
) -> Tensor:
    """Each element so many times one after the other along dim."""

@overload
def repeat_interleave(
    input: Tensor,
    repeats: Tensor,
    dim: builtins.int | None = None,
    *,
    output_size: builtins.int | None = None,
    out: Any = None,
) -> Tensor:
    """Each element as many times as repeats says for it."""

@overload
def repeat_interleave(
    repeats: Tensor, *, output_size: builtins.int | None = None, out: Any = None
) -> Tensor:
    """The number of each element, as many times as repeats says for it."""

def reshape(input: Tensor, *shape: Ints, out: Any = None) -> Tensor:
    """The same elements under another shape: a view where possible, else a copy."""

def resolve_conj(input: Tensor, *, out: Any = None) -> Tensor:
    """input itself, or a copy to write to of a conjugate: no tensor here keeps a
    conjugation or a sign for later.
    """

def resolve_neg(input: Tensor, *, out: Any = None) -> Tensor:
    """input itself, or a copy to write to of a conjugate: no tensor here keeps a
    conjugation or a sign for later.
    """

def rms_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    eps: builtins.float | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """x / sqrt(mean(x^2) + eps) over the last axes, then weight (Zhang and Sennrich 2019).
    eps: that of the dtype computed in unless given.
    """

def roll(input: Tensor, shifts: Ints, dims: Ints = [], *, out: Any = None) -> Tensor:
    """A copy shifted along dims; what leaves at the end comes in at the start."""

def rot90(input: Tensor, k: builtins.int = 1, *dims: Ints, out: Any = None) -> Tensor:
    """A copy turned by k quarter turns from the first of two axes to the second."""

@overload
def round(input: Tensor, *, out: Any = None) -> Tensor:
    """Nearest integer, ties to even."""

@overload
def round(input: Tensor, *, decimals: builtins.int, out: Any = None) -> Tensor:
    """Rounded to so many decimals, which may be negative; ties to even."""

def row_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors one below the other: along axis 0, vectors as rows."""

def rrelu(
    input: Tensor,
    lower: builtins.float = 0.125,
    upper: builtins.float = 0.3333333333333333,
    training: builtins.bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """x above 0, else x times a slope: in training drawn from [lower, upper] for each
    element, else their mean (Xu et al. 2015).
    """

def rsqrt(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / sqrt(x), the square root rounded first."""

@overload
def rsub(input: Tensor, other: Tensor, *, alpha: Number = 1, out: Any = None) -> Tensor:
    """other - alpha * input."""

@overload
def rsub(input: Tensor, other: Number, alpha: Number = 1, *, out: Any = None) -> Tensor:
    """other - alpha * input."""

@overload
def rsub(
    input: Tensor, other: Tensor | Number, *, alpha: Tensor | Number, out: Any = None
) -> Tensor:
    """other - alpha * input."""

def scalar_tensor(
    s: Number,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """A tensor without axes that holds the number, in the default dtype."""

@overload
def scatter(
    input: Tensor, dim: builtins.int, index: Tensor, src: Tensor | Number, *, out: Any = None
) -> Tensor:
    """x with src written at index along dim; of several writes to one place the last in
    row-major order stays. src may be a number.
    """

@overload
def scatter(
    input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, *, reduce: str, out: Any = None
) -> Tensor:
    """input with src added, or multiplied, into the elements at index along dim."""

@overload
def scatter(
    input: Tensor, dim: builtins.int, index: Tensor, value: Number, *, reduce: str, out: Any = None
) -> Tensor:
    """input with value added, or multiplied, into the elements at index along dim."""

@overload
def scatter(
    input: Tensor, dim: builtins.int, index: Tensor, value: Number, *, out: Any = None
) -> Tensor:
    """input with value written at index along dim."""

def scatter_add(
    input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, *, out: Any = None
) -> Tensor:
    """x with src added at index along dim, in row-major order."""

def scatter_reduce(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: builtins.bool = True,
    out: Any = None,
) -> Tensor:
    """input with src combined into the elements at index along dim by 'sum', 'prod',
    'mean', 'amax' or 'amin'; without the elements that were there, if not include_self.
    """

@overload
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Where each value would go into an ascending sequence (of its row, or the only one):
    before equal elements, or behind them if right or side='right'. sorter: what sorts the
    sequence.
    """

@overload
def searchsorted(
    sorted_sequence: Tensor,
    self: Number,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Where each value would go into an ascending sequence (of its row, or the only one):
    before equal elements, or behind them if right or side='right'. sorter: what sorts the
    sequence.
    """

def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: builtins.int = 0,
    unsafe: builtins.bool = False,
    initial: Number | None = None,
    out: Any = None,
) -> Tensor:
    """Neighbours along axis, cut into segments of the lengths given, reduced by 'sum',
    'mean', 'max', 'min' or 'prod' from initial; of no elements those are 0, NaN, -inf, inf
    and 1. Elements behind the last segment are an IndexError, or left out if unsafe.
    """

def select(input: Tensor, dim: builtins.int, index: builtins.int, *, out: Any = None) -> Tensor:
    """x[index] along dim; a view without that axis."""

def select_copy(
    input: Tensor, dim: builtins.int, index: builtins.int, *, out: Any = None
) -> Tensor:
    """A copy of what the view shows."""

def select_scatter(
    input: Tensor, src: Tensor, dim: builtins.int, index: builtins.int, *, out: Any = None
) -> Tensor:
    """A copy of input with src at index along dim."""

def selu(input: Tensor, *, out: Any = None) -> Tensor:
    """elu with the alpha and the scale that keep mean 0 and variance 1 (Klambauer et al.
    2017).
    """

def sgn(input: Tensor, *, out: Any = None) -> Tensor:
    """sign(input); of a complex number z, z / |z|, and 0 at 0."""

def sigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-x))."""

def sign(input: Tensor, *, out: Any = None) -> Tensor:
    """-1, 0 or 1; of -0 and of a NaN 0."""

def signbit(input: Tensor, *, out: Any = None) -> Tensor:
    """True where the sign is minus, of -0 too."""

def sin(input: Tensor, *, out: Any = None) -> Tensor:
    """Sine of x in radians."""

def sinc(input: Tensor, *, out: Any = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def sinh(input: Tensor, *, out: Any = None) -> Tensor:
    """Hyperbolic sine."""

def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: builtins.int = 0,
    start: builtins.int | None = None,
    end: builtins.int | None = None,
    step: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of input with src at start:end:step along dim."""

def slogdet(input: Tensor, *, out: Any = None) -> _slogdet:
    """The sign of the determinant (of a complex one, a number of modulus 1), and the
    logarithm of its modulus.
    """

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

@overload
def split_copy(
    tensor: Tensor, split_size_or_sections: builtins.int, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """A copy of what the view shows."""

@overload
def split_copy(
    tensor: Tensor, split_size_or_sections: Ints, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """A copy of what the view shows."""

def split_with_sizes(
    input: Tensor, split_sizes: Ints, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """Pieces of these sizes along dim, which they cover; views."""

def split_with_sizes_copy(
    input: Tensor, split_sizes: Ints, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """A copy of what the view shows."""

def sqrt(input: Tensor, *, out: Any = None) -> Tensor:
    """Square root; NaN below 0, and of a complex number the root on the right."""

def square(input: Tensor, *, out: Any = None) -> Tensor:
    """x * x."""

def squeeze(input: Tensor, *dim: Ints) -> Tensor:
    """Without the axes of size 1 that dim names; without all of them if it is None."""

def squeeze_copy(input: Tensor, *dim: Ints, out: Any = None) -> Tensor:
    """A copy of what the view shows."""

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
def std_mean(input: Tensor, unbiased: builtins.bool, *, out: Any = None) -> tuple[Tensor, ...]:
    """(std, mean) over the axes of dim."""

@overload
def std_mean(
    input: Tensor,
    *dim: Ints,
    correction: Number | None = 1,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """(std, mean) over the axes of dim."""

@overload
def std_mean(
    input: Tensor,
    *dim: Ints,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """(std, mean) over the axes of dim."""

def stft(
    input: Tensor,
    n_fft: builtins.int,
    hop_length: builtins.int | None = None,
    win_length: builtins.int | None = None,
    window: Tensor | None = None,
    center: builtins.bool = True,
    pad_mode: str = "reflect",
    normalized: builtins.bool = False,
    onesided: builtins.bool | None = None,
    return_complex: builtins.bool | None = None,
    align_to_window: builtins.bool | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The transforms of stretches of n_fft elements, hop_length (n_fft / 4) apart, under a
    window: [..., frequencies, time].
    """

@overload
def sub(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x - y, element by element."""

@overload
def sub(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number, out: Any = None
) -> Tensor:
    """input - alpha * other."""

@overload
def sub(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Tensor | Number, out: Any = None
) -> Tensor:
    """input - alpha * other."""

@overload
def subtract(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x - y, element by element."""

@overload
def subtract(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number, out: Any = None
) -> Tensor:
    """input - alpha * other."""

@overload
def subtract(input: Tensor, other: Number, alpha: Number, *, out: Any = None) -> Tensor:
    """input - alpha * other."""

@overload
def subtract(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Tensor | Number, out: Any = None
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

def svd(
    input: Tensor, some: builtins.bool = True, compute_uv: builtins.bool = True, *, out: Any = None
) -> _svd:
    """U, S and V of input = U diag(S) V^H; all columns of U and V if not some; U and V are
    0 if not compute_uv.
    """

def svd_lowrank(
    A: Tensor,
    q: builtins.int | None = 6,
    niter: builtins.int = 2,
    M: Tensor | None = None,
    *,
    out: Any = None,
) -> _svd_lowrank:
    """The q largest singular values of A (of A - M) and their vectors, by a random
    projection and niter rounds (Halko, Martinsson and Tropp 2011).
    """

def swapaxes(input: Tensor, axis0: builtins.int, axis1: builtins.int, *, out: Any = None) -> Tensor:
    """Two axes exchanged; a view."""

def swapdims(input: Tensor, dim0: builtins.int, dim1: builtins.int, *, out: Any = None) -> Tensor:
    """Two axes exchanged; a view."""

def t(input: Tensor, *, out: Any = None) -> Tensor:
    """The transpose of a matrix, a vector as it is; a view."""

def t_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of what the view shows."""

def take(input: Tensor, index: Tensor, *, out: Any = None) -> Tensor:
    """The elements at positions of the flattened input; negative ones count from the end."""

def take_along_dim(
    input: Tensor, indices: Tensor, dim: builtins.int | None = None, *, out: Any = None
) -> Tensor:
    """gather() with input and indices broadcast on the other axes; of the flattened input
    if dim is None.
    """

def tan(input: Tensor, *, out: Any = None) -> Tensor:
    """Tangent of x in radians."""

def tanh(input: Tensor, *, out: Any = None) -> Tensor:
    """Hyperbolic tangent."""

@overload
def tensor_split(
    input: Tensor, sections: builtins.int, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """So many pieces whose sizes differ by at most one, or those between places along dim;
    views.
    """

@overload
def tensor_split(
    input: Tensor, indices: Ints, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """So many pieces whose sizes differ by at most one, or those between places along dim;
    views.
    """

@overload
def tensor_split(
    input: Tensor, tensor_indices_or_sections: Tensor, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """So many pieces whose sizes differ by at most one, or those between places along dim;
    views.
    """

def threshold(input: Tensor, threshold: Number, value: Number, *, out: Any = None) -> Tensor:
    """x above threshold, else value."""

def tile(input: Tensor, *dims: Ints, out: Any = None) -> Tensor:
    """input laid side by side, dims[i] times along the i-th axis from the last."""

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

@overload
def transpose(input: Tensor, dim0: builtins.int, dim1: builtins.int, *, out: Any = None) -> Tensor:
    """Two axes exchanged; a view."""

@overload
def transpose(input: Tensor, *axes: Ints, out: Any = None) -> Tensor:
    """Axes in another order, as NumPy calls it; a view."""

def transpose_copy(
    input: Tensor, dim0: builtins.int, dim1: builtins.int, *, out: Any = None
) -> Tensor:
    """A copy of what the view shows."""

@overload
def trapezoid(y: Tensor, x: Tensor, *, dim: builtins.int = -1, out: Any = None) -> Tensor:
    """The area under the straight lines from point to point along dim; points are dx apart,
    or at x.
    """

@overload
def trapezoid(y: Tensor, *, dx: Number = 1, dim: builtins.int = -1, out: Any = None) -> Tensor:
    """The area under the straight lines from point to point along dim; points are dx apart,
    or at x.
    """

@overload
def trapz(y: Tensor, x: Tensor, *, dim: builtins.int = -1, out: Any = None) -> Tensor:
    """The area under the straight lines from point to point along dim; points are dx apart,
    or at x.
    """

@overload
def trapz(y: Tensor, *, dx: Number = 1, dim: builtins.int = -1, out: Any = None) -> Tensor:
    """The area under the straight lines from point to point along dim; points are dx apart,
    or at x.
    """

def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: builtins.bool = True,
    transpose: builtins.bool = False,
    unitriangular: builtins.bool = False,
    *,
    out: Any = None,
) -> _triangular_solve:
    """X of A X = input (A.mT X = input if transpose) with a triangular A, and A."""

def tril(input: Tensor, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The lower triangle of the last two axes; zeros above the diagonal."""

def tril_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = 0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Rows and columns of a lower triangle's elements, row by row."""

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: builtins.float = 1.0,
    p: builtins.float = 2.0,
    eps: builtins.float = 1e-06,
    swap: builtins.bool = False,
    reduction: builtins.int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the pairwise_distance;
    swap: the negative is as far as it is from the nearer of the two (Balntas et al. 2016).
    """

def triu(input: Tensor, diagonal: builtins.int = 0, *, out: Any = None) -> Tensor:
    """The upper triangle of the last two axes; zeros below the diagonal."""

def triu_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = 0,
    *,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
    layout: Any = None,
    pin_memory: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Rows and columns of an upper triangle's elements, row by row."""

def true_divide(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """x / y; integers are divided as floats."""

def trunc(input: Tensor, *, out: Any = None) -> Tensor:
    """x without its fraction."""

def unbind(input: Tensor, dim: builtins.int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """The slices along dim, without that axis; views."""

def unbind_copy(input: Tensor, dim: builtins.int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """A copy of what the view shows."""

def unflatten(input: Tensor, dim: builtins.int, *sizes: Ints, out: Any = None) -> Tensor:
    """One axis split into several, whose sizes multiply to its; a view."""

def unfold_copy(
    input: Tensor,
    dimension: builtins.int,
    size: builtins.int,
    step: builtins.int,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of what the view shows."""

def unique(
    input: Tensor,
    sorted: builtins.bool = True,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
    *,
    out: Any = None,
) -> Any:
    """The elements (the slices along dim) of input without repetitions, always in ascending
    order; if asked, which of them each one is, and how often each occurs.
    """

def unique_consecutive(
    input: Tensor,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
    *,
    out: Any = None,
) -> Any:
    """The first of each run of equal elements (slices along dim); if asked, which run each
    belongs to, and how long each is.
    """

def unravel_index(indices: Tensor, *shape: Ints, out: Any = None) -> tuple[Tensor, ...]:
    """Where elements of a tensor of that shape lie that have these places when it is
    flattened: an index tensor (int64) for each axis.
    """

def unsafe_chunk(
    input: Tensor, chunks: builtins.int, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """As chunk."""

def unsafe_split(
    input: Tensor, split_size: builtins.int, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """As split."""

def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Ints, dim: builtins.int = 0, *, out: Any = None
) -> tuple[Tensor, ...]:
    """Pieces of these sizes along dim, which they cover; views."""

def unsqueeze(input: Tensor, dim: builtins.int) -> Tensor:
    """With a new axis of size 1 at dim."""

def unsqueeze_copy(input: Tensor, dim: builtins.int, *, out: Any = None) -> Tensor:
    """A copy of what the view shows."""

def vander(
    x: Tensor, N: builtins.int | None = None, increasing: builtins.bool = False, *, out: Any = None
) -> Tensor:
    """Powers of each element as a row, the highest first."""

@overload
def var(input: Tensor, unbiased: builtins.bool, *, out: Any = None) -> Tensor:
    """Sum of squared distances from the mean, over (count - correction); of complex numbers
    real; free of the mean's error.
    """

@overload
def var(
    input: Tensor,
    *dim: Ints,
    correction: Number | None = 1,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Sum of squared distances from the mean, over (count - correction); of complex numbers
    real; free of the mean's error.
    """

@overload
def var(
    input: Tensor,
    *dim: Ints,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> Tensor:
    """Sum of squared distances from the mean, over (count - correction); of complex numbers
    real; free of the mean's error.
    """

@overload
def var_mean(input: Tensor, unbiased: builtins.bool, *, out: Any = None) -> tuple[Tensor, ...]:
    """(var, mean) over the axes of dim."""

@overload
def var_mean(
    input: Tensor,
    *dim: Ints,
    correction: Number | None = 1,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """(var, mean) over the axes of dim."""

@overload
def var_mean(
    input: Tensor,
    *dim: Ints,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """(var, mean) over the axes of dim."""

def vdot(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """As dot, of the complex conjugate of the first."""

def view_as_complex(input: Tensor) -> Tensor:
    """A last axis of two as real and imaginary parts; a view."""

def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary parts as a new last axis; a view."""

def view_copy(input: Tensor, *size: Ints, out: Any = None) -> Tensor:
    """A copy of what the view shows."""

@overload
def vsplit(input: Tensor, sections: builtins.int, *, out: Any = None) -> tuple[Tensor, ...]:
    """Pieces along axis 0; views."""

@overload
def vsplit(input: Tensor, *indices: Ints, out: Any = None) -> tuple[Tensor, ...]:
    """Pieces along axis 0; views."""

def vstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors one below the other: along axis 0, vectors as rows."""

@overload
def where(
    condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Any = None
) -> Tensor:
    """input where the condition holds, else other."""

@overload
def where(condition: Tensor, *, out: Any = None) -> tuple[Tensor, ...]:
    """Where condition is not 0: an index tensor for each axis."""

def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """input * log(other); 0 where input is 0."""

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
