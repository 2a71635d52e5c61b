"""A module called with other parameters than its own."""

from ...func import functional_call

__all__ = ["functional_call"]
