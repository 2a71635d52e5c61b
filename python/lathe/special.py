"""Special functions under the names of torch.special: op definitions."""

from ._modules import entries

__getattr__, __dir__ = entries(globals(), "special")
