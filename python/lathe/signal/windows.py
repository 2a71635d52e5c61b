"""Windows under the names of torch.signal.windows: op definitions."""

from .._modules import entries

__getattr__, __dir__ = entries(globals(), "signal.windows")
