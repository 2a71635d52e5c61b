"""Losses as modules. reduction: 'mean', 'sum' or 'none'; size_average and reduce are PyTorch's
older words for it."""

from math import prod

from .. import _lathe
from .._arguments import default_only
from .._errors import our_class, typed
from . import functional as F
from .distance import PairwiseDistance
from .layers import Linear
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


def _compare(loss, input, target):
    """Warns of sizes that differ: each element of one is compared with many of the other."""
    if input.shape != target.shape:
        from warnings import warn

        warn(f"{type(loss).__name__}: the target's size {tuple(target.shape)} is not the input's "
             f"{tuple(input.shape)}: they broadcast, which is seldom what is meant",
             stacklevel=4)  # fmt: skip


class MSELoss(_Loss):
    """Squared difference."""

    def forward(self, input, target):
        loss = F.mse_loss(input, target, reduction=self.reduction)
        _compare(self, input, target)
        return loss


class L1Loss(_Loss):
    """Absolute difference."""

    def forward(self, input, target):
        loss = F.l1_loss(input, target, reduction=self.reduction)
        _compare(self, input, target)
        return loss


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


class NLLLoss2d(NLLLoss):
    """The older name of NLLLoss for images."""

    @typed
    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction=_MEAN
    ):
        from warnings import warn

        warn("nn.NLLLoss2d is now nn.NLLLoss", FutureWarning, stacklevel=3)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


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


class LinearCrossEntropyLoss(_Loss):
    """CrossEntropyLoss of a linear layer of its own: of num_classes scores, or, by out_features,
    of as many of them as its sizes say."""

    @default_only(options="leave it out: the logits are computed at once")
    def __init__(
        self,
        in_features,
        num_classes,
        *,
        out_features=(),
        bias=False,
        device=None,
        dtype=None,
        reduction=_MEAN,
        weight=None,
        ignore_index=None,
        label_smoothing=0.0,
        options=None,
    ):
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        rows = prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias, device, dtype)

    def forward(self, input, target):
        sizes, linear = (self.num_classes, *self.out_features), self.linear
        return F.linear_cross_entropy(
            input,
            linear.weight.reshape(*sizes, -1),
            target,
            linear_bias=None if linear.bias is None else linear.bias.reshape(sizes),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )

    def extra_repr(self):
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options=None"
        )


class _Settings(_Loss):
    """A loss whose settings are arguments of its function, by name."""

    _function = None
    _settings = ()

    def forward(self, *args, **named):
        settings = {name: getattr(self, name) for name in self._settings}
        return type(self)._function(*args, **named, **settings, reduction=self.reduction)


class _Differences(_Settings):
    """A loss of the differences between two tensors."""

    def forward(self, input, target):
        loss = super().forward(input, target)
        _compare(self, input, target)
        return loss


class SmoothL1Loss(_Differences):
    """|d| - beta / 2 of the difference d, and d^2 / (2 beta) where it is below beta."""

    _function, _settings = staticmethod(F.smooth_l1_loss), ("beta",)

    @typed
    def __init__(self, size_average=None, reduce=None, reduction=_MEAN, beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_Differences):
    """d^2 / 2 of the difference d, and delta (|d| - delta / 2) where it is above delta."""

    _function, _settings = staticmethod(F.huber_loss), ("delta",)

    @typed
    def __init__(self, reduction=_MEAN, delta=1.0):
        super().__init__(reduction=reduction)
        self.delta = delta


class BCELoss(_Settings):
    """-(t log x + (1 - t) log(1 - x)) of probabilities x and targets t, times weight."""

    _function, _settings = staticmethod(F.binary_cross_entropy), ("weight",)

    @typed
    def __init__(self, weight=None, size_average=None, reduce=None, reduction=_MEAN):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class KLDivLoss(_Settings):
    """target (log(target) - input), where input holds log probabilities."""

    _function, _settings = staticmethod(F.kl_div), ("log_target",)

    @typed
    def __init__(self, size_average=None, reduce=None, reduction=_MEAN, log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target
        if self.reduction == _MEAN:
            from warnings import warn

            warn("KLDivLoss: reduction='mean' divides by the number of elements: 'batchmean' "
                 "divides by that of the batch, as the divergence is defined",
                 stacklevel=3)  # fmt: skip


class GaussianNLLLoss(_Settings):
    """(log(var) + (input - target)^2 / var) / 2, called with input, target and var."""

    _function, _settings = staticmethod(F.gaussian_nll_loss), ("full", "eps")

    @typed
    def __init__(self, *, full=False, eps=1e-6, reduction=_MEAN):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps


class PoissonNLLLoss(_Settings):
    """exp(x) - target x, or x - target log(x + eps) if not log_input."""

    _function = staticmethod(F.poisson_nll_loss)
    _settings = ("log_input", "full", "eps")

    @typed
    def __init__(
        self,
        log_input=True,
        full=False,
        size_average=None,
        eps=1e-8,
        reduce=None,
        reduction=_MEAN,
    ):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input, target):
        return super().forward(log_input, target)


