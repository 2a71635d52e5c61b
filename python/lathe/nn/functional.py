"""Functions of networks under PyTorch's names and signatures: op definitions."""

import importlib

from .. import _lathe, ops
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
