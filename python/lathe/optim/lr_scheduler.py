"""Changing the learning rate by plan: step(), after each epoch, sets "lr" in every group.

As in PyTorch a rate is computed from the group's current one, so that several schedules of one
optimizer multiply, and a rate set by hand stays; only LambdaLR computes it from the first rate.
"""

import math

from .. import _lathe
from .._errors import typed


def _check_epochs(scheduler, name, epochs):
    if not epochs >= 1:
        raise _lathe.ValueError(
            f"{name} must be positive",
            op=scheduler,
            got=epochs,
            expected="at least 1",
            next="give the number of epochs of one stretch",
        )


class LRScheduler:
    """The base: a subclass defines get_lr(), the groups' rates at the step `last_epoch`.

    last_epoch: the step that an earlier run ended with; the groups then have an "initial_lr".
    base_lrs: the groups' first rates.
    """

    _not_state = ("optimizer",)

    @typed
    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise _lathe.ValueError(
                    "a group has no initial_lr to go on from",
                    op=type(self).__name__,
                    got=f"last_epoch={last_epoch}",
                    expected="last_epoch=-1, or groups with an initial_lr",
                    next="load the optimizer's state_dict first, or leave last_epoch out",
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self.step()

    def get_lr(self):
        """The rate of each group at the step `last_epoch`, from what it is now."""
        raise NotImplementedError

    @typed
    def step(self):
        """Moves on by one."""
        self._step_count += 1
        self.last_epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = lr
        self._last_lr = self._rates()

    def _rates(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self):
        """The rates that the last step() set."""
        return list(self._last_lr)

    def state_dict(self):
        """Everything but the optimizer, and functions."""
        return {k: v for k, v in vars(self).items() if k not in self._not_state}

    @typed
    def load_state_dict(self, state_dict):
        """Takes the state over; the rates themselves are the optimizer's state."""
        self.last_epoch = state_dict["last_epoch"]
        self.__dict__.update(state_dict)


class LambdaLR(LRScheduler):
    """Each group's first rate times lr_lambda(epoch); a list has a function for each group."""

    _not_state = ("optimizer", "lr_lambdas")

    @typed
    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        groups = len(optimizer.param_groups)
        several = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas = list(lr_lambda) if several else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise _lathe.ValueError(
                "there are not as many functions as groups",
                op=type(self).__name__,
                got=f"{len(self.lr_lambdas)} functions",
                expected=f"{groups}, one for each group",
                next="give one function for all groups, or one for each",
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [lr * f(self.last_epoch) for lr, f in zip(self.base_lrs, self.lr_lambdas)]


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    @typed
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        _check_epochs("StepLR", "step_size", step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return [lr * self.gamma for lr in self._rates()]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the first rate down to eta_min over T_max epochs, and up again
    (Loshchilov and Hutter 2017)."""

    @typed
    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        _check_epochs("CosineAnnealingLR", "T_max", T_max)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch):
        """What is left of the way down at an epoch, times two."""
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def get_lr(self):
        low, epoch = self.eta_min, self.last_epoch
        if epoch == 0:
            return self._rates()
        if self._step_count == 1:  # it goes on from an earlier run
            return [low + (base - low) * self._height(epoch) / 2 for base in self.base_lrs]
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the lowest point nothing grows
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - low) * rise for lr, base in zip(self._rates(), self.base_lrs)]
        factor = self._height(epoch) / self._height(epoch - 1)
        return [low + (lr - low) * factor for lr in self._rates()]
