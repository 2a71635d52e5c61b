"""Functions of networks as PyTorch calls them. A name that is not defined here is the op itself."""

import math

from .. import _lathe
from .._lathe import ops

_MEAN = "mean"  # not an op: how to reduce
_SUM = "sum"  # not an op: how to reduce


def __getattr__(name):
    function = getattr(ops, name, None)
    if function is None:
        raise AttributeError(f"module 'lathe.nn.functional' has no attribute '{name}'")
    return function


def _pointwise(op):
    def function(input, inplace=False):
        return input.copy_(op(input)) if inplace else op(input)

    function.__name__ = function.__qualname__ = op.__name__
    function.__doc__ = op.__doc__
    return function


relu = _pointwise(ops.relu)
silu = _pointwise(ops.silu)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where positive, else negative_slope * x."""
    y = ops.leaky_relu(input, negative_slope)
    return input.copy_(y) if inplace else y


def softmax(input, dim=-1, dtype=None):
    """exp(x) / sum(exp(x)) along dim."""
    return ops.softmax(input if dtype is None else input.to(dtype), dim)


def log_softmax(input, dim=-1, dtype=None):
    """log(softmax(x)) along dim."""
    return ops.log_softmax(input if dtype is None else input.to(dtype), dim)


def dropout(input, p=0.5, training=True, inplace=False):
    """In training, zeros with probability p and the rest scaled by 1 / (1 - p)."""
    y = ops.dropout(input, p, training)
    return input.copy_(y) if inplace else y


def linear(input, weight, bias=None):
    """input @ weight.T + bias; weight[out, in]."""
    return ops.linear(input, weight, bias)


def embedding(input, weight):
    """Rows of weight by integer index; the result has input's shape and the rows' axis."""
    return ops.embedding(weight, input)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of input[n, c, h, w] with weight[o, c / groups, kh, kw], plus bias[o].

    padding: a number, a pair (rows, columns), "valid" or (for stride 1) "same".
    """
    padding, input = _padding(input, weight, padding, stride, dilation)
    y = ops.conv2d(input, weight, stride, padding, dilation, groups)
    return y if bias is None else y + bias.reshape(bias.shape[0], 1, 1)


def _padding(input, weight, padding, stride, dilation):
    if not isinstance(padding, str):
        return padding, input
    if padding == "valid":
        return 0, input
    if padding != "same" or stride not in (1, (1, 1)):
        raise _lathe.ValueError(
            "a padding this stride cannot have",
            op="conv2d",  # not an op: the function of this name
            got=f"{padding!r}, stride {stride}",
            expected="numbers, 'valid', or 'same' at stride 1",
        )
    rows, columns = (dilation, dilation) if isinstance(dilation, int) else dilation
    tall, wide = rows * (weight.shape[-2] - 1), columns * (weight.shape[-1] - 1)
    if tall % 2 == 0 and wide % 2 == 0:
        return (tall // 2, wide // 2), input
    border = [wide // 2, wide - wide // 2, tall // 2, tall - tall // 2]
    return 0, ops.pad(input, border)


def max_pool2d(input, kernel_size, stride=None, padding=0):
    """Largest element of each window of input[..., h, w]."""
    return ops.max_pool2d(input, kernel_size, stride, padding)


def avg_pool2d(input, kernel_size, stride=None, padding=0):
    """Mean of each window of input[..., h, w]; padding counts as 0."""
    return ops.avg_pool2d(input, kernel_size, stride, padding)


def batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    """Normalises each channel (axis 1); in training the running statistics move by momentum."""
    return ops.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(x - mean) / sqrt(var + eps) over the last axes, whose shape is normalized_shape."""
    return ops.layer_norm(input, normalized_shape, weight, bias, eps)


def cross_entropy(
    input,
    target,
    weight=None,
    ignore_index=-100,
    reduction=_MEAN,
    label_smoothing=0.0,
):
    """nll_loss of log_softmax(input): input[n, classes, ...], target[n, ...] of class numbers."""
    return ops.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(input, target, weight=None, ignore_index=-100, reduction=_MEAN):
    """-input at the target class; input holds log probabilities."""
    return ops.nll_loss(input, target, weight, ignore_index, reduction)


def _reduced(loss, reduction):
    if reduction == "none":
        return loss
    if reduction == _SUM:
        return ops.sum(loss)
    if reduction == _MEAN:
        return ops.mean(loss)
    raise _lathe.ValueError(
        "an unknown reduction",
        op="loss",
        got=repr(reduction),
        expected="'mean', 'sum' or 'none'",
        next="leave the argument out for the mean",
    )


def mse_loss(input, target, reduction=_MEAN):
    """Squared difference."""
    return ops.mse_loss(input, target, reduction)


def l1_loss(input, target, reduction=_MEAN):
    """Absolute difference."""
    return _reduced(ops.abs(input - target), reduction)


def binary_cross_entropy_with_logits(input, target, reduction=_MEAN):
    """-(t log s(x) + (1 - t) log(1 - s(x))) with s the sigmoid, without overflow."""
    return _reduced(ops.softplus(input) - input * target, reduction)


def one_hot(input, num_classes):
    """1 at the class, 0 elsewhere, as int64 along a new last axis."""
    classes = ops.arange(0, num_classes, device=input.device)
    return ops.eq(ops.unsqueeze(input, -1), classes).to(_lathe.int64)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """input divided by its norm along dim, which counts as eps at least."""
    from .._functions import norm

    return input / ops.clamp_min(norm(input, p, dim, True), eps)


def pad(input, pad, mode="constant", value=0):
    """A border of value; pad lists (before, after) from the last axis on."""
    if mode != "constant":
        raise _lathe.UnsupportedError(
            "only constant borders can be made yet",
            op="pad",  # not an op: the function of this name
            got=repr(mode),
        )
    return ops.pad(input, pad, value)


def scaled_dot_product_attention(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """softmax(query @ key.mT * scale + mask) @ value (Vaswani et al. 2017); [..., time, width].

    attn_mask: true where a key may be seen, or floats that are added; DTypeError for integers.
    scale: 1 / sqrt(width).
    """
    if attn_mask is not None and not (
        attn_mask.dtype is _lathe.bool or attn_mask.dtype.is_floating_point
    ):
        raise _lathe.DTypeError(
            "the mask is neither of bool nor of floats",
            op="scaled_dot_product_attention",  # not an op: the function of this name
            got=f"a mask of {attn_mask.dtype}",
            expected="true where a key may be seen, or floats that are added",
            next="compare it: attn_mask != 0",
        )
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = ops.matmul(query, key.mT) * scale
    if is_causal:
        rows = ops.unsqueeze(ops.arange(0, query.shape[-2]), 1)
        scores = ops.where(ops.arange(0, key.shape[-2]) <= rows, scores, -math.inf)
    if attn_mask is not None:
        hidden = attn_mask.dtype is _lathe.bool
        scores = ops.where(attn_mask, scores, -math.inf) if hidden else scores + attn_mask
    return ops.matmul(ops.softmax(scores, -1), value)
