"""Losses as modules. reduction: 'mean', 'sum' or 'none'."""

from . import functional as F
from .module import Module

_MEAN = "mean"  # not an op: how to reduce


class _Loss(Module):
    def __init__(self, reduction=_MEAN):
        super().__init__()
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
    """Cross entropy of sigmoid(input) with targets in [0, 1]."""

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, reduction=self.reduction)


class _ClassLoss(_Loss):
    def __init__(self, weight=None, ignore_index=-100, reduction=_MEAN):
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index


class NLLLoss(_ClassLoss):
    """-input at the target class; input[n, classes, ...] holds log probabilities."""

    def forward(self, input, target):
        return F.nll_loss(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class CrossEntropyLoss(_ClassLoss):
    """NLLLoss of log_softmax(input)."""

    def __init__(self, weight=None, ignore_index=-100, reduction=_MEAN, label_smoothing=0.0):
        super().__init__(weight, ignore_index, reduction)
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
