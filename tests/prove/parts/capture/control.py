"""Line 6: gradients through what data decides."""

from ..proof import Line, python_tests

LINE = Line(6, "Gradients through control flow", proof="capture")
CONTROL = "tests/python/jit/test_control_gradients.py"
STRUCTURES = "tests/python/jit/test_structures.py"


def passed(name, *arguments):
    return python_tests(name, *arguments).last(r"\d+ passed.*? in")[:-3]


@LINE.part("40 scripted functions: gradcheck, and eager's bits", minutes=1)
def first():
    return passed("control-first", CONTROL, "-k", "first_order or forty")


@LINE.part("10 of them in second order", minutes=1)
def second():
    return passed("control-second", CONTROL, "-k", "second_order")


@LINE.part("a loop of 10,000 rounds in bounded memory, by checkpoints", minutes=1)
def long():
    return passed("control-long", STRUCTURES, "-k", "ten_thousand_rounds")


@LINE.part("cond, while_loop, fori_loop, scan, map, associative_scan: eager, trace, script, func",
           minutes=1)  # fmt: skip
def functions():
    return passed("control-functions", STRUCTURES)
