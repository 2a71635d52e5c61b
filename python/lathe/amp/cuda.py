"""Mixed precision on CUDA devices, of which there are none: scopes warn and do nothing."""

from .. import _lathe
from . import autocast as _autocast
from .scaler import GradScaler  # noqa: F401


class autocast(_autocast):
    """lathe.amp.autocast("cuda", ...), with the arguments of torch.cuda.amp.autocast."""

    def __init__(self, enabled=True, dtype=_lathe.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)
