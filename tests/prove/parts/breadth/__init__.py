"""The lines of breadth, each in the file named after what it is about."""

from . import clients, coverage, derivatives, eager, ports, samples, size, tasks

LINES = [m.LINE for m in (samples, coverage, derivatives, clients, ports, tasks, size, eager)]
