"""Line 6: first calls of traced functions in fresh processes, and rewriting large graphs."""

import json
import sys

from ..proof import LOGS, Line, Missing, require, run

LINE = Line(6, "First calls, cold and cached; large graphs", proof="kernels", shares_figures=True)
measured = []


def measure():
    """Fills `measured`."""
    if measured:
        return
    LOGS.mkdir(parents=True, exist_ok=True)
    target = LOGS / "first-calls.json"
    target.unlink(missing_ok=True)
    done = run("first-calls", sys.executable, "tests/bench/first_calls.py", "--json", target)
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


add("function", "a function of 20 ops, imports included")
add("networks", "ResNet-50 and BERT-base, over a call of the network itself")
add("graphs", "10,000 nodes, and 1,000 chained slices: captured, rewritten and planned")