class HingeEmbeddingLoss(_Settings):
    """A distance where the target is 1, what it lacks of the margin where that is -1."""

    _function, _settings = staticmethod(F.hinge_embedding_loss), ("margin",)

    @typed
    def __init__(self, margin=1.0, size_average=None, reduce=None, reduction=_MEAN):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_Settings):
    """max(0, margin - target (input1 - input2)), target being 1 or -1."""

    _function, _settings = staticmethod(F.margin_ranking_loss), ("margin",)

    @typed
    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction=_MEAN):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class CosineEmbeddingLoss(_Settings):
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""

    _function, _settings = staticmethod(F.cosine_embedding_loss), ("margin",)

    @typed
    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction=_MEAN):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MultiMarginLoss(_Settings):
    """Mean over the classes of max(0, margin - x[own] + x[other])^p, times the weight of the own
    class."""

    _function = staticmethod(F.multi_margin_loss)
    _settings = ("p", "margin", "weight")

    @typed
    def __init__(
        self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction=_MEAN
    ):
        super().__init__(size_average, reduce, reduction)
        if p not in (1, 2):
            raise _lathe.ValueError(
                "this power is not defined",
                op="MultiMarginLoss",
                got=f"p={p}",
                expected="1 or 2",
                next="leave the argument out for 1",
            )
        self.p, self.margin = p, margin
        self.register_buffer("weight", weight)


class MultiLabelMarginLoss(_Settings):
    """Sum of max(0, 1 - x[label] + x[other]) over labels and other classes, divided by the number
    of classes."""

    _function = staticmethod(F.multilabel_margin_loss)


class MultiLabelSoftMarginLoss(_Settings):
    """Mean over the classes (the last axis) of BCEWithLogitsLoss."""

    _function, _settings = staticmethod(F.multilabel_soft_margin_loss), ("weight",)

    @typed
    def __init__(self, weight=None, size_average=None, reduce=None, reduction=_MEAN):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class SoftMarginLoss(_Settings):
    """log(1 + exp(-target input)), target being 1 or -1."""

    _function = staticmethod(F.soft_margin_loss)


def _require_margin(loss, margin):
    if margin <= 0:
        raise _lathe.ValueError(
            "a margin that is none",
            op=our_class(loss).__name__,
            got=f"margin={margin}",
            expected="a number above 0",
            next="leave the argument out for 1",
        )


class TripletMarginLoss(_Settings):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the distance in the p-norm."""

    _function = staticmethod(F.triplet_margin_loss)
    _settings = ("margin", "p", "eps", "swap")

    @typed
    def __init__(
        self,
        margin=1.0,
        p=2.0,
        eps=1e-6,
        swap=False,
        size_average=None,
        reduce=None,
        reduction=_MEAN,
    ):
        super().__init__(size_average, reduce, reduction)
        _require_margin(self, margin)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap


class TripletMarginWithDistanceLoss(_Settings):
    """TripletMarginLoss with a distance of your own: a function of two tensors."""

    _function = staticmethod(F.triplet_margin_with_distance_loss)
    _settings = ("distance_function", "margin", "swap")

    @typed
    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction=_MEAN):
        super().__init__(reduction=reduction)
        _require_margin(self, margin)
        self.distance_function = distance_function or PairwiseDistance()
        self.margin, self.swap = margin, swap


class CTCLoss(_Settings):
    """-log of the probability that log_probs[time, n, classes] read the targets, with blanks in
    between (Graves et al. 2006)."""

    _function, _settings = staticmethod(F.ctc_loss), ("blank", "zero_infinity")

    @typed
    def __init__(self, blank=0, reduction=_MEAN, zero_infinity=False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity
