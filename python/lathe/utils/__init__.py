"""What surrounds training: data loading, a table of a network, a learning rate to begin with."""

from . import data
from .summary import lr_find, summary

__all__ = ["checkpoint", "data", "dlpack", "lr_find", "summary"]


def __getattr__(name):
    if name not in ("checkpoint", "dlpack"):
        raise AttributeError(f"module 'lathe.utils' has no attribute '{name}'")
    import importlib

    return importlib.import_module(f".{name}", __name__)
