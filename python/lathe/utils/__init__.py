"""What surrounds training: data loading, a table of a network, a learning rate to begin with."""

from . import data
from .summary import lr_find, summary

__all__ = ["data", "lr_find", "summary"]
