"""Modules to build networks of, their parameters, and functions, losses and starting values.

A Module is an object whose attributes are its parts: every Parameter and every Module among them
is found by name (named_parameters, state_dict), in the order in which they were set. Buffers are
tensors that belong to the state without being trained; register_buffer names them.
"""

from . import functional, init, utils
from . import activations as _activations
from .activations import *  # noqa: F403
from .containers import ModuleDict, ModuleList, Sequential
from .layers import AvgPool2d, Conv2d, Embedding, Flatten, Identity, Linear, MaxPool2d
from .losses import BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from .module import Module, StateDictError
from .norms import BatchNorm1d, BatchNorm2d, LayerNorm
from .parameter import Parameter
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell, RNNCellBase

__all__ = [
    "AvgPool2d", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "Conv2d", "CrossEntropyLoss",
    "Embedding", "Flatten", "GRU", "GRUCell", "Identity", "L1Loss", "LSTM", "LSTMCell", "LayerNorm",
    "Linear", "MSELoss", "MaxPool2d", "Module", "ModuleDict", "ModuleList", "NLLLoss", "Parameter",
    "RNN", "RNNBase", "RNNCell", "RNNCellBase", "Sequential", "StateDictError", "functional",
    "init", "utils",
]  # fmt: skip
__all__ += _activations.__all__
