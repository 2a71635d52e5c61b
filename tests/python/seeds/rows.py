"""Which row of the seed documents a test shows; docs/seeds.md is written from this.

./dev python tests/python/seeds/rows.py writes the page anew: rows from the tests of this folder, by
their decorator, and rows that other tests show, from elsewhere.txt.

--verify RESULTS holds the page to a run: RESULTS is what tests/run.py wrote of it, and every test
that a row of the page names must have run and passed there. What only `./dev test --full` runs is
asked of a full run. Ends with "N passed, N failed", a row each.
"""

import argparse
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs/seeds.md"
HEAD = """# Seed programs and claims that work today

The five seed documents list what such a system should show, by row (EA-01 and so on). This page
names the rows that work today and the test that shows each. "Partly" says what of the row is
missing. A row that is not here is not there yet, or has no test of its own. Python tests are in
`tests/python`, C++ tests (with a dot in the name) in `tests/cpp`. The page is written by
`tests/python/seeds/rows.py` from the tests; a test checks that it is up to date, and a whole run of
`./dev test` fails where a test that a row names did not run and pass.
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


# ── the page against a run ──────────────────────────────────────────────────────────────────────


def rows_of(page):
    """{row: names of its tests} of a written page."""
    found = {}
    for line in page.splitlines():
        cells = line.split(" | ")
        if re.match(r"\| [A-Z]{2}-\d\d \|", line + " |"):
            found[cells[0].strip("| ")] = re.findall(r"`([^`]+)`", cells[-1])
    return found


def check_passes(name):
    """Whether this check of ./dev check passes now."""
    command = [sys.executable, HERE.parents[1] / "checks/run.py", name]
    return subprocess.run(command, capture_output=True).returncode == 0


def statuses(name, results):
    """What came of the tests of this name in a run, of each parameter and in each file."""
    if name.startswith("./dev check "):
        return ["passed" if check_passes(name.split()[-1]) else "failed"]
    if name.startswith("tests/"):
        return [results[name]] if name in results else []
    file, _, function = name.rpartition("::")
    if function.startswith("test_"):
        pattern = rf"(.*/)?{re.escape(file) or r'[^:]*'}::(\w+::)?{function}(\[.*\])?"
    else:
        pattern = rf"(.*/)?{re.escape(name)}(/.*)?"
    return [status for test, status in results.items() if re.fullmatch(pattern, test, re.S)]


def only_full(name):
    """Whether only `./dev test --full` runs this: a script, or a test that is marked slow."""
    if name.startswith("tests/") or "Slow" in name:
        return True
    function = name.rpartition("::")[2]
    if not function.startswith("test_"):
        return False
    text = "\n".join(p.read_text() for p in HERE.parents[1].rglob("test_*.py"))
    return re.search(rf"@pytest\.mark\.slow\n(@.*\n)*def {function}\b", text) is not None


def not_shown(page, run):
    """{row: why} of the rows of this page that this run does not show."""
    out = {}
    for row, names in rows_of(page).items():
        whys = [] if names else ["it names no test"]
        for name in names:
            found = statuses(name, run["tests"])
            if not found and not (only_full(name) and not run["full"]):
                whys.append(f"{name} did not run")
            whys += [f"{name}: {status}" for status in sorted(set(found) - {"passed"})]
        if whys:
            out[row] = "; ".join(whys)
    return out


def verify(results):
    page = PAGE.read_text()
    bad = not_shown(page, json.loads(Path(results).read_text()))
    for row, why in bad.items():
        print(f"FAILED docs/seeds.md: {row} is not shown by this run: {why}")
    rows = len(rows_of(page))
    print(f"{rows - len(bad)} passed, {len(bad) or int(rows == 0)} failed")
    return 1 if bad or rows == 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verify", metavar="RESULTS", help="hold the page to this run")
    args = parser.parse_args()
    if args.verify:
        sys.exit(verify(args.verify))
    sys.modules["rows"] = sys.modules["__main__"]
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
