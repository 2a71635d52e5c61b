"""The names of nn.functional. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

from .. import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

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

def default_only(**instead: Any) -> Any:
    """Decorates a function that takes some arguments at their default only: others are
    refused by name, with what the user can do instead.
    """

def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: Any = "mean",
    ignore_index: Any = None,
    label_smoothing: Any = 0.0,
    options: Any = None,
) -> Any:
    """cross_entropy of linear(input, linear_weight, linear_bias). The weight of logits of
    several axes is [classes, ..., features], and the bias [classes, ...].
    """

def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Any = None,
    margin: Any = 1.0,
    swap: Any = False,
    reduction: Any = "mean",
) -> Any:
    """triplet_margin_loss with a distance of your own: a function of two tensors."""

def typed(function: Any) -> Any:
    """The function, with errors of Lathe's own where Python finds that the arguments do not
    do.
    """

def adaptive_avg_pool1d(input: Tensor, output_size: Ints, *, out: Any = None) -> Tensor:
    """Means of as many windows as output_size says, which cover the last axes evenly; None
    keeps a size.
    """

def adaptive_avg_pool2d(input: Tensor, output_size: Ints, *, out: Any = None) -> Tensor:
    """Means of as many windows as output_size says, which cover the last axes evenly; None
    keeps a size.
    """

def adaptive_avg_pool3d(input: Tensor, output_size: Ints, *, out: Any = None) -> Tensor:
    """Means of as many windows as output_size says, which cover the last axes evenly; None
    keeps a size.
    """

@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: Ints, return_indices: Literal[False] = False, *, out: Any = None
) -> Tensor:
    """The largest elements of as many windows as output_size says, which cover the last
    axes evenly; None keeps a size.
    """

@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: Ints, return_indices: Literal[True], *, out: Any = None
) -> _adaptive_max_pool1d:
    """As without return_indices, and where in the last axes, flattened, each lies."""

def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Ints, return_indices: bool = False, *, out: Any = None
) -> _adaptive_max_pool1d_with_indices:
    """As without return_indices, and where in the last axes, flattened, each lies."""

@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: Ints, return_indices: Literal[False] = False, *, out: Any = None
) -> Tensor:
    """The largest elements of as many windows as output_size says, which cover the last
    axes evenly; None keeps a size.
    """

@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: Ints, return_indices: Literal[True], *, out: Any = None
) -> _adaptive_max_pool2d:
    """As without return_indices, and where in the last axes, flattened, each lies."""

def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Ints, return_indices: bool = False, *, out: Any = None
) -> _adaptive_max_pool2d_with_indices:
    """As without return_indices, and where in the last axes, flattened, each lies."""

@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: Ints, return_indices: Literal[False] = False, *, out: Any = None
) -> Tensor:
    """The largest elements of as many windows as output_size says, which cover the last
    axes evenly; None keeps a size.
    """

@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: Ints, return_indices: Literal[True], *, out: Any = None
) -> _adaptive_max_pool3d:
    """As without return_indices, and where in the last axes, flattened, each lies."""

def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Ints, return_indices: bool = False, *, out: Any = None
) -> _adaptive_max_pool3d_with_indices:
    """As without return_indices, and where in the last axes, flattened, each lies."""

def affine_grid(
    theta: Tensor, *size: Ints, align_corners: bool | None = None, out: Any = None
) -> Tensor:
    """The grid for grid_sample that theta[n, 2, 3] (a matrix and a shift) makes of the
    places of an image of `size`; or theta[n, 3, 4].
    """

def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """In training, the value that selu has far below 0 with probability p; the result is
    scaled and moved so that mean and variance stay (Klambauer et al. 2017).
    """

def avg_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    *,
    out: Any = None,
) -> Tensor:
    """Mean of each window over the last axes; padding counts as 0, or not at all
    (count_include_pad=False). divisor_override: what sums are divided by instead. Of
    integers the quotient towards zero, in their dtype.
    """

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
    """Mean of each window over the last axes; padding counts as 0, or not at all
    (count_include_pad=False). divisor_override: what sums are divided by instead. Of
    integers the quotient towards zero, in their dtype.
    """

def avg_pool3d(
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
    """Mean of each window over the last axes; padding counts as 0, or not at all
    (count_include_pad=False). divisor_override: what sums are divided by instead. Of
    integers the quotient towards zero, in their dtype.
    """

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

def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Any = None
) -> Tensor:
    """input1[..., i] weight[out, i, j] input2[..., j], summed over i and j, plus bias."""

def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """-(t log x + (1 - t) log(1 - x)) of probabilities x and targets t, times weight;
    logarithms count as -100 at least.
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

