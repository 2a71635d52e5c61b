"""The lines of capture, each in the file named after what it is about."""

from . import ports, programs, training, traps
from .unbuilt import LINES as UNBUILT

LINES = sorted(
    [traps.LINE, training.LINE, ports.LINE, programs.LINE, *UNBUILT], key=lambda line: line.number
)
