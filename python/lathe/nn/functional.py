"""Functions of networks under PyTorch's names and signatures: op definitions."""

from .. import ops
from .._errors import typed
from .._modules import entries

__getattr__, __dir__ = entries(globals(), "functional")


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
    distance = distance_function or ops.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return ops.margin_ranking_loss(far, near, ops.ones_like(near), margin, reduction=reduction)