def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha (exp(x / alpha) - 1) below (Barron 2017)."""

def channel_shuffle(input: Tensor, groups: int, *, out: Any = None) -> Tensor:
    """Channels dealt out anew: those of each group stand apart by groups."""

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

def conv_tbc(
    input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0, *, out: Any = None
) -> Tensor:
    """conv1d of input[time, n, c] with weight[width, c, o]: time comes first."""

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

def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""

def cosine_similarity(
    x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08, *, out: Any = None
) -> Tensor:
    """The cosine of the angle between vectors along dim; lengths count as eps at least."""

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
    """nll_loss of log_softmax(x), with label smoothing; a target of floats in the shape of
    x holds a probability for each class.
    """

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
    """nll_loss of log_softmax(x), with label smoothing; a target of floats in the shape of
    x holds a probability for each class.
    """

@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
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
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """-log of the probability that log_probs[time, n, classes] read targets[n, labels] (or
    all in one row), with blanks in between (Graves et al. 2006). zero_infinity: a target
    that does not fit into its time counts as 0. The mean is that of losses divided by the
    number of labels.
    """

def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, zeros with probability p and the rest scaled by 1 / (1 - p)."""

def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """In training, whole channels are zeros with probability p and the rest is scaled by 1
    / (1 - p) (Tompson et al. 2015).
    """

def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """In training, whole channels are zeros with probability p and the rest is scaled by 1
    / (1 - p) (Tompson et al. 2015).
    """

def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """In training, whole channels are zeros with probability p and the rest is scaled by 1
    / (1 - p) (Tompson et al. 2015).
    """

def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha (exp(x) - 1) below (Clevert et al. 2015)."""

@overload
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Rows of weight by index; the row padding_idx takes no gradient. The gradient is a
    whole tensor also with sparse=True.
    """

@overload
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    *,
    max_norm: float,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
    out: Any = None,
) -> Tensor:
    """Rows of weight by index; those that are longer than max_norm in the norm_type-norm
    are shortened before, in weight itself.
    """

@overload
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The sum, mean or largest elements of bags of rows of weight: input[n, length] holds n
    bags, input[m] holds one behind the other, beginning at offsets[n] (the last of which is
    the end if include_last_offset). The row padding_idx counts for nothing.
    """

@overload
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    *,
    max_norm: float,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
    out: Any = None,
) -> Tensor:
    """The sum, mean or largest elements of bags of rows of weight: input[n, length] holds n
    bags, input[m] holds one behind the other, beginning at offsets[n] (the last of which is
    the end if include_last_offset). The row padding_idx counts for nothing.
    """

def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """alpha_dropout of whole channels, those of axis 1."""

def fold(
    input: Tensor,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Columns of windows added up where they lay in pictures: the reverse of unfold."""

@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The largest elements of windows that begin at random places, as many as output_size
    says, or output_ratio of the input's size (Graham 2014).
    """

@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
    out: Any = None,
) -> _fractional_max_pool2d:
    """As without return_indices, and where in the last axes, flattened, each lies."""

def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
    *,
    out: Any = None,
) -> _fractional_max_pool2d_with_indices:
    """As without return_indices, and where in the last axes, flattened, each lies."""

@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The largest elements of windows that begin at random places, as many as output_size
    says, or output_ratio of the input's size (Graham 2014).
    """

@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
    out: Any = None,
) -> _fractional_max_pool3d:
    """As without return_indices, and where in the last axes, flattened, each lies."""

def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
    *,
    out: Any = None,
) -> _fractional_max_pool3d_with_indices:
    """As without return_indices, and where in the last axes, flattened, each lies."""

def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | Number,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """(log(var) + (input - target)^2 / var) / 2, var counting as eps at least, a negative
    one is a ValueError; full: with log(2 pi) / 2.
    """

def gelu(input: Tensor, *, approximate: str = "none", out: Any = None) -> Tensor:
    """Gaussian error linear unit, exact by erf or by the tanh approximation."""

def glu(input: Tensor, dim: int = -1, *, out: Any = None) -> Tensor:
    """The first half along dim times sigmoid of the second (Dauphin et al. 2016)."""

def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input[n, c, h, w] at the places of grid[n, h2, w2, 2] as (x, y) in [-1, 1], and the
    same with one axis more. mode: 'bilinear', 'nearest' or 'bicubic'. padding_mode: what is
    outside: 'zeros', the 'border', or a 'reflection'. align_corners: -1 and 1 are the
    middles of the outermost elements, not their ends.
    """

def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    out: Any = None,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) of each group of channels of each image, then weight and
    bias a channel (Wu and He 2018).
    """

