"""Line 4: an op in three edits, and ops that users bring."""

from ..proof import BUILD_PYTHON, Line, existing, python_tests, require, run

LINE = Line(4, "fast_sigmoid in three edits; custom ops from C++ and from Python")


@LINE.part("fast_sigmoid, in a scratch copy", minutes=15)
def three_edits():
    done = run("fast_sigmoid", BUILD_PYTHON, existing("tests/prove/three_edits.py"))
    require(done.code == 0, f"it ended with {done.code}; whole log: {done.log}")
    return done.last(r"fast_sigmoid: .*").removeprefix("fast_sigmoid: ")


@LINE.part("custom ops: eager, traced, saved; from C++ and from Python", minutes=2)
def custom():
    return python_tests("custom-ops", existing("tests/python/test_custom_ops.py")).last(
        r"\d+ passed.*"
    )
