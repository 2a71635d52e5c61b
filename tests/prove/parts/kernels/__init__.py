"""The lines of kernels, each in the file named after what it is about."""

from . import eager, engines, first_calls, groups, memory, old, ptx, race, seeds

LINES = sorted(
    [
        race.LINE,
        eager.LINE,
        engines.LINE,
        old.LINE,
        groups.LINE,
        first_calls.LINE,
        memory.LINE,
        ptx.LINE,
        seeds.LINE,
    ],  # fmt: skip
    key=lambda line: line.number,
)