def gumbel_softmax(
    logits: Tensor,
    tau: float = 1.0,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
    *,
    out: Any = None,
) -> Tensor:
    """softmax of the logits with Gumbel noise over tau (Jang et al. 2016); if hard, 1 at
    its largest element, with the derivative of the softmax. eps has no effect.
    """

def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Tensor:
    """x, or 0 where |x| is at most lambd."""

def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """(x + 3) / 6 limited to [0, 1]."""

def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x times (x + 3) / 6 limited to [0, 1] (Howard et al. 2019)."""

def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x limited to [min_val, max_val]; at the limits the derivative is 0."""

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """A distance where the target is 1, what it lacks of the margin where that is -1."""

def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """d^2 / 2 of the difference d, and delta (|d| - delta / 2) where it is above delta
    (Huber 1964).
    """

def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
    *,
    out: Any = None,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) of each channel of each image, then weight and bias
    (Ulyanov et al. 2016); the running mean and (unbiased) variance move by momentum, and
    stand for the image's own if use_input_stats is False.
    """

def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """input[n, c, ...] at another size, or scaled. mode: 'nearest', 'nearest-exact',
    'area', and 'linear', 'bilinear', 'bicubic', 'trilinear' for one, two, two and three
    axes. align_corners: the outermost elements keep their places. antialias: the filter
    widens where the result is smaller.
    """

def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """target (log(target) - input), where input holds log probabilities, and target does if
    log_target. reduction='batchmean' divides the sum by the size of the batch, which is the
    divergence of Kullback and Leibler.
    """

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

def local_response_norm(
    input: Tensor,
    size: int,
    alpha: float = 1e-04,
    beta: float = 0.75,
    k: float = 1.0,
    *,
    out: Any = None,
) -> Tensor:
    """x / (k + alpha * mean)^beta, of the mean square of `size` neighbouring channels
    (Krizhevsky et al. 2012).
    """

def log_softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: DTypeLike = None,
    *,
    out: Any = None,
) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

def logsigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """log(sigmoid(x)), without overflow."""

def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    *stride: Ints,
    ceil_mode: bool = False,
    out: Any = None,
) -> Tensor:
    """(sum x^p)^(1/p) of each window over the last axes, p = norm_type."""

def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    *stride: Ints,
    ceil_mode: bool = False,
    out: Any = None,
) -> Tensor:
    """(sum x^p)^(1/p) of each window over the last axes, p = norm_type."""

def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    *stride: Ints,
    ceil_mode: bool = False,
    out: Any = None,
) -> Tensor:
    """(sum x^p)^(1/p) of each window over the last axes, p = norm_type."""

def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """max(0, margin - target (input1 - input2)), target being 1 or -1."""

@overload
def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Any = None,
) -> Tensor:
    """Largest element of each window over the last axes; the first of equal ones takes the
    gradient.
    """

@overload
def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
    out: Any = None,
) -> _max_pool1d:
    """Largest element of each window over the last axes, and where in these axes,
    flattened, it lies.
    """

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> _max_pool1d_with_indices:
    """Largest element of each window over the last axes, and where in these axes,
    flattened, it lies.
    """

@overload
def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Any = None,
) -> Tensor:
    """Largest element of each window over the last axes; the first of equal ones takes the
    gradient.
    """

@overload
def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
    out: Any = None,
) -> _max_pool2d:
    """Largest element of each window over the last axes, and where in these axes,
    flattened, it lies.
    """

def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> _max_pool2d_with_indices:
    """Largest element of each window over the last axes, and where in these axes,
    flattened, it lies.
    """

@overload
def max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
    *,
    out: Any = None,
) -> Tensor:
    """Largest element of each window over the last axes; the first of equal ones takes the
    gradient.
    """

@overload
def max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
    out: Any = None,
) -> _max_pool3d:
    """Largest element of each window over the last axes, and where in these axes,
    flattened, it lies.
    """

def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> _max_pool3d_with_indices:
    """Largest element of each window over the last axes, and where in these axes,
    flattened, it lies.
    """

def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The largest elements back where a pooling found them, zeros elsewhere. output_size:
    of what was pooled, where several sizes give this input.
    """

def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The largest elements back where a pooling found them, zeros elsewhere. output_size:
    of what was pooled, where several sizes give this input.
    """

def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The largest elements back where a pooling found them, zeros elsewhere. output_size:
    of what was pooled, where several sizes give this input.
    """

