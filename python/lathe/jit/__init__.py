"""Graph mode: lathe.trace."""

from .trace import Traced, trace

__all__ = ["Traced", "trace"]
