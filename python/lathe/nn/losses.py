"""Losses as modules. reduction: 'mean', 'sum' or 'none'; size_average and reduce are PyTorch's
older words for it."""

from .._errors import typed
from . import functional as F
from .module import Module

_MEAN = "mean"  # not an op: how to reduce
_SUM = "sum"  # not an op: a reduction


class _Loss(Module):
    @typed
    def __init__(self, size_average=None, reduce=None, reduction=_MEAN):
        super().__init__()
        if size_average is not None or reduce is not None:
            all_of = _MEAN if size_average is None or size_average else _SUM
            reduction = all_of if reduce is None or reduce else "none"
        self.reduction = reduction


class MSELoss(_Loss):
    """Squared difference."""

    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """Absolute difference."""

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of sigmoid(input) with targets in [0, 1]. weight: of each element; pos_weight:
    of what the target says is there."""

    @typed
    def __init__(
        self, weight=None, size_average=None, reduce=None, reduction=_MEAN, pos_weight=None
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class NLLLoss(_Loss):
    """-input at the target class; input[n, classes, ...] holds log probabilities."""

    @typed
    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction=_MEAN
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        return F.nll_loss(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class CrossEntropyLoss(NLLLoss):
    """NLLLoss of log_softmax(input)."""

    @typed
    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index=-100,
        reduce=None,
        reduction=_MEAN,
        label_smoothing=0.0,
    ):
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
        self.label_smoothing = label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
