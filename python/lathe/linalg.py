"""Linear algebra under the names of torch.linalg: op definitions."""

from ._lathe import LinAlgError  # noqa: F401
from ._modules import entries

__getattr__, __dir__ = entries(globals(), "linalg")
