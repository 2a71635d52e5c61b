"""Changing the learning rate by plan: step(), after each epoch, sets "lr" in every group."""

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
    """The base: a subclass says the factor on each group's first learning rate at a step."""

    @typed
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.last_epoch = -1
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.step()

    def factor(self, epoch):
        raise NotImplementedError

    @typed
    def step(self):
        """Moves on by one."""
        self.last_epoch += 1
        factor = self.factor(self.last_epoch)
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"] * factor

    def get_last_lr(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self):
        return {"last_epoch": self.last_epoch}

    @typed
    def load_state_dict(self, state_dict):
        self.last_epoch = state_dict["last_epoch"]


class LambdaLR(LRScheduler):
    """The factor is lr_lambda(epoch)."""

    def __init__(self, optimizer, lr_lambda):
        self.factor = lr_lambda
        super().__init__(optimizer)


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1):
        _check_epochs("StepLR", "step_size", step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def factor(self, epoch):
        return self.gamma ** (epoch // self.step_size)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from 1 down to eta_min over T_max epochs (Loshchilov and Hutter 2017)."""

    def __init__(self, optimizer, T_max, eta_min=0.0):
        _check_epochs("CosineAnnealingLR", "T_max", T_max)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def factor(self, epoch):
        first = self.optimizer.param_groups[0]["initial_lr"]
        low = self.eta_min / first
        return low + (1 - low) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2
