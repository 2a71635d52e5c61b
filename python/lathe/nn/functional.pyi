"""The names of nn.functional. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

from .. import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

def avg_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """Mean of each window of x[..., h, w]; padding counts as 0."""

def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
    *,
    out: Any = None,
) -> Tensor:
    """Normalisation a channel over batch and space (Ioffe and Szegedy 2015); in training
    the running mean and (unbiased) variance move by momentum.
    """

@overload
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """-(p t log s(x) + (1 - t) log(1 - s(x))), s the sigmoid, p the weight of positives;
    without overflow.
    """

@overload
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """-(p t log s(x) + (1 - t) log(1 - s(x))), s the sigmoid, p the weight of positives;
    without overflow.
    """

@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
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
    groups: int = 1,
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
    groups: int = 1,
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
    groups: int = 1,
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
    groups: int = 1,
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
    groups: int = 1,
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
    groups: int = 1,
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
    groups: int = 1,
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
    groups: int = 1,
    dilation: Ints = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Transposed convolution of input[n, c, ...] with weight[c, o / groups, ...], plus
    bias[o]: what a convolution's gradient does. output_padding: sizes more at the end of
    each axis.
    """

@overload
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    out: Any = None,
) -> Tensor:
    """nll_loss of log_softmax(x), with label smoothing."""

@overload
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    *,
    out: Any = None,
) -> Tensor:
    """nll_loss of log_softmax(x), with label smoothing."""

def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, zeros with probability p and the rest scaled by 1 / (1 - p)."""

def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Rows of weight by index; the row padding_idx takes no gradient."""

def gelu(input: Tensor, *, approximate: str = "none", out: Any = None) -> Tensor:
    """Gaussian error linear unit, exact by erf or by the tanh approximation."""

@overload
def l1_loss(
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    weight: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Absolute difference, averaged, summed or as it is."""

@overload
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """Absolute difference, averaged, summed or as it is."""

def layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    out: Any = None,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the last axes, then weight and bias (Ba et al.
    2016).
    """

def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, else negative_slope * x."""

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Any = None) -> Tensor:
    """input @ weight.T + bias, with weight[out, in]."""

def log_softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: DTypeLike = None,
    *,
    out: Any = None,
) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Largest element of each window of x[..., h, w]."""

@overload
def mse_loss(
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    weight: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """Squared difference, averaged, summed or as it is."""

@overload
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """Squared difference, averaged, summed or as it is."""

@overload
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    out: Any = None,
) -> Tensor:
    """-x at the target class; x holds log probabilities [n, classes, ...]."""

@overload
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """-x at the target class; x holds log probabilities [n, classes, ...]."""

def normalize(
    input: Tensor, p: float = 2.0, dim: Ints = 1, eps: float = 1e-12, *, out: Any = None
) -> Tensor:
    """input divided by its norm along dim, which counts as eps at least."""

def one_hot(input: Tensor, num_classes: int, *, out: Any = None) -> Tensor:
    """1 at the class, 0 elsewhere, as int64 along a new last axis. A class outside of 0 to
    num_classes - 1 is an IndexError.
    """

def pad(
    input: Tensor, *pad: Ints, mode: str = "constant", value: float | None = None, out: Any = None
) -> Tensor:
    """input with a border of value; pad lists (before, after) from the last axis on."""

def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0); NaN stays NaN; the derivative at 0 is 0."""

def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    out: Any = None,
) -> Tensor:
    """softmax(query @ key.mT * scale + mask) @ value, of [..., time, width] (Vaswani et al.
    2017). attn_mask: true where a key may be seen, or floats that are added; a query that
    sees no key gives 0. scale: 1 / sqrt(width) unless given.
    """

def sigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-x))."""

def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""

def softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: DTypeLike = None,
    *,
    out: Any = None,
) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

def softplus(input: Tensor, *, out: Any = None) -> Tensor:
    """log(1 + exp(x)), without overflow."""

def tanh(input: Tensor, *, out: Any = None) -> Tensor:
    """Hyperbolic tangent."""
