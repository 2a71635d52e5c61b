"""Which row of the seed documents a test shows; docs/seeds.md is written from this.

./dev python tests/python/seeds/rows.py writes the page anew: rows from the tests of this folder, by
their decorator, and rows that other tests show, from elsewhere.txt.
"""

import importlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs/seeds.md"
HEAD = """# Seed programs and claims that work today

The five seed documents list what such a system should show, by row (EA-01 and so on). This page
names the rows that work today and the test that shows each. "Partly" says what of the row is
missing. A row that is not here is not there yet, or has no test of its own. Python tests are in
`tests/python`, C++ tests (with a dot in the name) in `tests/cpp`. The page is written by
`tests/python/seeds/rows.py` from the tests; a test checks that it is up to date.
"""
GROUPS = {
    "EA": "Eager execution and the tape",
    "TR": "Tracing",
    "SC": "Scripting native control flow",
    "DY": "Dynamic models and shapes",
    "EX": "Graph, executor and custom ops",
    "RW": "Graph rewriting",
    "VL": "Vendor look-up table",
    "CG": "Code generation",
    "XA": "Building and compiling graphs",
    "CP": "C++ use and deployment",
    "HL": "High-level API and training",
    "PV": "Profiling and visualising",
    "DA": "Devices and accelerators",
    "QC": "Quantisation and low precision",
    "TL": "Tensor languages and neighbours",
    "IR": "Intermediate representations",
    "IO": "Exchange with other systems",
    "MC": "Mobile engines",
    "PF": "Performance claims",
    "PR": "Principles",
}

shown = {}  # row -> (text, test)


def shows(row, text):
    """Marks a test: what of this row it shows. The test is named after one of its rows."""

    def mark(test):
        assert re.match(r"test_[a-z]{2}_\d\d_", test.__name__), test.__name__
        again = row in shown and not shown[row][1].endswith(f"::{test.__name__}`")
        assert not again, f"{row} is shown twice"
        shown[row] = (text, f"`seeds/{Path(test.__code__.co_filename).name}::{test.__name__}`")
        return test

    return mark


def elsewhere():
    rows = {}
    for line in (HERE / "elsewhere.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            row, text, tests = line.split(" | ")
            rows[row] = (text, tests)
    return rows


def page():
    for file in sorted(HERE.glob("test_*.py")):
        importlib.import_module(file.stem)
    rows = elsewhere()
    both = sorted(set(rows) & set(shown))
    assert not both, f"in elsewhere.txt and in a test of this folder: {both}"
    rows.update(shown)
    strangers = [r for r in rows if not re.fullmatch(r"[A-Z]{2}-\d\d", r) or r[:2] not in GROUPS]
    assert not strangers, f"of no group: {strangers}"
    parts = [HEAD, f"{len(rows)} rows.\n"]
    for group, title in GROUPS.items():
        names = sorted(r for r in rows if r.startswith(group))
        if names:
            lines = [f"| {r} | {rows[r][0]} | {rows[r][1]} |" for r in names]
            head = [f"## {title}\n", "| row | what works | shown by |", "|---|---|---|"]
            parts.append("\n".join(head + lines) + "\n")
    return "\n".join(parts)


def missing_tests():
    """Names of tests on the page that are not in the tree."""
    sources = [*HERE.parents[1].rglob("*.py"), *HERE.parents[1].rglob("*.cpp")]
    text = "\n".join(p.read_text() for p in sources)
    named = {
        n for _, tests in {**elsewhere(), **shown}.values() for n in re.findall(r"`([^`]+)`", tests)
    }
    out = []
    for name in sorted(named):
        function = name.split("::")[-1]
        if function.startswith("test_"):
            there = re.search(rf"def {function}\b", text)
        elif re.fullmatch(r"[A-Z]\w+\.\w+", name):
            suite, case = name.split(".")
            there = re.search(rf"TEST(_[FP])?\({suite},\s*{case}\)", text)
        elif name.startswith("./dev check "):
            there = (HERE.parents[1] / f"checks/{name.split()[-1]}.py").exists()
        else:
            there = name.startswith("tests/") and (HERE.parents[2] / name).exists()
        if not there:
            out.append(name)
    return out


if __name__ == "__main__":
    sys.modules["rows"] = sys.modules["__main__"]
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    PAGE.write_text(page())
