"""Optimizers: they write better values over parameters, from the gradients that backward() left.

Every update is made of ordinary tensor ops, and what is remembered between steps (momenta, the step
count) is tensors made when the optimizer is, so a step may be traced as it is.
"""

from . import lr_scheduler
from .adam import Adam, AdamW
from .adaptive import Adagrad, RMSprop
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
