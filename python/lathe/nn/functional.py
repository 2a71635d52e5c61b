"""Functions of networks under PyTorch's names and signatures: op definitions."""

from .._modules import entries

__getattr__, __dir__ = entries(globals(), "functional")
