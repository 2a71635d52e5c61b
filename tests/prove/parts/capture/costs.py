"""Line 8: what calls of captured functions cost, in one run of tests/bench/costs.py on one core."""

import json
import sys

from ..proof import LOGS, Line, Missing, require, run

LINE = Line(8, "Call costs, in one run on one core", proof="capture", shares_figures=True)
measured = []


def measure():
    """Fills `measured`."""
    if measured:
        return
    LOGS.mkdir(parents=True, exist_ok=True)
    target = LOGS / "costs.json"
    target.unlink(missing_ok=True)
    done = run("costs", sys.executable, "tests/bench/costs.py", "--json", target)
    if not target.exists():
        raise Missing(f"it ended with {done.code} and wrote no figures; whole log: {done.log}")
    measured.extend(json.loads(target.read_text()))


def add(kind, title):
    @LINE.part(title, minutes=1)
    def show():
        measure()
        lines = [line for line in measured if line["kind"] == kind]
        require(lines, "it was not measured")
        figure = "; ".join(f"{line['what']} {line['told']}" for line in lines)
        require(all(line["passed"] for line in lines), figure)
        return figure


add("peers", "compiled x + 1 against ONNX Runtime, a traced step of an MLP against JAX")
add("guards", "modules of 200 parameters, nothing changed: a call over its program")
add("capture", "ResNet-50 and BERT-base: a first call over eager")
