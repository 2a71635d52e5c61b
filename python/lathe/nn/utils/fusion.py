"""Layers that take over what a batch norm behind them does in eval()."""

from ... import _lathe, ops
from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip


def _fused(op, axis, weight, bias, mean, variance, eps, scale, shift):
    """(weight, bias) that do what the layer and the norm do; axis: that of the outputs."""
    _require_like(op, weight, axis, mean)
    factor = ops.rsqrt(variance + eps)
    factor = factor if scale is None else factor * scale
    offset = -mean if bias is None else bias - mean
    offset = offset * factor if shift is None else offset * factor + shift
    sizes = [1] * weight.ndim
    sizes[axis] = -1
    made = (weight * factor.reshape(sizes)).to(weight.dtype)
    offset = offset.to(weight.dtype if bias is None else bias.dtype)
    return (
        Parameter(made.detach(), weight.requires_grad),
        Parameter(offset.detach(), bias is not None and bias.requires_grad),
    )


def _require_like(op, weight, axis, mean):
    if mean.shape[0] not in (1, weight.shape[axis]):
        raise _lathe.ShapeError(
            "the norm has other channels than the layer", op=op,
            got=f"{mean.shape[0]} channels after {weight.shape[axis]} outputs",
            expected="as many channels as outputs", next="fuse a norm with the layer before it",
        )  # fmt: skip


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """(weight, bias) of the convolution that gives what batch norm makes of this one's results.

    conv_w[out, in, ...] ([in, out, ...] with transpose); conv_b and bn_w, bn_b may be None.
    """
    axis = 1 if transpose else 0
    return _fused("fuse_conv_bn_weights", axis, conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """(weight, bias) of the linear layer that gives what batch norm makes of this one's results."""
    return _fused("fuse_linear_bn_weights", 0, linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _in_eval(op, layer, bn):
    """What the norm does in eval(); ValueError in training, or without statistics."""
    if layer.training or bn.training or bn.running_mean is None or bn.running_var is None:
        training = layer.training or bn.training
        raise _lathe.ValueError(
            "only what eval() does can be fused", op=op,
            got="a module in training" if training else "a norm without running statistics",
            expected="modules in eval(), and a norm with track_running_stats=True",
            next="call eval() on both first",
        )  # fmt: skip
    return bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias


def _with(layer, weight, bias):
    from copy import deepcopy

    fused = deepcopy(layer)
    fused.weight, fused.bias = weight, bias
    return fused


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that does what `conv` and then `bn` do, both in eval().

    transpose: conv is a transposed one, without groups. ValueError in training, or where bn has no
    statistics; ShapeError where their channels differ.
    """
    norm = _in_eval("fuse_conv_bn_eval", conv, bn)
    return _with(conv, *fuse_conv_bn_weights(conv.weight, conv.bias, *norm, transpose))


def fuse_linear_bn_eval(linear, bn):
    """A linear layer that does what `linear` and then `bn` do, both in eval(); errors as
    fuse_conv_bn_eval."""
    norm = _in_eval("fuse_linear_bn_eval", linear, bn)
    return _with(linear, *fuse_linear_bn_weights(linear.weight, linear.bias, *norm))
