"""The lines of "Must show", each in the file named after what it is about."""

from . import bits, checks, demo, errors, graphs, machine, ops, pages, speed

ALL = sorted(
    (
        machine.LINE,
        demo.LINE,
        graphs.EXPLAIN,
        ops.LINE,
        bits.LINE,
        graphs.SHAPES,
        speed.LINE,
        checks.LINE,
        errors.LINE,
        pages.LINE,
    ),
    key=lambda line: line.number,
)
