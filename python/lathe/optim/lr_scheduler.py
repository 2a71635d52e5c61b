"""Changing the learning rate by plan: step(), after each epoch, sets "lr" in every group.

As in PyTorch a rate is computed from the group's current one, so that several schedules of one
optimizer multiply, and a rate set by hand stays; only LambdaLR computes it from the first rate.
Where a plan has a formula for any epoch (`_get_closed_form_lr`), step(epoch) uses it.
"""

import math
from bisect import bisect_right
from collections import Counter

from .._errors import typed
from .cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .schedule import LRScheduler, check_epochs, check_optimizer, refuse
from .several import ChainedScheduler, ReduceLROnPlateau, SequentialLR

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR",
    "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip

_LRScheduler = LRScheduler


class LambdaLR(LRScheduler):
    """Each group's first rate times lr_lambda(epoch); a list has a function for each group."""

    _not_state = ("optimizer", "lr_lambdas")
    _counts_alone = False

    @typed
    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        check_optimizer(self, optimizer)
        groups = len(optimizer.param_groups)
        several = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas = list(lr_lambda) if several else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            refuse(
                type(self).__name__, "there are not as many functions as groups",
                f"{len(self.lr_lambdas)} functions", f"{groups}, one for each group",
                "give one function for all groups, or one for each",
            )  # fmt: skip
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [lr * f(self.last_epoch) for lr, f in zip(self.base_lrs, self.lr_lambdas)]

    def state_dict(self):
        """Everything but the optimizer; of the functions, the attributes of those that are
        objects."""
        parts = [None if hasattr(f, "__code__") else dict(vars(f)) for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": parts}

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        for f, part in zip(self.lr_lambdas, state.pop("lr_lambdas", ())):
            if part is not None:
                vars(f).update(part)
        super().load_state_dict(state)


class MultiplicativeLR(LambdaLR):
    """The current rate times lr_lambda(epoch), from the first step on."""

    def get_lr(self):
        if self._is_initial:
            return self._rates()
        return [lr * f(self.last_epoch) for lr, f in zip(self._rates(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    @typed
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        check_epochs("StepLR", "step_size", step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return [lr * self.gamma for lr in self._rates()]

    def _get_closed_form_lr(self):
        return self._each(lambda lr: lr * self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(LRScheduler):
    """Times gamma at each of the milestones."""

    @typed
    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        times = self.milestones.get(self.last_epoch, 0)
        return [lr * self.gamma**times for lr in self._rates()] if times else self._rates()

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return self._each(lambda lr: lr * self.gamma**passed)


class ConstantLR(LRScheduler):
    """The first rate times factor for total_iters epochs, then the first rate."""

    @typed
    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= factor <= 1:
            refuse("ConstantLR", "factor is outside of [0, 1]", factor, "0 to 1",
                    "give the share of the rate to begin with")  # fmt: skip
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [lr * (1.0 / self.factor) for lr in self._rates()]

    def _get_closed_form_lr(self):
        low = self.last_epoch < self.total_iters
        return self._each(lambda lr: lr * self.factor if low else lr)


class LinearLR(LRScheduler):
    """The first rate times what goes in a line from start_factor to end_factor over total_iters."""

    @typed
    def __init__(
        self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1
    ):
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            refuse("LinearLR", "a factor is outside of [0, 1]", (start_factor, end_factor),
                    "above 0 to 1, and 0 to 1", "give shares of the rate")  # fmt: skip
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self._rates()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return [lr * (1.0 + rise / before) for lr in self._rates()]

    def _get_closed_form_lr(self):
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * share
        return self._each(lambda lr: lr * factor)


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    @typed
    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial:
            return self._rates()
        return [lr * self.gamma for lr in self._rates()]

    def _get_closed_form_lr(self):
        return self._each(lambda lr: lr * self.gamma**self.last_epoch)


class PolynomialLR(LRScheduler):
    """Down to 0 over total_iters epochs, by a power of what is left of them."""

    @typed
    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _left(self, epoch):
        return 1.0 - epoch / self.total_iters

    def get_lr(self):
        epoch = self.last_epoch
        if self._is_initial or epoch > self.total_iters:
            return self._rates()
        factor = (self._left(epoch) / self._left(epoch - 1)) ** self.power
        return [lr * factor for lr in self._rates()]

    def _get_closed_form_lr(self):
        left = self._left(min(self.total_iters, self.last_epoch))
        return self._each(lambda lr: lr * left**self.power)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the first rate down to eta_min over T_max epochs, and up again
    (Loshchilov and Hutter 2017)."""

    @typed
    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        check_epochs("CosineAnnealingLR", "T_max", T_max)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch):
        """What is left of the way down at an epoch, times two."""
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def get_lr(self):
        low, epoch = self.eta_min, self.last_epoch
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and epoch > 0:  # it goes on from an earlier run
            return [low + (base - low) * self._height(epoch) / 2 for base in self.base_lrs]
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the lowest point nothing grows
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - low) * rise for lr, base in zip(self._rates(), self.base_lrs)]
        factor = self._height(epoch) / self._height(epoch - 1)
        return [low + (lr - low) * factor for lr in self._rates()]

    def _get_closed_form_lr(self):
        low, height = self.eta_min, self._height(self.last_epoch)
        return self._each(lambda base: low + (base - low) * height / 2)
