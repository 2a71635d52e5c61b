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

from ..._lathe import Tensor
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


def typename(obj, /):
    """The name of an object's type, of a tensor that of its elements'."""
    if isinstance(obj, Tensor):
        return f"torch.{_parts.LEGACY_NAMES.get(obj.dtype.name, 'Tensor')}"
    return f"{type(obj).__module__}.{type(obj).__qualname__}"


def __getattr__(name):
    return getattr(lathe, name)


def __dir__():
    return sorted({*globals(), *dir(lathe)})


# So that `import lathe.compat.torch.nn.functional as F` finds the module that there is.
for _name in (
    "amp", "autograd", "autograd.forward_ad", "autograd.functional", "backends", "backends.cuda",
    "backends.cudnn", "backends.mps", "cuda", "distributions", "fft", "func", "linalg", "nn",
    "nn.functional", "nn.modules",
    "mps", "nn.attention", "nn.init", "nn.parameter", "autograd.graph",
    "nn.utils", "nn.utils.rnn", "nn.utils.parametrize",
    "nn.utils.parametrizations", "nn.utils.stateless", "optim", "optim.lr_scheduler",
    "optim.swa_utils", "random",  # not an op: a module
    "serialization", "special", "utils", "utils.checkpoint",
    "utils.data", "utils.dlpack", "xpu",
):  # fmt: skip
    __import__(f"lathe.{_name}")
    sys.modules[f"{__name__}.{_name}"] = sys.modules[f"lathe.{_name}"]
for _name in [n for n in sys.modules if n.startswith("lathe.nn.modules.")]:
    sys.modules[f"{__name__}{_name.removeprefix('lathe')}"] = sys.modules[_name]
sys.modules[f"{__name__}.jit"] = jit
sys.modules[f"{__name__}.cuda.amp"] = lathe.cuda.amp
__path__ = []  # nothing else is found inside
