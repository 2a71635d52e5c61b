"""CUDA devices, of which there are none: what programs ask before they use one is answered, what
needs one is a DeviceError."""

from ._lathe import MemoryError as OutOfMemoryError  # noqa: F401
from ._no_device import absent

__path__ = []  # so that lathe.cuda.amp can be imported: see _import_paths.py

globals().update(absent("cuda"))


def __getattr__(name):
    if name != "amp":
        raise AttributeError(f"module 'lathe.cuda' has no attribute '{name}'")
    from .amp import cuda as amp

    return amp
