"""Lines 3 and 6: what explain() says, and one program for every shape."""

import re

from ..proof import Line, cpp_tests, python_tests

EXPLAIN = Line(3, "explain(): a reason with numbers at every step, each flipped by a test")
SHAPES = Line(6, "One compiled gelu(x @ w + b) serves 1,000 random shapes")


@EXPLAIN.part("reasons of gelu(x @ w + b) and of the frozen network; flipped; bits unchanged")
def reasons():
    done = python_tests("explain", "tests/python/jit/test_explain.py", "-s")
    told = re.findall(r"^explained: (.*)", done.text, re.M)
    return "; ".join([f"{len(re.findall('^PASSED', done.text, re.M))} tests", *told])


@EXPLAIN.part("verdicts of the table")
def table():
    return cpp_tests("explain-table", "KernelsTable*:KernelsVendor*")


@SHAPES.part("traces = programs = 1, kernels <= groups, fallbacks = 0")
def shapes():
    done = python_tests("shapes", "tests/python/jit/test_shapes.py", "-s")
    return done.last(r"shapes \d+, .*")


@SHAPES.part("the same in C++")
def shapes_in_cpp():
    return cpp_tests("shapes-cpp", "*OneProgramServesAllShapes*")
