"""Graph mode: lathe.trace and lathe.script, and the programs of lathe.freeze, save and load."""

from .program import InputSpec, Program, capture, freeze
from .script import Scripted, script
from .trace import Traced, trace

__all__ = ["InputSpec", "Program", "Scripted", "Traced", "capture", "freeze", "script", "trace"]
