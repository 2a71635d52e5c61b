"""The loss of very many classes, of which a few are common (Grave et al. 2017)."""

from collections import namedtuple

from .. import _lathe, ops
from .._errors import typed
from .containers import ModuleList, Sequential
from .layers import Linear
from .module import Module

Output = namedtuple("ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of very many classes, ordered from the most common one.

    The classes below cutoffs[0] and one number for each later cluster come from one layer, those of
    a cluster from two of its own, narrower by div_value each time. Called with x[n, features] and
    targets[n]; gives the log probability of each target, and their mean with the sign changed.
    """

    @typed
    def __init__(
        self,
        in_features,
        n_classes,
        cutoffs,
        div_value=4.0,
        head_bias=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        cutoffs = list(cutoffs)
        fine = cutoffs and cutoffs == sorted(set(cutoffs)) and cutoffs[0] > 0
        if not fine or cutoffs[-1] >= n_classes or any(int(c) != c for c in cutoffs):
            raise _lathe.ValueError(
                "cutoffs that do not part the classes",
                op="AdaptiveLogSoftmaxWithLoss",
                got=f"cutoffs={cutoffs} of {n_classes} classes",
                expected="ascending integers above 0 and below the number of classes",
                next="leave the number of classes itself out",
            )
        self.in_features, self.n_classes, self.div_value = in_features, n_classes, div_value
        self.cutoffs, self.head_bias = [*cutoffs, n_classes], head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        kind = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **kind)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(self._clusters()):
            width = int(in_features // div_value ** (i + 1))
            down = Linear(in_features, width, bias=False, **kind)
            self.tail.append(Sequential(down, Linear(width, high - low, bias=False, **kind)))

    def _clusters(self):
        return list(zip(self.cutoffs, self.cutoffs[1:]))

    def reset_parameters(self):
        self.head.reset_parameters()
        for down, up in self.tail:
            down.reset_parameters()
            up.reset_parameters()

    def forward(self, input_, target_):
        batched = target_.ndim > 0
        x, own = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        if x.ndim != 2 or own.ndim != 1 or x.shape[0] != own.shape[0]:
            raise _lathe.ShapeError(
                "input and target do not fit",
                op="AdaptiveLogSoftmaxWithLoss",
                got=f"{list(input_.shape)} and {list(target_.shape)}",
                expected="[n, features] and [n], or [features] and []",
                next="flatten() the batch axes",
            )
        # Refuses a class that does not exist.
        ops.index_select(ops.zeros(self.n_classes, device=own.device), 0, own)
        head = ops.log_softmax(self.head(x), 1)
        picked = _picked(head, own, own < self.shortlist_size)
        for i, (low, high) in enumerate(self._clusters()):
            inside = (own >= low) & (own < high)
            part = _picked(ops.log_softmax(self.tail[i](x), 1), own - low, inside)
            picked = ops.where(inside, head[:, self.shortlist_size + i] + part, picked)
        loss = -picked.mean()
        return Output(picked if batched else picked.squeeze(0), loss)

    def log_prob(self, input):
        """Log probabilities of all classes: [n, n_classes]."""
        head = ops.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for i, layers in enumerate(self.tail):
            cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(ops.log_softmax(layers(input), 1) + cluster)
        return ops.cat(parts, 1)

    def predict(self, input):
        """The most probable class of each row."""
        return ops.argmax(self.log_prob(input), 1)


def _picked(log_probs, place, inside):
    """log_probs at a place of each row; of any where it is not inside."""
    safe = ops.where(inside, place, 0)
    return ops.gather(log_probs, 1, safe.unsqueeze(1)).squeeze(1)