def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x tanh(log(1 + exp(x))) (Misra 2019)."""

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

def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """Mean over the classes of max(0, margin - x[own] + x[other])^p, times the weight of
    the own class.
    """

def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """Sum of max(0, 1 - x[label] + x[other]) over labels and other classes, divided by the
    number of classes. The target's rows are class numbers, ended by a negative number.
    """

def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """Mean over the classes (the last axis) of binary_cross_entropy_with_logits."""

def native_channel_shuffle(input: Tensor, groups: int, *, out: Any = None) -> Tensor:
    """Channels dealt out anew: those of each group stand apart by groups."""

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

def one_hot(input: Tensor, num_classes: int = -1, *, out: Any = None) -> Tensor:
    """1 at the class, 0 elsewhere, as int64 along a new last axis. A class outside of 0 to
    num_classes - 1 is an IndexError. num_classes=-1: one more than the largest.
    """

def pad(
    input: Tensor, *pad: Ints, mode: str = "constant", value: float | None = None, out: Any = None
) -> Tensor:
    """input with a border: of value ('constant'), of itself mirrored at the ends
    ('reflect'), of its end repeated ('replicate') or of its other end ('circular'). pad
    lists (before, after) from the last axis on.
    """

def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    eps: float = 1e-06,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last axis."""

def pdist(input: Tensor, p: float = 2.0, *, out: Any = None) -> Tensor:
    """The distance of every two rows, each pair once."""

def pixel_shuffle(input: Tensor, upscale_factor: int, *, out: Any = None) -> Tensor:
    """Channels turned into blocks of pixels: [c f f, h, w] to [c, h f, w f]."""

def pixel_unshuffle(input: Tensor, downscale_factor: int, *, out: Any = None) -> Tensor:
    """Blocks of pixels turned into channels: [c, h f, w f] to [c f f, h, w]."""

def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-08,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """exp(x) - target x, or x - target log(x + eps) if not log_input; full: with
    log(target!) by Stirling's formula.
    """

def prelu(input: Tensor, weight: Tensor, *, out: Any = None) -> Tensor:
    """x above 0, else weight * x, with one weight or one a channel (He et al. 2015)."""

def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0); NaN stays NaN; the derivative at 0 is 0."""

def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x limited to [0, 6] (Krizhevsky 2010)."""

def rms_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    eps: float | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """x / sqrt(mean(x^2) + eps) over the last axes, then weight (Zhang and Sennrich 2019).
    eps: that of the dtype computed in unless given.
    """

def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """x above 0, else x times a slope: in training drawn from [lower, upper] for each
    element, else their mean (Xu et al. 2015).
    """

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

def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the alpha and the scale that keep mean 0 and variance 1 (Klambauer et al.
    2017).
    """

def sigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-x))."""

def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""

def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
    *,
    out: Any = None,
) -> Tensor:
    """|d| - beta / 2 of the difference d, and d^2 / (2 beta) where it is below beta."""

def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """log(1 + exp(-target input)), target being 1 or -1."""

def softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: DTypeLike = None,
    *,
    out: Any = None,
) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

def softmin(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: DTypeLike = None,
    *,
    out: Any = None,
) -> Tensor:
    """softmax(-input) along dim."""

def softplus(
    input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Any = None
) -> Tensor:
    """log(1 + exp(beta x)) / beta, without overflow; x where beta x is above threshold."""

def softshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Tensor:
    """x moved towards 0 by lambd, at most to 0."""

def softsign(input: Tensor, *, out: Any = None) -> Tensor:
    """x / (1 + |x|)."""

def tanh(input: Tensor, *, out: Any = None) -> Tensor:
    """Hyperbolic tangent."""

def tanhshrink(input: Tensor, *, out: Any = None) -> Tensor:
    """x - tanh(x)."""

def threshold(input: Tensor, threshold: Number, value: Number, inplace: bool = False) -> Tensor:
    """x above threshold, else value."""

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    *,
    out: Any = None,
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the pairwise_distance;
    swap: the negative is as far as it is from the nearer of the two (Balntas et al. 2016).
    """

def unfold(
    input: Tensor,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
    *,
    out: Any = None,
) -> Tensor:
    """Every window of pictures as a column: [n, c, h, w] to [n, c kernel, windows]."""

def upsample(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input[n, c, ...] at another size, or scaled. mode: 'nearest', 'nearest-exact',
    'area', and 'linear', 'bilinear', 'bicubic', 'trilinear' for one, two, two and three
    axes. align_corners: the outermost elements keep their places. antialias: the filter
    widens where the result is smaller.
    """

def upsample_bilinear(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """interpolate with mode='bilinear' and align_corners=True."""

def upsample_nearest(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """interpolate with mode='nearest'."""
