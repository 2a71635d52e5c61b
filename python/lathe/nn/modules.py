"""PyTorch's files of modules by their names: `from lathe.nn.modules.batchnorm import _BatchNorm`.

Programs go there for the classes that modules have in common, to ask isinstance() or to derive from
them, and for the tuples of `utils`. Each file has all classes of lathe.nn, beside its own names.
"""

import sys
from itertools import repeat
from types import ModuleType

from .. import nn as _nn
from . import activations, conv, losses, module_hooks, norms, pooling
from .module import Module  # noqa: F401


def _ntuple(n, name=None):
    """The function that makes n of one value, and a tuple of several."""

    def several(x):
        return tuple(x) if hasattr(x, "__iter__") else tuple(repeat(x, n))

    if name is not None:
        several.__name__ = name
    return several


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes `prefix` off the keys of a state_dict, in place, and off those of its metadata."""
    for key in [k for k in state_dict if k.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None) or {}
    for key in [k for k in metadata if k and (k == prefix[:-1] or k.startswith(prefix))]:
        metadata[key[len(prefix) :]] = metadata.pop(key)


_OWN = {
    "activation": {}, "adaptive": {},
    "batchnorm": {"_BatchNorm": norms._BatchNorm, "_NormBase": norms._Tracking},
    "channelshuffle": {}, "container": {},
    "conv": {"_ConvNd": conv._Conv, "_ConvTransposeNd": conv._TransposedConvolution},
    "distance": {}, "dropout": {"_DropoutNd": activations._Dropping},  # not an op: a name
    "flatten": {}, "fold": {}, "lazy": {}, "linear": {},  # not an op: a name
    "instancenorm": {"_InstanceNorm": norms._InstanceNorm}, "loss": {"_Loss": losses._Loss},
    "module": {
        name: getattr(module_hooks, name)
        for name in dir(module_hooks) if name.startswith("register_module_")
    },
    "normalization": {}, "padding": {},
    "pixelshuffle": {},
    "pooling": {
        "_MaxPoolNd": pooling._MaxPool, "_MaxUnpoolNd": pooling._MaxUnpool,
        "_AdaptiveAvgPoolNd": pooling._AdaptiveAvgPool,
        "_AdaptiveMaxPoolNd": pooling._AdaptiveMaxPool, "_LPPoolNd": pooling._LPPool,
    },
    "rnn": {}, "sparse": {}, "transformer": {}, "upsampling": {},
    "utils": {
        "_ntuple": _ntuple, "_single": _ntuple(1, "_single"), "_pair": _ntuple(2, "_pair"),
        "_triple": _ntuple(3, "_triple"), "_quadruple": _ntuple(4, "_quadruple"),
        "consume_prefix_in_state_dict_if_present": consume_prefix_in_state_dict_if_present,
    },
}  # fmt: skip


class _File(ModuleType):
    def __getattr__(self, name):
        found = None if name.startswith("_") else getattr(_nn, name, None)
        if isinstance(found, type):
            return found
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self):
        return sorted({*vars(self), *(n for n in dir(_nn) if isinstance(getattr(_nn, n), type))})


def _file(name, own):
    made = _File(f"{__name__}.{name}", f"PyTorch's torch.nn.modules.{name}.")
    vars(made).update(own)
    sys.modules[made.__name__] = made
    return made


globals().update({name: _file(name, own) for name, own in _OWN.items()})
__path__ = []  # its files are made above


def __getattr__(name):
    found = None if name.startswith("_") else getattr(_nn, name, None)
    if isinstance(found, type):
        return found
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
