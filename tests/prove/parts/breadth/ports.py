"""Line 5: thirty programs of PyTorch's with the import changed."""

import re

from ..proof import ROOT, Line, require
from ..suites import suite

LINE = Line(5, "Thirty programs of PyTorch's, one import changed", proof="breadth")
PROGRAMS = 30


def ports(name, *arguments):
    folder = ROOT / "examples/ports"
    found = sorted(p.stem for p in folder.glob("*.py")) if folder.exists() else []
    require(found, "examples/ports is not there")
    done = suite(name, "tests/suites/ports/run.py", *arguments, modules=("torch",))
    right = len(re.findall(r"^PASS ", done.text, re.M))
    bad = re.findall(r"^FAIL (\S+)", done.text, re.M)
    require(right >= PROGRAMS and not bad, f"{right} of {PROGRAMS}; not: {', '.join(bad)}")
    return f"{right} programs"


@LINE.part("losses are PyTorch's, in f64 and f32", minutes=10, quick=lambda: ports("ports"))
def losses():
    return ports("ports")


def under_trace():
    return ports("ports-traced", "--traced")


@LINE.part("with the step under lt.trace: eager's bits", minutes=10, quick=under_trace)
def traced():
    return under_trace()
