"""Tensors to and from other libraries by DLPack, where PyTorch has them."""

from .. import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
