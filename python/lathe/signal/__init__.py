"""Signal processing under the names of torch.signal."""

from . import windows as windows
