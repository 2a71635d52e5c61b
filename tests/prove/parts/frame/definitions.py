"""Line 5: contractions as definitions of a few lines; a composite claimed by a shared object."""

import re

from ..proof import Line, cpp_run, cpp_tests, existing, python_tests, require

SOURCE = "tests/cpp/kernels/contract_definitions_test.cpp"
WANTED = ("scratch_conv3d", "scratch_transposed", "scratch_int8")
MOST = 12  # lines a definition
LINE = Line(5, "Definitions of a few lines; a composite claimed whole", proof="frame")


def lines_of_definitions(text):
    """{name: lines} of the statements `r.contract("name(...` of a source."""
    found = {}
    for statement in re.findall(r"^  r\.contract\(.*?\);$", text, re.M | re.S):
        found[re.search(r'"(\w+)\(', statement).group(1)] = statement.count("\n") + 1
    return found


@LINE.part("conv3d, transposed convolution, int8 x int8 -> int32: lines")
def lines():
    found = lines_of_definitions(existing(SOURCE).read_text())
    absent = [name for name in WANTED if name not in found]
    require(not absent, f"{', '.join(absent)}: not in {SOURCE}")
    told = ", ".join(f"{name.removeprefix('scratch_')} {found[name]}" for name in WANTED)
    require(all(found[name] <= MOST for name in WANTED), told)
    return f"{told} (at most {MOST})"


@LINE.part("their values, derived gradients, traces and texts")
def values():
    return cpp_tests("definitions", "ContractDefinitions.*")


@LINE.part("attention claimed whole from a shared object keeps the gradients' bits", minutes=2)
def claims():
    return python_tests("claims", "tests/python/test_claims.py").last(r"\d+ passed.*? in")[:-3]


@LINE.part("random programs whose composites are claimed keep their bits", minutes=2)
def random_programs():
    # Those of odd seeds: tests/bits/claims.h. The test itself fails where a mode took none whole.
    done, _ = cpp_run(
        "claims-random",
        "RandomPrograms/QuickPart.*/0:RandomPrograms/QuickPart.*/1",
        program="lathe_bits",
    )
    figure = done.last(r"^claims: (.*)$")
    least = re.search(r"at least (\d+) in each mode", figure)
    require(least and int(least.group(1)) > 0, f"{figure}; whole log: {done.log}")
    return figure
