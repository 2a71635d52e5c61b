"""Line 2: training by the common idiom, `model = lt.trace(model)`."""

import re

from ..proof import Line, require
from ..suites import suite

LINE = Line(2, "Models traced, gradients taken outside", proof="capture")
MODELS = 5


@LINE.part("five ports: bits of first and second order; at most 1.15 of a whole trace, 1 of eager",
           minutes=2)  # fmt: skip
def five():
    done = suite("training", "tests/suites/training/run.py", modules=("torch",))
    told = re.findall(r"^(?:PASS|FAIL) (.*) \(", done.text, re.M)
    bad = re.findall(r"^FAIL (\S+?):? ", done.text, re.M)
    figure = "; ".join(told)
    require(len(told) == MODELS and not bad, f"{figure}; not: {', '.join(bad)}")
    return figure
