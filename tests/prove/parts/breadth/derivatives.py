"""Line 3: derivatives of both orders and both modes; NumPy's accuracy tables."""

import re

from ..proof import BUILD, BUILD_PYTHON, Line, cpp_run, existing, python_tests, require, run
from ..suites import share

LINE = Line(3, "Derivatives against differences; NumPy's accuracy tables", proof="breadth")


@LINE.part("gradients match differences, twice, for every definition", minutes=5)
def differences():
    _, count = cpp_run("gradients", "Rows/Gradients.*:GradientsLeftOut.*")
    return f"{count} C++ tests"


@LINE.part("forward over reverse for every definition")
def forward_over_reverse():
    done = python_tests(
        "forward-over-reverse", existing("tests/python/func/test_forward_over_reverse.py")
    )
    count = done.last(r"(\d+) passed")
    return f"{count} Python tests"


@LINE.part("all 26,610 points of NumPy's tables are within their bounds", minutes=1)
def points():
    script = existing("tests/suites/umath/run.py")
    done = run("umath", BUILD_PYTHON, script, PYTHONPATH=str(BUILD / "python"))
    within, whole, faults = map(
        int,
        done.last(r"^umath: (\d+) of (\d+) points within bound, (\d+) tables with other faults"),
    )
    off = re.findall(r"^(\w+) +(float\d+) .*(?:worst|no such)", done.text, re.M)
    require(faults == 0, f"{faults} tables with other faults; whole log: {done.log}")
    return share(within, whole, 100, f"{len(off)} tables: points")
