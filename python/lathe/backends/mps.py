"""Metal, of which there is none."""

from ..mps import is_available, is_built  # noqa: F401
