"""Line 4: layers without cycles, one entry to dispatch, what an import costs, what calls cost."""

import json
import re
import sys
from collections import Counter

from ..proof import LOGS, ROOT, Line, Missing, existing, require, run

LINE = Line(4, "Layers, one entry to dispatch, import, rows 1 to 4 against before", proof="frame")
BEFORE = "3c8555d"  # the commit before the frame
CUT = ("core", "kernels", "jit", "graph")


@LINE.part("./dev check layers: no cycle of components")
def cycles():
    done = run("layers", "./dev", "check", "layers")
    require(done.code == 0, f"whole log: {done.log}")
    known = ROOT / "tests/checks/known_cycles.txt"
    lines = known.read_text().splitlines() if known.exists() else []
    count = sum(bool(line.strip()) and not line.startswith("#") for line in lines)
    require(not count, f"{count} cycles are listed in {known.name}")
    return f"{done.last('[0-9]+ includes')}, cycles 0"


@LINE.part("sub-folders")
def folders():
    told, loose = [], []
    for top in CUT:
        files = [p.relative_to(ROOT / top) for p in (ROOT / top).rglob("*.[ch]*")]
        count = Counter(p.parts[0] if len(p.parts) > 1 else "" for p in files)
        inside = ", ".join(f"{name} {n}" for name, n in sorted(count.items()) if name)
        told.append(f"{top}: {inside or 'none'} ({count['']} beside them)")
        if count[""] > sum(n for name, n in count.items() if name):
            loose.append(top)
    figure = "; ".join(told)
    require(not loose, f"most files of {', '.join(loose)} are in no sub-folder: {figure}")
    return figure


@LINE.part("rows 1 to 4 of the bench are no slower than before the frame", minutes=8)
def speed():
    LOGS.mkdir(parents=True, exist_ok=True)
    target = LOGS / "against.json"
    target.unlink(missing_ok=True)
    tool = existing("tests/bench/against.py")
    done = run("against", sys.executable, tool, BEFORE, "1", "2", "3", "4", "--json", target)
    if not target.exists():
        reason = re.findall(r"^against\.py: .*", done.text, re.M) or [f"ended with {done.code}"]
        raise Missing(f"{reason[-1]}; whole log: {done.log}")
    told = [
        f"{line['name']}{', ' * bool(way)}{way} {t['ratio']:.2f} +- {t['noise']:.2f}"
        for line in json.loads(target.read_text())
        for way, t in line["ways"].items()
    ]
    require(done.code == 0, "; ".join(told))
    return "; ".join(told)
