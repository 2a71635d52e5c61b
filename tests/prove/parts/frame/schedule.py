"""Line 3: a schedule that changes the rate at each step costs no trace, no kernel, no memory."""

import re

from ..proof import Line, python_tests

TESTS = "tests/python/jit/test_trace_floats.py"
LINE = Line(
    3, "Adam, a cosine schedule, weight decay by hand, an annealed temperature", proof="frame"
)


def passed(name, *tests):
    return len(re.findall(r"^PASSED", python_tests(name, *tests, "-s").text, re.M))


@LINE.part("at most three traces; losses equal eager's, bit for bit")
def traces():
    done = python_tests("schedule", f"{TESTS}::test_a_schedule_costs_no_trace", "-s")
    return "; ".join(re.findall(r"^\w+: \d+ traces, .* losses equal$", done.text, re.M))


@LINE.part("no kernel after the fourth call")
def kernels():
    test = "test_a_schedule_makes_no_kernel_after_the_fourth_call"
    done = python_tests("schedule-kernels", f"{TESTS}::{test}", "-s")
    return done.last(r"^\d+ kernels in a run of 4 steps, .*")


@LINE.part("100,000 steps: traces, kernels, RSS, time against a constant rate", minutes=3)
def long_run():
    done = python_tests("schedule-long", f"{TESTS}::test_100_000_steps_of_a_schedule", "-s")
    return done.last(r"100,000 steps: .*")


@LINE.part("programs that are dropped free their memory", minutes=2)
def dropped():
    tests = (
        "test_programs_that_are_dropped_free_their_memory",
        "test_programs_that_are_replaced_are_freed",
    )
    return f"{passed('schedule-dropped', *(f'{TESTS}::{t}' for t in tests))} tests"
