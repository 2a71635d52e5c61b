"""Reductions that leave masked elements out, under the names of torch.masked: op definitions."""

from ._modules import entries

__getattr__, __dir__ = entries(globals(), "masked")
