"""Optimizers: they write better values over parameters, from the gradients that backward() left.

Every update is made of ordinary tensor ops, and what is remembered between steps (momenta, the step
count) is tensors made when the optimizer is, so a step may be traced as it is. LBFGS, whose next
step depends on the loss, runs eagerly.
"""

from . import lr_scheduler
from .adam import Adam, Adamax, AdamW, NAdam, RAdam, SparseAdam
from .adaptive import Adadelta, Adafactor, Adagrad, RMSprop
from .optimizer import Optimizer
from .sgd import ASGD, SGD, Rprop

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Muon",
    "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip

_FROM = {"LBFGS": "lbfgs", "Muon": "muon"}


def __getattr__(name):
    import importlib

    if name == "swa_utils":
        return importlib.import_module(".swa_utils", __name__)
    if name not in _FROM:
        raise AttributeError(f"module 'lathe.optim' has no attribute '{name}'")
    value = getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)
    globals()[name] = value
    return value
