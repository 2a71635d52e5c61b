"""The lines of the spine, each in the file named after what it is about."""

from . import bits, checks, demo, errors, graphs, machine, ops, pages, speed

LINES = sorted(
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
