"""Modules to build networks of, their parameters, and functions, losses and starting values.

A Module is an object whose attributes are its parts: every Parameter and every Module among them
is found by name (named_parameters, state_dict), in the order in which they were set. Buffers are
tensors that belong to the state without being trained; register_buffer names them.
"""

from . import functional, init, utils
from .activations import (
    GELU,
    Hardtanh,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from .containers import ModuleDict, ModuleList, Sequential
from .layers import AvgPool2d, Conv2d, Dropout, Embedding, Flatten, Identity, Linear, MaxPool2d
from .losses import BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from .module import Module, StateDictError
from .norms import BatchNorm1d, BatchNorm2d, LayerNorm
from .parameter import Parameter

__all__ = [
    "AvgPool2d", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "Conv2d", "CrossEntropyLoss",
    "Dropout", "Embedding", "Flatten", "GELU", "Hardtanh", "Identity", "L1Loss", "LayerNorm",
    "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "MaxPool2d", "Module", "ModuleDict",
    "ModuleList", "NLLLoss", "Parameter", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax",
    "Softplus", "StateDictError", "Tanh", "functional", "init", "utils",
]  # fmt: skip
