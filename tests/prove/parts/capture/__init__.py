"""The lines of capture, each in the file named after what it is about."""

from . import control, costs, front_end, fuzzing, ports, programs, seeds, shapes, training, traps

LINES = sorted(
    [
        traps.LINE,
        training.LINE,
        ports.LINE,
        programs.LINE,
        shapes.LINE,
        control.LINE,
        costs.LINE,
        seeds.LINE,
        front_end.LINE,
        fuzzing.LINE,
    ],  # fmt: skip
    key=lambda line: line.number,
)
