"""Schedules of schedules, and the one that looks at a metric."""

import math
from bisect import bisect_right

from .._errors import typed
from .schedule import (
    LRScheduler,
    check_optimizer,
    may_be_put_off,
    number,
    per_group,
    put_rate,
    refuse,
)


class SequentialLR(LRScheduler):
    """One schedule after the other; each begins at its milestone."""

    _not_state = ("optimizer", "_schedulers")

    @typed
    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        _check_several(self, schedulers, optimizer)
        if any(isinstance(scheduler, ReduceLROnPlateau) for scheduler in schedulers):
            refuse("SequentialLR", "a schedule wants a metric at each step", "ReduceLROnPlateau",
                    "schedules that count steps", "step it by itself")  # fmt: skip
        if len(milestones) != len(schedulers) - 1:
            refuse("SequentialLR", "there is not one milestone between each two schedules",
                    f"{len(schedulers)} schedules, {len(milestones)} milestones",
                    f"{len(schedulers) - 1} milestones",
                    "say when each but the first begins")  # fmt: skip
        self.optimizer = optimizer
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            put_rate(group, number(group["initial_lr"]))
        for scheduler in self._schedulers:
            _take_back(scheduler)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    @may_be_put_off
    @typed
    def step(self):
        """Moves on by one."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self):
        """Everything but the optimizer; of the schedules, their states."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        for scheduler, part in zip(self._schedulers, state.pop("_schedulers")):
            scheduler.load_state_dict(part)
        vars(self).update(state)


class ChainedScheduler(SequentialLR):
    """Several schedules at once: each step, one changes what the one before it gave."""

    @typed
    def __init__(self, schedulers, optimizer=None):
        schedulers = list(schedulers)
        if not schedulers:
            refuse("ChainedScheduler", "there is no schedule", "[]", "one or more",
                    "give the schedules")  # fmt: skip
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        _check_several(self, schedulers, optimizer)
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = self._rates()

    @may_be_put_off
    @typed
    def step(self):
        """Moves each on by one."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()


def _take_back(scheduler):
    """Takes back the step that a schedule, or each that it is made of, made when it was made."""
    parts = getattr(scheduler, "_schedulers", None)
    if parts is None:
        scheduler.last_epoch -= 1
    for part in parts or ():
        _take_back(part)


def _check_several(made, schedulers, optimizer):
    name = type(made).__name__
    if not schedulers:
        refuse(name, "there is no schedule", "[]", "one or more", "give the schedules")
    for scheduler in schedulers:
        if getattr(scheduler, "optimizer", None) is not optimizer:
            refuse(name, "a schedule is of another optimizer", type(scheduler).__name__,
                    "all of one optimizer", "make them for the same one")  # fmt: skip


class ReduceLROnPlateau(LRScheduler):
    """Times factor when a metric has not improved for more than `patience` steps.

    mode: whether the metric should be small ("min") or large; threshold: by how much more counts as
    better, in proportion ("rel") or as it is ("abs"). cooldown: steps after a change that do not
    count.
    """

    @typed
    def __init__(
        self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4,  # not an op: a name
        threshold_mode="rel", cooldown=0, min_lr=0, eps=1e-8,
    ):  # fmt: skip
        check_optimizer(self, optimizer)
        name = "ReduceLROnPlateau"
        if factor >= 1.0:
            refuse(name, "factor must be below 1", factor, "below 1", "leave it out for 0.1")
        if mode not in ("min", "max") or threshold_mode not in (  # not an op: a name
            "rel",
            "abs",  # not an op: a name
        ):  # not an op: settings
            refuse(name, "an unknown mode", f"{mode!r}, {threshold_mode!r}",
                    "'min' or 'max', 'rel' or 'abs'", "leave them out")  # fmt: skip
        self.optimizer, self.factor, self.patience, self.mode = optimizer, factor, patience, mode
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.eps, self.last_epoch = cooldown, eps, 0
        self.min_lrs = per_group(name, optimizer, "min_lr", min_lr)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.mode_worse = math.inf if mode == "min" else -math.inf  # not an op: a setting
        self._last_lr = self._rates()
        self._reset()

    def _reset(self):
        self.best, self.num_bad_epochs, self.cooldown_counter = self.mode_worse, 0, 0

    @property
    def in_cooldown(self):
        """Whether steps do not count yet, after a change."""
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        """Whether a metric is better than the best so far."""
        down = self.mode == "min"  # not an op: a setting
        if self.threshold_mode == "rel":
            limit = best * (1 - self.threshold if down else 1 + self.threshold)
        else:
            limit = best - self.threshold if down else best + self.threshold
        return a < limit if down else a > limit

    @typed
    def step(self, metrics, epoch=None):
        """Looks at the metric of one more epoch."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            lows = self._lowest()
            self._set([self._reduced(lr, low) for lr, low in zip(self._rates(), lows)])
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _lowest(self):
        """min_lr of each group; those that were added since take the one that is for all."""
        groups = len(self.optimizer.param_groups)
        if len(self.min_lrs) != groups:
            if self.default_min_lr is None:
                refuse("ReduceLROnPlateau", "groups were added after min_lr was given for each",
                        f"{groups} groups, {len(self.min_lrs)} rates", "one for each group",
                        "append to min_lrs, or give one min_lr for all")  # fmt: skip
            self.min_lrs = [self.default_min_lr] * groups
        return self.min_lrs

    def _reduced(self, lr, low):
        new = max(lr * self.factor, low)
        return new if lr - new > self.eps else lr

    def load_state_dict(self, state_dict):
        vars(self).update(state_dict)
