"""The names of `lathe`. Printed by python/stubs/print_stubs.py; do not edit."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from . import autograd as autograd
from . import nn as nn
from . import optim as optim
from . import utils as utils
from ._files import load as load
from ._files import save as save

Number: TypeAlias = builtins.float | builtins.int | builtins.bool | builtins.complex
Ints: TypeAlias = builtins.int | Sequence[builtins.int]
DTypeLike: TypeAlias = dtype | str | type | None
DeviceLike: TypeAlias = device | str | None

__version__: str

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

class _max_dim(tuple[Tensor, ...]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class _min_dim(tuple[Tensor, ...]):
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
    def __bool__(self) -> builtins.bool: ...
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
    def acos(self) -> Tensor:
        """Arc cosine, in radians."""
    def acos_(self) -> Tensor: ...
    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""
    def acosh_(self) -> Tensor: ...
    def add(self, y: Tensor | Number) -> Tensor:
        """x + y, element by element."""
    def add_(self, y: Tensor | Number) -> Tensor: ...
    def all(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """True if no element is zero."""
    def allclose(
        self, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
    ) -> builtins.bool:
        """Whether all elements are close; a Python bool."""
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
    def argsort(self, dim: builtins.int = -1, descending: builtins.bool = False) -> Tensor:
        """The indices of sort."""
    def asin(self) -> Tensor:
        """Arc sine, in radians."""
    def asin_(self) -> Tensor: ...
    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine."""
    def asinh_(self) -> Tensor: ...
    def atan(self) -> Tensor:
        """Arc tangent, in radians."""
    def atan2(self, x: Tensor | Number) -> Tensor:
        """Angle of the point (x, y), in radians, in [-pi, pi]."""
    def atan2_(self, x: Tensor | Number) -> Tensor: ...
    def atan_(self) -> Tensor: ...
    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""
    def atanh_(self) -> Tensor: ...
    def avg_pool2d(self, kernel: Ints, stride: Ints | None = None, pad: Ints = 0) -> Tensor:
        """Mean of each window of x[..., h, w]; padding counts as 0."""
    def backward(
        self, gradient: Any = None, retain_graph: Any = None, create_graph: Any = False
    ) -> None:
        """Adds the gradients of this tensor to the .grad of every leaf it depends on."""
    def batch_norm(
        self,
        w: Tensor | Number | None,
        b: Tensor | Number | None,
        mean: Tensor | Number | None,
        var: Tensor | Number | None,
        training: builtins.bool = False,
        momentum: builtins.float = 0.1,
        eps: builtins.float = 1e-05,
    ) -> Tensor:
        """Normalisation a channel over batch and space (Ioffe and Szegedy 2015); in training
        the running mean and (unbiased) variance move by momentum.
        """
    def bfloat16(self) -> Tensor:
        """Converted to lathe.bfloat16."""
    def bitwise_and(self, y: Tensor | Number) -> Tensor:
        """Bits set in both; on bool, and."""
    def bitwise_and_(self, y: Tensor | Number) -> Tensor: ...
    def bitwise_not(self) -> Tensor:
        """Every bit turned; on bool, not."""
    def bitwise_not_(self) -> Tensor: ...
    def bitwise_or(self, y: Tensor | Number) -> Tensor:
        """Bits set in either; on bool, or."""
    def bitwise_or_(self, y: Tensor | Number) -> Tensor: ...
    def bitwise_xor(self, y: Tensor | Number) -> Tensor:
        """Bits set in just one; on bool, xor."""
    def bitwise_xor_(self, y: Tensor | Number) -> Tensor: ...
    def bmm(self, b: Any) -> Tensor:
        """Matrix products of a batch: a[n, i, k] @ b[n, k, j]."""
    def bool(self) -> Tensor:
        """Converted to lathe.bool."""
    def byte(self) -> Tensor:
        """Converted to lathe.uint8."""
    def cast(self, dtype: DTypeLike) -> Tensor:
        """x converted to another dtype. Floats go to integers by truncation, saturating; NaN
        gives 0.
        """
    def ceil(self) -> Tensor:
        """Smallest integer not below x."""
    def ceil_(self) -> Tensor: ...
    def cfloat(self) -> Tensor:
        """Converted to lathe.complex64."""
    def char(self) -> Tensor:
        """Converted to lathe.int8."""
    def chunk(self, chunks: Any, dim: Any = 0) -> tuple[Tensor, ...]:
        """At most `chunks` pieces of equal size along dim (the last may be shorter); views."""
    def clamp(
        self, min: Tensor | Number | None = None, max: Tensor | Number | None = None
    ) -> Tensor:
        """x limited to [min, max]."""
    def clamp_(self, min: Any = None, max: Any = None) -> Tensor:
        """Limited to [min, max], in place."""
    def clamp_max(self, max: Tensor | Number) -> Tensor:
        """x, or max where x is larger."""
    def clamp_max_(self, max: Tensor | Number) -> Tensor: ...
    def clamp_min(self, min: Tensor | Number) -> Tensor:
        """x, or min where x is smaller."""
    def clamp_min_(self, min: Tensor | Number) -> Tensor: ...
    def clone(self) -> Tensor:
        """A copy of x."""
    def clone_(self) -> Tensor: ...
    def complex(self, im: Tensor | Number) -> Tensor:
        """re + i im."""
    def conj(self) -> Tensor:
        """Complex conjugate; a real x as it is."""
    def conj_(self) -> Tensor: ...
    def contiguous(self) -> Tensor:
        """x itself if its elements lie in row-major order, else a copy that does."""
    def conv2d(
        self,
        w: Tensor | Number,
        stride: Ints = 1,
        pad: Ints = 0,
        dilation: Ints = 1,
        groups: builtins.int = 1,
    ) -> Tensor:
        """Cross-correlation of x[n, c, h, w] with w[o, c / groups, kh, kw]."""
    def conv2d_input(
        self,
        dy: Tensor | Number,
        shape: Ints,
        stride: Ints = 1,
        pad: Ints = 0,
        dilation: Ints = 1,
        groups: builtins.int = 1,
    ) -> Tensor:
        """Gradient of conv2d by its input of that shape; also a transposed convolution."""
    def conv2d_weight(
        self,
        dy: Tensor | Number,
        shape: Ints,
        stride: Ints = 1,
        pad: Ints = 0,
        dilation: Ints = 1,
        groups: builtins.int = 1,
    ) -> Tensor:
        """Gradient of conv2d by its weight of that shape."""
    def copy_(self, source: Any) -> Tensor:
        """source's elements, broadcast and cast, in place."""
    def cos(self) -> Tensor:
        """Cosine of x in radians."""
    def cos_(self) -> Tensor: ...
    def cosh(self) -> Tensor:
        """Hyperbolic cosine."""
    def cosh_(self) -> Tensor: ...
    def cpu(self) -> Tensor: ...
    def cross_entropy(
        self,
        target: Tensor | Number,
        weight: Tensor | Number | None = None,
        ignore_index: builtins.int = -100,
        reduction: str = "mean",
        label_smoothing: builtins.float = 0.0,
    ) -> Tensor:
        """nll_loss of log_softmax(x), with label smoothing."""
    def cumprod(self, dim: builtins.int) -> Tensor:
        """Running product along dim, from the left."""
    def cumprod_(self, dim: builtins.int) -> Tensor: ...
    def cumsum(self, dim: builtins.int) -> Tensor:
        """Running sum along dim, from the left."""
    def cumsum_(self, dim: builtins.int) -> Tensor: ...
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
    def div(self, y: Tensor | Number) -> Tensor:
        """x / y; integers are divided as floats."""
    def div_(self, y: Tensor | Number) -> Tensor: ...
    def double(self) -> Tensor:
        """Converted to lathe.float64."""
    def dropout(self, p: builtins.float = 0.5, training: builtins.bool = True) -> Tensor:
        """In training, zeros with probability p and the rest scaled by 1 / (1 - p)."""
    @property
    def dtype(self) -> dtype: ...
    def element_size(self) -> builtins.int:
        """Bytes of one element."""
    def embedding(self, index: Tensor | Number) -> Tensor:
        """Rows of weight by index."""
    def eq(self, y: Tensor | Number) -> Tensor:
        """x == y."""
    def eq_(self, y: Tensor | Number) -> Tensor: ...
    def equal(self, y: Any) -> builtins.bool:
        """Whether x and y have one shape and equal elements; a Python bool."""
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
    def expand(self, *shape: Ints) -> Tensor:
        """Axes of size 1 repeated without a copy; new axes may be added in front; -1 keeps a
        size.
        """
    def expand_as(self, other: Any) -> Tensor: ...
    def expm1(self) -> Tensor:
        """exp(x) - 1, accurate near 0."""
    def expm1_(self) -> Tensor: ...
    def fill_(self, value: Any) -> Tensor:
        """value everywhere, in place."""
    def flatten(self, start: builtins.int = 0, end: builtins.int = -1) -> Tensor:
        """Axes start..end joined into one."""
    def float(self) -> Tensor:
        """Converted to lathe.float32."""
    def floor(self) -> Tensor:
        """Largest integer not above x."""
    def floor_(self) -> Tensor: ...
    def floor_divide(self, y: Tensor | Number) -> Tensor:
        """The largest integer not above x / y, as Python's //. An integer division by zero is a
        ValueError.
        """
    def floor_divide_(self, y: Tensor | Number) -> Tensor: ...
    def fma(self, y: Tensor | Number, z: Tensor | Number) -> Tensor:
        """x * y + z with one rounding."""
    def fma_(self, y: Tensor | Number, z: Tensor | Number) -> Tensor: ...
    def fmax(self, y: Any) -> Tensor:
        """The larger of x and y; where one is no number, the other."""
    def fmin(self, y: Any) -> Tensor:
        """The smaller of x and y; where one is no number, the other."""
    def fmod(self, y: Tensor | Number) -> Tensor:
        """x modulo y, with the sign of x, as C's fmod; exact."""
    def fmod_(self, y: Tensor | Number) -> Tensor: ...
    def full_like(self, value: Number, dtype: DTypeLike = None) -> Tensor:
        """value in x's shape and dtype."""
    def gather(self, dim: builtins.int, index: Tensor | Number) -> Tensor:
        """out[i][j] = x[index[i][j]][j] for dim 0, and so on. Negative indexes are refused."""
    def ge(self, y: Tensor | Number) -> Tensor:
        """x >= y."""
    def ge_(self, y: Tensor | Number) -> Tensor: ...
    def gelu(self, approximate: str = "none") -> Tensor:
        """Gaussian error linear unit, exact by erf or by the tanh approximation."""
    def gelu_erf(self) -> Tensor:
        """0.5 x (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016)."""
    def gelu_erf_(self) -> Tensor: ...
    def gelu_tanh(self) -> Tensor:
        """The tanh approximation of gelu (Hendrycks and Gimpel 2016)."""
    def gelu_tanh_(self) -> Tensor: ...
    @property
    def grad(self) -> Tensor | None: ...
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @property
    def grad_fn(self) -> Any: ...
    def gt(self, y: Tensor | Number) -> Tensor:
        """x > y."""
    def gt_(self, y: Tensor | Number) -> Tensor: ...
    def half(self) -> Tensor:
        """Converted to lathe.float16."""
    @property
    def imag(self) -> Tensor: ...
    def imag_(self) -> Tensor: ...
    def index_add(self, dim: builtins.int, index: Tensor | Number, src: Tensor | Number) -> Tensor:
        """x with the slices of src added to those that index names along dim, in order."""
    def index_add_(
        self, dim: builtins.int, index: Tensor | Number, src: Tensor | Number
    ) -> Tensor: ...
    def index_select(self, dim: builtins.int, index: Tensor | Number) -> Tensor:
        """Whole slices of x along dim, in the order of index; index may have any rank."""
    def int(self) -> Tensor:
        """Converted to lathe.int32."""
    def is_complex(self) -> builtins.bool: ...
    def is_contiguous(self) -> builtins.bool:
        """Whether elements lie in row-major order."""
    def is_floating_point(self) -> builtins.bool: ...
    @property
    def is_leaf(self) -> builtins.bool: ...
    def isclose(
        self, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
    ) -> Tensor:
        """|x - y| <= atol + rtol * |y|, element by element; equal infinities are close."""
    def isfinite(self) -> Tensor:
        """True where x is neither infinite nor NaN."""
    def isfinite_(self) -> Tensor: ...
    def isinf(self) -> Tensor: ...
    def isnan(self) -> Tensor:
        """True where x is not a number."""
    def isnan_(self) -> Tensor: ...
    def item(self) -> Any:
        """The only element, as a Python number. ValueError if there is not one."""
    @property
    def itemsize(self) -> builtins.int: ...
    def layer_norm(
        self,
        shape: Ints,
        w: Tensor | Number | None = None,
        b: Tensor | Number | None = None,
        eps: builtins.float = 1e-05,
    ) -> Tensor:
        """(x - mean) / sqrt(var + eps) over the last axes, then w and b (Ba et al. 2016)."""
    def le(self, y: Tensor | Number) -> Tensor:
        """x <= y."""
    def le_(self, y: Tensor | Number) -> Tensor: ...
    def leaky_relu(self, slope: builtins.float = 0.01) -> Tensor:
        """x where positive, else slope * x."""
    def leaky_relu_(self, slope: builtins.float = 0.01) -> Tensor: ...
    def lerp(self, y: Tensor | Number, weight: Tensor | Number) -> Tensor:
        """x + weight * (y - x): from x to y as weight goes from 0 to 1."""
    def lerp_(self, y: Tensor | Number, weight: Tensor | Number) -> Tensor: ...
    def lgamma(self) -> Tensor:
        """log |gamma(x)|."""
    def lgamma_(self) -> Tensor: ...
    def linear(self, w: Tensor | Number, b: Tensor | Number | None = None) -> Tensor:
        """x @ w.T + b, with w[out, in]."""
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
    def log_softmax(self, dim: builtins.int) -> Tensor:
        """log(softmax(x)) along dim, without overflow."""
    def logical_and(self, y: Tensor | Number) -> Tensor:
        """True where both are nonzero."""
    def logical_and_(self, y: Tensor | Number) -> Tensor: ...
    def logical_not(self) -> Tensor:
        """True where x is zero."""
    def logical_not_(self) -> Tensor: ...
    def logical_or(self, y: Tensor | Number) -> Tensor:
        """True where either is nonzero."""
    def logical_or_(self, y: Tensor | Number) -> Tensor: ...
    def logsumexp(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """log(sum(exp(x))), without overflow: the largest element is taken out first."""
    def long(self) -> Tensor:
        """Converted to lathe.int64."""
    def lt(self, y: Tensor | Number) -> Tensor:
        """x < y."""
    def lt_(self, y: Tensor | Number) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    def masked_fill(self, mask: Any, value: Any) -> Tensor:
        """x with value where mask (bool) is true, in x's dtype. DTypeError for a mask of
        another dtype, and for a value of a kind that x's dtype does not hold (1.5 among
        integers; in bool all numbers but 0 are true).
        """
    def masked_fill_(self, mask: Any, value: Any) -> Tensor:
        """value where mask (bool) is true, in place; as masked_fill otherwise."""
    def matmul(self, b: Tensor | Number) -> Tensor:
        """Matrix product; a 1-d operand is a row on the left and a column on the right."""
    def max(self, dim: Any = None, keepdim: Any = False) -> Any:
        """The largest element; along dim, (values, indices); of two tensors, element by
        element.
        """
    def max_dim(self, dim: builtins.int, keepdim: builtins.bool = False) -> _max_dim:
        """Largest element along dim, and its lowest index."""
    def max_pool2d(self, kernel: Ints, stride: Ints | None = None, pad: Ints = 0) -> Tensor:
        """Largest element of each window of x[..., h, w]."""
    def maximum(self, y: Tensor | Number) -> Tensor:
        """The larger of x and y; NaN if either is NaN."""
    def maximum_(self, y: Tensor | Number) -> Tensor: ...
    def mean(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Arithmetic mean over the axes of dim; NaN of no elements."""
    def min(self, dim: Any = None, keepdim: Any = False) -> Any:
        """The smallest element; along dim, (values, indices); of two tensors, element by
        element.
        """
    def min_dim(self, dim: builtins.int, keepdim: builtins.bool = False) -> _min_dim:
        """Smallest element along dim, and its lowest index."""
    def minimum(self, y: Tensor | Number) -> Tensor:
        """The smaller of x and y; NaN if either is NaN."""
    def minimum_(self, y: Tensor | Number) -> Tensor: ...
    def mm(self, b: Tensor | Number) -> Tensor:
        """Matrix product over the last two axes; leading axes broadcast."""
    def mse_loss(self, target: Tensor | Number, reduction: str = "mean") -> Tensor:
        """Squared difference, averaged, summed or as it is."""
    def mul(self, y: Tensor | Number) -> Tensor:
        """x * y, element by element."""
    def mul_(self, y: Tensor | Number) -> Tensor: ...
    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """length elements from start along dim, which may count from the end; a view."""
    @property
    def nbytes(self) -> builtins.int: ...
    @property
    def ndim(self) -> builtins.int: ...
    def ndimension(self) -> builtins.int:
        """Number of axes."""
    def ne(self, y: Tensor | Number) -> Tensor:
        """x != y; true where either is NaN."""
    def ne_(self, y: Tensor | Number) -> Tensor: ...
    def neg(self) -> Tensor:
        """-x."""
    def neg_(self) -> Tensor: ...
    def new(self, *shape: Any) -> Tensor:
        """A tensor of this one's dtype and device: of zeros if sizes are given, else of the
        data.
        """
    def new_full(self, shape: Any, value: Any, dtype: Any = None) -> Tensor: ...
    def new_ones(self, *shape: Any, dtype: Any = None) -> Tensor: ...
    def new_tensor(self, data: Any, *, dtype: Any = None, requires_grad: Any = False) -> Tensor:
        """data as a tensor of this one's dtype and device."""
    def new_zeros(self, *shape: Any, dtype: Any = None) -> Tensor: ...
    def nll_loss(
        self,
        target: Tensor | Number,
        weight: Tensor | Number | None = None,
        ignore_index: builtins.int = -100,
        reduction: str = "mean",
    ) -> Tensor:
        """-x at the target class; x holds log probabilities [n, classes, ...]."""
    def norm(self, p: Any = 2, dim: Any = None, keepdim: Any = False) -> Tensor:
        """(sum |x|^p)^(1/p) over dim, or over everything; integers as floats. p: a number,
        inf, -inf, 0 (how many elements are not 0; it has no derivative), or "fro", which is
        2. For p from 1 on, the derivative where the norm is 0 is 0.
        """
    def normal_(self, mean: Any = 0.0, std: Any = 1.0) -> Tensor:
        """Normal numbers, in place."""
    def numel(self) -> builtins.int:
        """Number of elements."""
    def numpy(self) -> Any:
        """A NumPy array over the same memory (a copy from other devices). AutogradError if
        the tensor requires grad; DTypeError for bfloat16.
        """
    def ones_like(self, dtype: DTypeLike = None) -> Tensor:
        """Ones of x's shape."""
    def pad(self, pad: Ints, value: Number = 0) -> Tensor:
        """x with a border of value; pad lists (before, after) from the last axis on."""
    def permute(self, *dims: Ints) -> Tensor:
        """Axes in another order."""
    def permute_put(self, value: Tensor | Number, *dims: Ints) -> Tensor:
        """x with value written through permute()."""
    def pmax(self, y: Tensor | Number) -> Tensor:
        """x > y ? x : y exactly; a NaN gives y."""
    def pmax_(self, y: Tensor | Number) -> Tensor: ...
    def pmin(self, y: Tensor | Number) -> Tensor:
        """x < y ? x : y exactly; a NaN gives y."""
    def pmin_(self, y: Tensor | Number) -> Tensor: ...
    def pow(self, y: Tensor | Number) -> Tensor:
        """x to the power y."""
    def pow_(self, y: Tensor | Number) -> Tensor: ...
    def prod(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
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
    def remainder(self, y: Tensor | Number) -> Tensor:
        """x modulo y, with the sign of y, as Python's %."""
    def remainder_(self, y: Tensor | Number) -> Tensor: ...
    def repeat(self, *counts: Any) -> Tensor:
        """x laid side by side, counts[i] times along axis i; more counts than axes make new
        axes in front.
        """
    @property
    def requires_grad(self) -> builtins.bool: ...
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    def requires_grad_(self, on: Any = True, /) -> Tensor:
        """Records what is done with this leaf from now on."""
    def reshape(self, *shape: Ints) -> Tensor:
        """The same elements under another shape: a view where possible, else a copy."""
    def reshape_as(self, other: Any) -> Tensor: ...
    def retain_grad(self) -> None:
        """Keeps the gradient of a computed tensor in .grad, too."""
    def round(self) -> Tensor:
        """Nearest integer, ties to even."""
    def round_(self) -> Tensor: ...
    def rsqrt(self) -> Tensor:
        """1 / sqrt(x), the square root rounded first."""
    def rsqrt_(self) -> Tensor: ...
    def scatter(self, dim: builtins.int, index: Tensor | Number, src: Tensor | Number) -> Tensor:
        """x with src written at index along dim; of several writes to one place the last in
        row-major order stays. src may be a number.
        """
    def scatter_(
        self, dim: builtins.int, index: Tensor | Number, src: Tensor | Number
    ) -> Tensor: ...
    def scatter_add(
        self, dim: builtins.int, index: Tensor | Number, src: Tensor | Number
    ) -> Tensor:
        """x with src added at index along dim, in row-major order."""
    def scatter_add_(
        self, dim: builtins.int, index: Tensor | Number, src: Tensor | Number
    ) -> Tensor: ...
    def searchsorted(self, values: Tensor | Number, right: builtins.bool = False) -> Tensor:
        """Where each value would go into an ascending 1-d sequence: before equal elements, or
        behind them if right.
        """
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
    def silu(self) -> Tensor:
        """x * sigmoid(x)."""
    def silu_(self) -> Tensor: ...
    def sin(self) -> Tensor:
        """Sine of x in radians."""
    def sin_(self) -> Tensor: ...
    def sinh(self) -> Tensor:
        """Hyperbolic sine."""
    def sinh_(self) -> Tensor: ...
    def size(self, dim: Any = None) -> Any:
        """All sizes, or the one of an axis."""
    def slice(
        self,
        dim: builtins.int,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> Tensor:
        """x[start:end:step] along dim, by Python's rules."""
    def slice_put(
        self,
        value: Tensor | Number,
        dim: builtins.int,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> Tensor:
        """x with value written through slice()."""
    def softmax(self, dim: builtins.int) -> Tensor:
        """exp(x) / sum(exp(x)) along dim, without overflow."""
    def softplus(self) -> Tensor:
        """log(1 + exp(x)), without overflow."""
    def softplus_(self) -> Tensor: ...
    def sort(self, dim: builtins.int = -1, descending: builtins.bool = False) -> _sort:
        """Sorted along dim, and where each came from. Stable; NaN counts as largest."""
    def split(self, size: Any, dim: Any = 0) -> tuple[Tensor, ...]:
        """Pieces of `size` along dim (the last may be shorter), or of the sizes in a list;
        views.
        """
    def sqrt(self) -> Tensor:
        """Square root; NaN below 0."""
    def sqrt_(self) -> Tensor: ...
    def square(self) -> Tensor:
        """x * x."""
    def square_(self) -> Tensor: ...
    def squeeze(self, *dim: Ints) -> Tensor:
        """Without the axes of size 1 (those named in dim, or all)."""
    def squeeze_put(self, value: Tensor | Number, *dim: Ints) -> Tensor:
        """x with value written through squeeze()."""
    def std(
        self, *dim: Ints, keepdim: builtins.bool = False, correction: builtins.int = 1
    ) -> Tensor:
        """Square root of var; its gradient is 0 where that is 0."""
    def storage_offset(self) -> builtins.int:
        """Where the first element is, in elements."""
    def stride(self, dim: Any = None, /) -> Any:
        """Steps between neighbours along each axis, or one, in elements."""
    def sub(self, y: Tensor | Number) -> Tensor:
        """x - y, element by element."""
    def sub_(self, y: Tensor | Number) -> Tensor: ...
    def sum(self, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
        """Sum over the axes of dim (all if empty). Order: the fixed tree of
        docs/architecture.md.
        """
    def t(self) -> Tensor:
        """The transpose of a matrix; a view."""
    def tan(self) -> Tensor:
        """Tangent of x in radians."""
    def tan_(self) -> Tensor: ...
    def tanh(self) -> Tensor:
        """Hyperbolic tangent."""
    def tanh_(self) -> Tensor: ...
    def to(
        self,
        *target: Any,
        dtype: Any = None,
        device: Any = None,
        other: Any = None,
        copy: Any = False,
    ) -> Tensor:
        """Converted to a dtype, moved to a device, or both, or like another tensor; itself
        if it is there already.
        """
    def tolist(self) -> Any:
        """The elements as nested lists."""
    def topk(self, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True) -> _topk:
        """The k largest (smallest) along dim, in order. Ties: lowest index first; NaN is
        largest.
        """
    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two axes exchanged; a view."""
    def tril(self, diagonal: Any = 0) -> Tensor:
        """The lower triangle of the last two axes; zeros above the diagonal."""
    def triu(self, diagonal: Any = 0) -> Tensor:
        """The upper triangle of the last two axes; zeros below the diagonal."""
    def trunc(self) -> Tensor:
        """x without its fraction."""
    def trunc_(self) -> Tensor: ...
    def type_as(self, other: Any) -> Tensor: ...
    def unbind(self, dim: Any = 0) -> tuple[Tensor, ...]:
        """The slices along dim, without that axis; views."""
    def unfold(self, dim: Any, size: Any, step: Any) -> Tensor:
        """Windows of `size` elements along dim, each `step` after the one before, as a new
        last axis; a view, which cannot be written through.
        """
    def uniform_(self, low: Any = 0.0, high: Any = 1.0) -> Tensor:
        """Uniform numbers in [low, high), in place."""
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """With a new axis of size 1 at dim."""
    def unsqueeze_put(self, value: Tensor | Number, dim: builtins.int) -> Tensor:
        """x with value written through unsqueeze()."""
    def var(
        self, *dim: Ints, keepdim: builtins.bool = False, correction: builtins.int = 1
    ) -> Tensor:
        """Sum of squared distances from the mean, over (count - correction). Two passes."""
    def view(self, *shape: Ints) -> Tensor:
        """The same elements under another shape, without a copy. One size may be -1."""
    def view_as(self, other: Any) -> Tensor: ...
    def view_put(self, value: Tensor | Number, *shape: Ints) -> Tensor:
        """x with value written through view()."""
    def where(self, condition: Any, other: Any) -> Tensor:
        """self where the condition holds, else other."""
    def where_(self, x: Tensor | Number, y: Tensor | Number) -> Tensor: ...
    def windows(self, kernel: Ints, stride: Ints = 1) -> Tensor:
        """Every kernel[0] x kernel[1] window of the last two axes, as two new last axes."""
    def zero_(self) -> Tensor:
        """Zeros, in place."""
    def zeros_like(self, dtype: DTypeLike = None) -> Tensor:
        """Zeros of x's shape."""

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

class OverflowError(Error, builtins.OverflowError):
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

def addmm(c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * c + alpha * (a @ b)."""

def allclose(
    x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
) -> builtins.bool:
    """Whether all elements are close; a Python bool."""

def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: Any = False,
) -> Tensor:
    """start, start + step, ... below end; arange(end) starts at 0."""

def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
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

def bmm(a: Any, b: Any) -> Tensor:
    """Matrix products of a batch: a[n, i, k] @ b[n, k, j]."""

def chunk(x: Any, chunks: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """At most `chunks` pieces of equal size along dim (the last may be shorter); views."""

def empty(*shape: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Tensor:
    """Zeros: there is no memory to be seen that nobody has written."""

def empty_like(x: Any, dtype: Any = None) -> Tensor:
    """Zeros of x's shape."""

def equal(x: Any, y: Any) -> builtins.bool:
    """Whether x and y have one shape and equal elements; a Python bool."""

def flags() -> list:
    """All flags: (name, environment variable, default, meaning)."""

def fmax(x: Any, y: Any) -> Tensor:
    """The larger of x and y; where one is no number, the other."""

def fmin(x: Any, y: Any) -> Tensor:
    """The smaller of x and y; where one is no number, the other."""

def from_dlpack(x: Any) -> Tensor:
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

def is_complex(x: Any) -> builtins.bool: ...
def is_floating_point(x: Any) -> builtins.bool: ...
def is_grad_enabled() -> builtins.bool:
    """Whether operations are recorded on this thread."""

def is_tensor(x: Any) -> builtins.bool: ...
def isclose(x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Tensor:
    """|x - y| <= atol + rtol * |y|, element by element; equal infinities are close."""

def isinf(x: Any) -> Tensor: ...
def manual_seed(seed: builtins.int) -> None:
    """Starts the random stream anew: the same seed gives the same numbers, in every mode
    and for any number of threads.
    """

def masked_fill(x: Any, mask: Any, value: Any) -> Tensor:
    """x with value where mask (bool) is true, in x's dtype. DTypeError for a mask of
    another dtype, and for a value of a kind that x's dtype does not hold (1.5 among
    integers; in bool all numbers but 0 are true).
    """

def max(x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    """The largest element; along dim, (values, indices); of two tensors, element by
    element.
    """

def min(x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    """The smallest element; along dim, (values, indices); of two tensors, element by
    element.
    """

def norm(x: Any, p: Any = 2, dim: Any = None, keepdim: Any = False) -> Tensor:
    """(sum |x|^p)^(1/p) over dim, or over everything; integers as floats. p: a number, inf,
    -inf, 0 (how many elements are not 0; it has no derivative), or "fro", which is 2. For p
    from 1 on, the derivative where the norm is 0 is 0.
    """

def numel(x: Any) -> builtins.int: ...
def rand_like(x: Any, dtype: Any = None) -> Tensor:
    """Uniform in [0, 1), of x's shape."""

def randint(
    low: Any,
    high: Any = None,
    shape: Any = None,
    *,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
) -> Tensor:
    """Uniform integers in [low, high); randint(high, shape) starts at 0."""

def randn_like(x: Any, dtype: Any = None) -> Tensor:
    """Normal with mean 0 and variance 1, of x's shape."""

def repeat(x: Any, *counts: Any) -> Tensor:
    """x laid side by side, counts[i] times along axis i; more counts than axes make new
    axes in front.
    """

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

def split(x: Any, size: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """Pieces of `size` along dim (the last may be shorter), or of the sizes in a list;
    views.
    """

def table(op: str, *arguments) -> str:
    """Which implementations can run an op, in order: the first that accepts does. With the
    op's arguments: what each says to them, and which is chosen.
    """

def tensor(
    data: Any,
    *,
    dtype: Any | None = ...,
    device: Any | None = ...,
    requires_grad: builtins.bool = ...,
) -> Tensor:
    """A copy of data: a number, nested sequences of numbers, a tensor, or whatever has the
    buffer protocol (a NumPy array keeps its dtype). Python floats take the default dtype,
    ints int64. ValueError for ragged sequences, TypeError for what is no number.
    """

def tril(x: Any, diagonal: Any = 0) -> Tensor:
    """The lower triangle of the last two axes; zeros above the diagonal."""

def triu(x: Any, diagonal: Any = 0) -> Tensor:
    """The upper triangle of the last two axes; zeros below the diagonal."""

def unbind(x: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """The slices along dim, without that axis; views."""

def unfold(x: Any, dim: Any, size: Any, step: Any) -> Tensor:
    """Windows of `size` elements along dim, each `step` after the one before, as a new last
    axis; a view, which cannot be written through.
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

def add(x: Tensor, y: Tensor | Number) -> Tensor:
    """x + y, element by element."""

def sub(x: Tensor, y: Tensor | Number) -> Tensor:
    """x - y, element by element."""

def mul(x: Tensor, y: Tensor | Number) -> Tensor:
    """x * y, element by element."""

def div(x: Tensor, y: Tensor | Number) -> Tensor:
    """x / y; integers are divided as floats."""

def fma(x: Tensor, y: Tensor | Number, z: Tensor | Number) -> Tensor:
    """x * y + z with one rounding."""

def lerp(x: Tensor, y: Tensor | Number, weight: Tensor | Number) -> Tensor:
    """x + weight * (y - x): from x to y as weight goes from 0 to 1."""

def floor_divide(x: Tensor, y: Tensor | Number) -> Tensor:
    """The largest integer not above x / y, as Python's //. An integer division by zero is a
    ValueError.
    """

def remainder(x: Tensor, y: Tensor | Number) -> Tensor:
    """x modulo y, with the sign of y, as Python's %."""

def fmod(x: Tensor, y: Tensor | Number) -> Tensor:
    """x modulo y, with the sign of x, as C's fmod; exact."""

def pow(x: Tensor, y: Tensor | Number) -> Tensor:
    """x to the power y."""

def atan2(y: Tensor, x: Tensor | Number) -> Tensor:
    """Angle of the point (x, y), in radians, in [-pi, pi]."""

def maximum(x: Tensor, y: Tensor | Number) -> Tensor:
    """The larger of x and y; NaN if either is NaN."""

def minimum(x: Tensor, y: Tensor | Number) -> Tensor:
    """The smaller of x and y; NaN if either is NaN."""

def pmin(x: Tensor, y: Tensor | Number) -> Tensor:
    """x < y ? x : y exactly; a NaN gives y."""

def pmax(x: Tensor, y: Tensor | Number) -> Tensor:
    """x > y ? x : y exactly; a NaN gives y."""

def clamp_min(x: Tensor, min: Tensor | Number) -> Tensor:
    """x, or min where x is smaller."""

def clamp_max(x: Tensor, max: Tensor | Number) -> Tensor:
    """x, or max where x is larger."""

def clamp(
    x: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None
) -> Tensor:
    """x limited to [min, max]."""

def expm1(x: Tensor) -> Tensor:
    """exp(x) - 1, accurate near 0."""

def exp2(x: Tensor) -> Tensor:
    """2 to the power x."""

def log(x: Tensor) -> Tensor:
    """Natural logarithm; NaN below 0."""

def log2(x: Tensor) -> Tensor:
    """Logarithm to base 2."""

def log10(x: Tensor) -> Tensor:
    """Logarithm to base 10."""

def log1p(x: Tensor) -> Tensor:
    """log(1 + x), accurate near 0."""

def erf(x: Tensor) -> Tensor:
    """Error function."""

def erfc(x: Tensor) -> Tensor:
    """1 - erf(x), accurate for large x."""

def sin(x: Tensor) -> Tensor:
    """Sine of x in radians."""

def cos(x: Tensor) -> Tensor:
    """Cosine of x in radians."""

def tan(x: Tensor) -> Tensor:
    """Tangent of x in radians."""

def asin(x: Tensor) -> Tensor:
    """Arc sine, in radians."""

def acos(x: Tensor) -> Tensor:
    """Arc cosine, in radians."""

def atan(x: Tensor) -> Tensor:
    """Arc tangent, in radians."""

def sinh(x: Tensor) -> Tensor:
    """Hyperbolic sine."""

def cosh(x: Tensor) -> Tensor:
    """Hyperbolic cosine."""

def asinh(x: Tensor) -> Tensor:
    """Inverse hyperbolic sine."""

def acosh(x: Tensor) -> Tensor:
    """Inverse hyperbolic cosine."""

def atanh(x: Tensor) -> Tensor:
    """Inverse hyperbolic tangent."""

def lgamma(x: Tensor) -> Tensor:
    """log |gamma(x)|."""

def digamma(x: Tensor) -> Tensor:
    """Derivative of lgamma."""

def erfinv(x: Tensor) -> Tensor:
    """Inverse of erf on (-1, 1)."""

def exp(x: Tensor) -> Tensor:
    """e to the power x."""

def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent."""

def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""

def sqrt(x: Tensor) -> Tensor:
    """Square root; NaN below 0."""

def rsqrt(x: Tensor) -> Tensor:
    """1 / sqrt(x), the square root rounded first."""

def neg(x: Tensor) -> Tensor:
    """-x."""

def abs(x: Tensor) -> Tensor:
    """Absolute value; of a complex number, its modulus."""

def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1; a NaN and a zero stay as they are."""

def square(x: Tensor) -> Tensor:
    """x * x."""

def reciprocal(x: Tensor) -> Tensor:
    """1 / x."""

def floor(x: Tensor) -> Tensor:
    """Largest integer not above x."""

def ceil(x: Tensor) -> Tensor:
    """Smallest integer not below x."""

def trunc(x: Tensor) -> Tensor:
    """x without its fraction."""

def round(x: Tensor) -> Tensor:
    """Nearest integer, ties to even."""

def clone(x: Tensor) -> Tensor:
    """A copy of x."""

def cast(x: Tensor, dtype: DTypeLike) -> Tensor:
    """x converted to another dtype. Floats go to integers by truncation, saturating; NaN
    gives 0.
    """

def real(x: Tensor) -> Tensor:
    """Real part."""

def imag(x: Tensor) -> Tensor:
    """Imaginary part."""

def conj(x: Tensor) -> Tensor:
    """Complex conjugate; a real x as it is."""

def complex(re: Tensor, im: Tensor | Number) -> Tensor:
    """re + i im."""

def eq(x: Tensor, y: Tensor | Number) -> Tensor:
    """x == y."""

def ne(x: Tensor, y: Tensor | Number) -> Tensor:
    """x != y; true where either is NaN."""

def lt(x: Tensor, y: Tensor | Number) -> Tensor:
    """x < y."""

def le(x: Tensor, y: Tensor | Number) -> Tensor:
    """x <= y."""

def gt(x: Tensor, y: Tensor | Number) -> Tensor:
    """x > y."""

def ge(x: Tensor, y: Tensor | Number) -> Tensor:
    """x >= y."""

def isnan(x: Tensor) -> Tensor:
    """True where x is not a number."""

def isfinite(x: Tensor) -> Tensor:
    """True where x is neither infinite nor NaN."""

def logical_and(x: Tensor, y: Tensor | Number) -> Tensor:
    """True where both are nonzero."""

def logical_or(x: Tensor, y: Tensor | Number) -> Tensor:
    """True where either is nonzero."""

def logical_not(x: Tensor) -> Tensor:
    """True where x is zero."""

def bitwise_and(x: Tensor, y: Tensor | Number) -> Tensor:
    """Bits set in both; on bool, and."""

def bitwise_or(x: Tensor, y: Tensor | Number) -> Tensor:
    """Bits set in either; on bool, or."""

def bitwise_xor(x: Tensor, y: Tensor | Number) -> Tensor:
    """Bits set in just one; on bool, xor."""

def bitwise_not(x: Tensor) -> Tensor:
    """Every bit turned; on bool, not."""

def where(condition: Tensor, x: Tensor | Number, y: Tensor | Number) -> Tensor:
    """x where the condition holds, else y."""

def sum(x: Tensor, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
    """Sum over the axes of dim (all if empty). Order: the fixed tree of
    docs/architecture.md.
    """

def mean(x: Tensor, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
    """Arithmetic mean over the axes of dim; NaN of no elements."""

def prod(x: Tensor, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
    """Product over the axes of dim."""

def amax(x: Tensor, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
    """Largest element over the axes of dim; NaN if there is one."""

def amin(x: Tensor, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
    """Smallest element over the axes of dim; NaN if there is one."""

def any(x: Tensor, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
    """True if an element is nonzero."""

def all(x: Tensor, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
    """True if no element is zero."""

def argmax(x: Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
    """Index of the largest element along dim (of the flattened input if None); the lowest
    such index; a NaN counts as largest.
    """

def argmin(x: Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
    """Index of the smallest element along dim; the lowest such index; a NaN counts as
    smallest.
    """

def max_dim(x: Tensor, dim: builtins.int, keepdim: builtins.bool = False) -> _max_dim:
    """Largest element along dim, and its lowest index."""

def min_dim(x: Tensor, dim: builtins.int, keepdim: builtins.bool = False) -> _min_dim:
    """Smallest element along dim, and its lowest index."""

def var(
    x: Tensor, *dim: Ints, keepdim: builtins.bool = False, correction: builtins.int = 1
) -> Tensor:
    """Sum of squared distances from the mean, over (count - correction). Two passes."""

def std(
    x: Tensor, *dim: Ints, keepdim: builtins.bool = False, correction: builtins.int = 1
) -> Tensor:
    """Square root of var; its gradient is 0 where that is 0."""

def logsumexp(x: Tensor, *dim: Ints, keepdim: builtins.bool = False) -> Tensor:
    """log(sum(exp(x))), without overflow: the largest element is taken out first."""

def cumsum(x: Tensor, dim: builtins.int) -> Tensor:
    """Running sum along dim, from the left."""

def cumprod(x: Tensor, dim: builtins.int) -> Tensor:
    """Running product along dim, from the left."""

def view(x: Tensor, *shape: Ints) -> Tensor:
    """The same elements under another shape, without a copy. One size may be -1."""

def view_put(x: Tensor, value: Tensor | Number, *shape: Ints) -> Tensor:
    """x with value written through view()."""

def expand(x: Tensor, *shape: Ints) -> Tensor:
    """Axes of size 1 repeated without a copy; new axes may be added in front; -1 keeps a
    size.
    """

def permute(x: Tensor, *dims: Ints) -> Tensor:
    """Axes in another order."""

def permute_put(x: Tensor, value: Tensor | Number, *dims: Ints) -> Tensor:
    """x with value written through permute()."""

def squeeze(x: Tensor, *dim: Ints) -> Tensor:
    """Without the axes of size 1 (those named in dim, or all)."""

def squeeze_put(x: Tensor, value: Tensor | Number, *dim: Ints) -> Tensor:
    """x with value written through squeeze()."""

def unsqueeze(x: Tensor, dim: builtins.int) -> Tensor:
    """With a new axis of size 1 at dim."""

def unsqueeze_put(x: Tensor, value: Tensor | Number, dim: builtins.int) -> Tensor:
    """x with value written through unsqueeze()."""

def slice(
    x: Tensor,
    dim: builtins.int,
    start: builtins.int | None = None,
    end: builtins.int | None = None,
    step: builtins.int = 1,
) -> Tensor:
    """x[start:end:step] along dim, by Python's rules."""

def slice_put(
    x: Tensor,
    value: Tensor | Number,
    dim: builtins.int,
    start: builtins.int | None = None,
    end: builtins.int | None = None,
    step: builtins.int = 1,
) -> Tensor:
    """x with value written through slice()."""

def windows(x: Tensor, kernel: Ints, stride: Ints = 1) -> Tensor:
    """Every kernel[0] x kernel[1] window of the last two axes, as two new last axes."""

def reshape(x: Tensor, *shape: Ints) -> Tensor:
    """The same elements under another shape: a view where possible, else a copy."""

def contiguous(x: Tensor) -> Tensor:
    """x itself if its elements lie in row-major order, else a copy that does."""

def transpose(x: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """Two axes exchanged; a view."""

def select(x: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
    """x[index] along dim; a view without that axis."""

def narrow(x: Tensor, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
    """length elements from start along dim, which may count from the end; a view."""

def flatten(x: Tensor, start: builtins.int = 0, end: builtins.int = -1) -> Tensor:
    """Axes start..end joined into one."""

def cat(tensors: Sequence[Tensor], dim: builtins.int = 0) -> Tensor:
    """Tensors joined along an axis they all have."""

def stack(tensors: Sequence[Tensor], dim: builtins.int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""

def pad(x: Tensor, pad: Ints, value: Number = 0) -> Tensor:
    """x with a border of value; pad lists (before, after) from the last axis on."""

def gather(x: Tensor, dim: builtins.int, index: Tensor | Number) -> Tensor:
    """out[i][j] = x[index[i][j]][j] for dim 0, and so on. Negative indexes are refused."""

def scatter(x: Tensor, dim: builtins.int, index: Tensor | Number, src: Tensor | Number) -> Tensor:
    """x with src written at index along dim; of several writes to one place the last in
    row-major order stays. src may be a number.
    """

def scatter_add(
    x: Tensor, dim: builtins.int, index: Tensor | Number, src: Tensor | Number
) -> Tensor:
    """x with src added at index along dim, in row-major order."""

def index_select(x: Tensor, dim: builtins.int, index: Tensor | Number) -> Tensor:
    """Whole slices of x along dim, in the order of index; index may have any rank."""

def index_add(x: Tensor, dim: builtins.int, index: Tensor | Number, src: Tensor | Number) -> Tensor:
    """x with the slices of src added to those that index names along dim, in order."""

def embedding(weight: Tensor, index: Tensor | Number) -> Tensor:
    """Rows of weight by index."""

def sort(x: Tensor, dim: builtins.int = -1, descending: builtins.bool = False) -> _sort:
    """Sorted along dim, and where each came from. Stable; NaN counts as largest."""

def topk(
    x: Tensor, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True
) -> _topk:
    """The k largest (smallest) along dim, in order. Ties: lowest index first; NaN is
    largest.
    """

def argsort(x: Tensor, dim: builtins.int = -1, descending: builtins.bool = False) -> Tensor:
    """The indices of sort."""

def searchsorted(sorted: Tensor, values: Tensor | Number, right: builtins.bool = False) -> Tensor:
    """Where each value would go into an ascending 1-d sequence: before equal elements, or
    behind them if right.
    """

def full(
    shape: Ints,
    value: Number,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """value everywhere; its type decides the dtype unless one is given."""

def linspace(
    start: Number,
    end: Number,
    steps: builtins.int,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """steps evenly spaced numbers from start to end, both included."""

def eye(
    n: builtins.int,
    m: builtins.int | None = None,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """Ones on the diagonal of an n x m matrix, zeros elsewhere."""

def rand(
    *shape: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """Uniform in [0, 1). Philox4x32-10 keyed by seed, call and element: the same stream in
    every mode and for any thread count (Salmon et al. 2011).
    """

def randn(
    *shape: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """Normal with mean 0 and variance 1 (Box and Muller 1958)."""

def bernoulli(
    shape: Ints,
    p: builtins.float,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """1 with probability p, else 0."""

def zeros(
    *shape: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """Zeros."""

def ones(
    *shape: Ints,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """Ones."""

def zeros_like(x: Tensor, dtype: DTypeLike = None, requires_grad: builtins.bool = False) -> Tensor:
    """Zeros of x's shape."""

def ones_like(x: Tensor, dtype: DTypeLike = None, requires_grad: builtins.bool = False) -> Tensor:
    """Ones of x's shape."""

def full_like(
    x: Tensor, value: Number, dtype: DTypeLike = None, requires_grad: builtins.bool = False
) -> Tensor:
    """value in x's shape and dtype."""

def mm(a: Tensor, b: Tensor | Number) -> Tensor:
    """Matrix product over the last two axes; leading axes broadcast."""

def conv2d(
    x: Tensor,
    w: Tensor | Number,
    stride: Ints = 1,
    pad: Ints = 0,
    dilation: Ints = 1,
    groups: builtins.int = 1,
) -> Tensor:
    """Cross-correlation of x[n, c, h, w] with w[o, c / groups, kh, kw]."""

def conv2d_input(
    w: Tensor,
    dy: Tensor | Number,
    shape: Ints,
    stride: Ints = 1,
    pad: Ints = 0,
    dilation: Ints = 1,
    groups: builtins.int = 1,
) -> Tensor:
    """Gradient of conv2d by its input of that shape; also a transposed convolution."""

def conv2d_weight(
    x: Tensor,
    dy: Tensor | Number,
    shape: Ints,
    stride: Ints = 1,
    pad: Ints = 0,
    dilation: Ints = 1,
    groups: builtins.int = 1,
) -> Tensor:
    """Gradient of conv2d by its weight of that shape."""

def matmul(a: Tensor, b: Tensor | Number) -> Tensor:
    """Matrix product; a 1-d operand is a row on the left and a column on the right."""

def linear(x: Tensor, w: Tensor | Number, b: Tensor | Number | None = None) -> Tensor:
    """x @ w.T + b, with w[out, in]."""

def relu(x: Tensor) -> Tensor:
    """max(x, 0); NaN stays NaN; the derivative at 0 is 0."""

def leaky_relu(x: Tensor, slope: builtins.float = 0.01) -> Tensor:
    """x where positive, else slope * x."""

def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x)."""

def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)), without overflow."""

def gelu_erf(x: Tensor) -> Tensor:
    """0.5 x (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016)."""

def gelu_tanh(x: Tensor) -> Tensor:
    """The tanh approximation of gelu (Hendrycks and Gimpel 2016)."""

def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """Gaussian error linear unit, exact by erf or by the tanh approximation."""

def softmax(x: Tensor, dim: builtins.int) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

def log_softmax(x: Tensor, dim: builtins.int) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

def max_pool2d(x: Tensor, kernel: Ints, stride: Ints | None = None, pad: Ints = 0) -> Tensor:
    """Largest element of each window of x[..., h, w]."""

def avg_pool2d(x: Tensor, kernel: Ints, stride: Ints | None = None, pad: Ints = 0) -> Tensor:
    """Mean of each window of x[..., h, w]; padding counts as 0."""

def layer_norm(
    x: Tensor,
    shape: Ints,
    w: Tensor | Number | None = None,
    b: Tensor | Number | None = None,
    eps: builtins.float = 1e-05,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the last axes, then w and b (Ba et al. 2016)."""

def batch_norm(
    x: Tensor,
    w: Tensor | Number | None,
    b: Tensor | Number | None,
    mean: Tensor | Number | None,
    var: Tensor | Number | None,
    training: builtins.bool = False,
    momentum: builtins.float = 0.1,
    eps: builtins.float = 1e-05,
) -> Tensor:
    """Normalisation a channel over batch and space (Ioffe and Szegedy 2015); in training
    the running mean and (unbiased) variance move by momentum.
    """

def dropout(x: Tensor, p: builtins.float = 0.5, training: builtins.bool = True) -> Tensor:
    """In training, zeros with probability p and the rest scaled by 1 / (1 - p)."""

def mse_loss(x: Tensor, target: Tensor | Number, reduction: str = "mean") -> Tensor:
    """Squared difference, averaged, summed or as it is."""

def nll_loss(
    x: Tensor,
    target: Tensor | Number,
    weight: Tensor | Number | None = None,
    ignore_index: builtins.int = -100,
    reduction: str = "mean",
) -> Tensor:
    """-x at the target class; x holds log probabilities [n, classes, ...]."""

def cross_entropy(
    x: Tensor,
    target: Tensor | Number,
    weight: Tensor | Number | None = None,
    ignore_index: builtins.int = -100,
    reduction: str = "mean",
    label_smoothing: builtins.float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax(x), with label smoothing."""

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
