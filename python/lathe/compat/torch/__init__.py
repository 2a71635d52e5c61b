"""Lathe under the names that programs for PyTorch use:

    import lathe.compat.torch as torch
    import lathe.compat.torch.nn as nn

It is all of `lathe`, and the same objects, but where a name means something else there: `trace` is
the sum of a diagonal, `save` and `load` write and read PyTorch's files, `jit` and `compile` take
PyTorch's arguments. What asks for other devices, threads or backends answers for a machine without
a GPU. Nothing here computes anything that `lathe` does not.
"""

import sys

import lathe

from ..._lathe import Tensor, get_flag, set_flag
from ...serialization import load, save  # noqa: F401
from . import _parts
from ._parts import (  # noqa: F401
    compile,
    compiler,
    distributed,
    jit,
    trace,
    version,
)

__version__ = version.__version__
Size = tuple
strided = "strided"
contiguous_format = "contiguous_format"
preserve_format = "preserve_format"
channels_last = "channels_last"

_MINE = dict(vars(_parts.fallbacks))  # where lathe has no such name


def get_num_threads():
    """How many threads operations use."""
    import os

    return int(get_flag("threads")) or len(os.sched_getaffinity(0))


get_num_interop_threads = get_num_threads


def set_num_threads(int, /):
    """How many threads operations use; their results do not depend on it."""
    set_flag("threads", int)


def set_num_interop_threads(int, /):
    """Nothing: operations run one after the other."""


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Nothing: results are deterministic always."""


def are_deterministic_algorithms_enabled():
    return True


def get_float32_matmul_precision():
    """Products of float32 are computed in float32."""
    return "highest"


def set_float32_matmul_precision(precision):
    """Nothing: a lower precision is allowed, not asked for."""


def set_default_device(device):
    """Tensors are made on the cpu; DeviceError for a device that does not exist."""
    if device is not None:
        lathe.device(device)


def typename(obj, /):
    """The name of an object's type, of a tensor that of its elements'."""
    if isinstance(obj, Tensor):
        return f"torch.{_parts.LEGACY_NAMES.get(obj.dtype.name, 'Tensor')}"
    return f"{type(obj).__module__}.{type(obj).__qualname__}"


def __getattr__(name):
    try:
        return getattr(lathe, name)
    except AttributeError:
        if name in _MINE:
            return _MINE[name]
        raise


def __dir__():
    return sorted({*globals(), *dir(lathe), *_MINE})


# So that `import lathe.compat.torch.nn.functional as F` finds the module that there is.
for _name in (
    "amp", "autograd", "autograd.functional", "distributions", "fft", "func", "linalg", "nn",
    "nn.functional",
    "nn.init", "nn.parameter", "autograd.graph", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize",
    "nn.utils.parametrizations", "nn.utils.stateless", "optim", "optim.lr_scheduler",
    "optim.swa_utils", "random",  # not an op: a module
    "serialization", "special", "utils", "utils.checkpoint",
    "utils.data",
):  # fmt: skip
    __import__(f"lathe.{_name}")
    sys.modules[f"{__name__}.{_name}"] = sys.modules[f"lathe.{_name}"]
sys.modules[f"{__name__}.jit"] = jit
__path__ = []  # nothing else is found inside
