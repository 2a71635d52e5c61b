"""Intel devices, of which there are none: what programs ask before they use one is answered, what
needs one is a DeviceError."""

from ._lathe import MemoryError as OutOfMemoryError  # noqa: F401
from ._no_device import absent

globals().update(absent("xpu"))
