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


# What is imported from inside is found by _import_paths.py, but for what is made here.
for _made in (compiler, distributed, jit, version):
    sys.modules[_made.__name__] = _made
__path__ = []
