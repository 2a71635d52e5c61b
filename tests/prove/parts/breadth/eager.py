"""Line 8: eager ops against PyTorch's, in the same run, on one core."""

from ..proof import Line, require
from ..suites import suite

LINE = Line(8, "Eager against PyTorch: 80 ops at three sizes", proof="breadth")
OPS, SIZES = 80, 3


def table(name, *arguments):
    done = suite(name, "tests/suites/eager/run.py", *arguments, modules=("torch",))
    figure = done.last(r"^eager: (.*)")
    ops, sizes = map(int, done.last(r"^eager: (\d+) ops, (\d+) sizes"))
    require(ops >= OPS and sizes == SIZES, f"{figure}; {OPS} ops wanted")
    return figure


@LINE.part("the table, with its geometric mean and every op below 0.8", minutes=6,
           quick=lambda: table("eager-short", "--short"))  # fmt: skip
def against():
    return table("eager")
