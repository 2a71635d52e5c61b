"""Modules to build networks of, their parameters, and functions, losses and starting values.

A Module is an object whose attributes are its parts: every Parameter and every Module among them
is found by name (named_parameters, state_dict), in the order in which they were set. Buffers are
tensors that belong to the state without being trained; register_buffer names them.
"""

from . import (
    activations,
    adaptive_softmax,
    attention,
    containers,
    conv,
    distance,
    embedding,
    functional,
    images,
    init,
    layers,
    lazy,
    losses,
    module,
    norms,
    parameter,
    parameter_containers,
    pooling,
    recurrent,
    transformer,
    utils,
)
from .module_state import StateDictError as StateDictError

__all__ = ["StateDictError", "functional", "init", "utils"]


def _take(part):
    """What a file of this folder defines for users is a name of lathe.nn."""
    for name, value in vars(part).items():
        if isinstance(value, type) and value.__module__ == part.__name__ and name[0] != "_":
            globals()[name] = value
            __all__.append(name)


for _part in (
    activations, adaptive_softmax, attention, containers, conv, distance, embedding, images, layers,
    lazy, losses, module, norms, parameter, parameter_containers, pooling, recurrent, transformer,
):  # fmt: skip
    _take(_part)


def __getattr__(name):
    if name != "modules":  # PyTorch's files; few programs go there
        raise AttributeError(f"module 'lathe.nn' has no attribute '{name}'")
    import importlib

    return importlib.import_module(".modules", __name__)
