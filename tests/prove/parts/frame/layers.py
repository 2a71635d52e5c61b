"""Line 4: layers without cycles, one entry to dispatch, what an import costs, what calls cost."""

import json
import re
import sys
from collections import Counter

from ..import_time import import_time
from ..proof import LOGS, ROOT, Line, Missing, existing, require, run

LINE = Line(4, "Layers, one entry to dispatch, import, rows 1 to 4 against before", proof="frame")
BEFORE = "3c8555d"  # the commit before the frame
CUT = ("core", "kernels", "jit", "graph")
SEEN = (*CUT, "autodiff", "capi", "python")


@LINE.part("./dev check layers: no cycle of components")
def cycles():
    done = run("layers", "./dev", "check", "layers")
    require(done.code == 0, f"whole log: {done.log}")
    figure = done.last(r"\d+ includes, \d+ rooms, \d+ cycles of \d+ components")
    require(", 0 cycles of" in figure, figure)
    return figure


@LINE.part("one public entry to dispatch")
def one_entry():
    """What headers declare that runs an op; an expansion is what a composite's call runs."""
    text = {p: p.read_text() for top in SEEN for p in sorted((ROOT / top).rglob("*.h"))}
    doors = [
        f"{name} ({path.relative_to(ROOT)})"
        for path, source in text.items()
        for name in re.findall(r"^Outputs (\w+)\(const Op& \w+, Args\b", source, re.M)
        if name not in ("expand", "run_large")  # run_large: call without the interpreter's lock
    ]
    require(doors == ["call (core/dispatch/call.h)"], f"{len(doors)}: {', '.join(doors)}")
    done = run("includes", "grep", "-rlE", r'include "core/dispatch/shortcut\.h"', *SEEN)
    users = sorted(done.text.split())
    strangers = [u for u in users if not u.startswith(("core/dispatch/", "kernels/own/"))]
    require(users and not strangers, f"the shortcut is seen by {', '.join(strangers)}")
    return f"{doors[0]}; the shortcut is seen by {', '.join(users)}"


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


@LINE.part("import over bare Python, with 1,000 definitions too", minutes=2)
def importing():
    return import_time()


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
    lines = json.loads(target.read_text())
    told = [
        f"{line['name']}{', ' * bool(way)}{way} {t['ratio']:.2f} +- {t['noise']:.2f}"
        for line in lines
        for way, t in line["ways"].items()
    ]
    problems = [f"{line['name']}: {problem}" for line in lines for problem in line["problems"]]
    require(done.code == 0, "; ".join([*problems, *told]))
    return "; ".join(told)
