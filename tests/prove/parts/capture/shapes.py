"""Line 5: one trace and one program for all shapes."""

import re

from ..proof import Line, python_tests, require

LINE = Line(5, "One trace for 1,000 random shapes: six programs", proof="capture")
PROGRAMS, SHAPES, QUICK = 6, 1_000, 200


def programs(count):
    done = python_tests(f"shapes-{count}", "tests/python/jit/test_shape_programs.py", "-s",
                        SHAPES=str(count))  # fmt: skip
    line = rf"^\.?(\S[^:\n]*): {count} calls, (\d+) different shapes, 1 trace$"
    told = re.findall(line, done.text, re.M)
    small = re.findall(r" with 0 and 1: .*, (\d+) traces$", done.text, re.M)
    require(len(told) == PROGRAMS, f"{len(told)} of {PROGRAMS} programs; whole log: {done.log}")
    return (
        f"one trace each for {count} calls; "
        + ", ".join(f"{n} {k} shapes" for n, k in told)
        + f"; with sizes of 0 and 1 too {', '.join(small)} traces"
    )


@LINE.part("MLP, attention, CNN, LSTM, TreeLSTM, NMS: eager's bytes", minutes=5,
           quick=lambda: programs(QUICK))  # fmt: skip
def all_shapes():
    return programs(SHAPES)
