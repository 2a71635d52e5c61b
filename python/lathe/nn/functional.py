"""Functions of networks under PyTorch's names and signatures: op definitions."""

import importlib

from .. import _lathe, ops
from .._arguments import default_only
from .._errors import typed
from .._modules import entries

_definition, _definitions = entries(globals(), "functional")
_ELSEWHERE = {"multi_head_attention_forward": "attention"}  # beside the module that it is part of


def __getattr__(name):
    if name not in _ELSEWHERE:
        return _definition(name)
    place = importlib.import_module("." + _ELSEWHERE[name], __package__)
    globals()[name] = getattr(place, name)
    return globals()[name]


def __dir__():
    return sorted({*_definitions(), *_ELSEWHERE})


@typed
def triplet_margin_with_distance_loss(
    anchor,
    positive,
    negative,
    *,
    distance_function=None,
    margin=1.0,
    swap=False,
    reduction="mean",  # not an op: how to reduce
):
    """triplet_margin_loss with a distance of your own: a function of two tensors."""
    if margin <= 0:
        raise _lathe.ValueError(
            "the margin is not positive", op="triplet_margin_with_distance_loss",
            got=f"margin={margin}", expected="a number above 0",
            next="exchange positive and negative for the opposite",
        )  # fmt: skip
    distance = distance_function or ops.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return ops.margin_ranking_loss(far, near, ops.ones_like(near), margin, reduction=reduction)


@default_only(options="leave it out: the logits are computed at once")
def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",  # not an op: how to reduce
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """cross_entropy of linear(input, linear_weight, linear_bias). The weight of logits of several
    axes is [classes, ..., features], and the bias [classes, ...]."""
    sizes, axes = linear_weight.shape[:-1], linear_weight.ndim
    if input.ndim not in (1, 2) or axes < 2 or (axes > 2 and input.ndim == 1):
        raise _lathe.ShapeError(
            "the input or the weight has another rank", op="linear_cross_entropy",
            got=f"input {list(input.shape)}, weight {list(linear_weight.shape)}",
            expected="[n, features] or [features], and [classes, features] or, of a batch, more",
            next="flatten what comes before the features",
        )  # fmt: skip
    if linear_bias is not None and linear_bias.shape != sizes:
        raise _lathe.ShapeError(
            "the bias has another shape", op="linear_cross_entropy", got=list(linear_bias.shape),
            expected=list(sizes), next="give one number for each row of the weight",
        )  # fmt: skip
    bias = None if linear_bias is None else linear_bias.flatten()
    logits = ops.linear(input, linear_weight.flatten(0, -2), bias)
    return ops.cross_entropy(
        logits.reshape(*input.shape[:-1], *sizes),
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
