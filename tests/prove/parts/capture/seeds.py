"""Line 7: rows of the seed documents, each shown by tests that docs/seeds.md names."""

import re
import sys
from collections import Counter

from ..proof import BUILD_PYTHON, ROOT, Line, Missing, cpp_run, require, run

LINE = Line(7, "Rows TR, SC, DY, EX, IR of the seeds: every one shown", proof="capture")
GROUPS = {"TR": 14, "SC": 19, "DY": 10, "EX": 21, "IR": 22}
EVERY = [f"{group}-{k:02}" for group, count in GROUPS.items() for k in range(1, count + 1)]
EXCUSE = re.compile(r"Not: .*\((?:a )?(missing device|issue \d+): [^)]+\)")
TESTS = ROOT / "tests/python"


def page_tools():
    """tests/python/seeds/rows.py, which writes docs/seeds.md and reads it."""
    sys.path.insert(0, str(TESTS / "seeds"))
    try:
        import rows
    finally:
        sys.path.pop(0)
    return rows


def texts():
    """{row: what the page says of it}, of the rows of this line."""
    lines = (ROOT / "docs/seeds.md").read_text().splitlines()
    found = {line[2:7]: line.split(" | ")[1] for line in lines if line[2:7] in EVERY}
    return {row: found.get(row) for row in EVERY}


def verdict(text):
    if text is None:
        return "absent"
    if not text.startswith("partly"):
        return "shown"
    excuse = EXCUSE.search(text)
    return excuse[1] if excuse else "partly"


@LINE.part(f"each of the {len(EVERY)} rows is on the page, none in part without a missing device")
def verdicts():
    by_row = {row: verdict(text) for row, text in texts().items()}
    counts = Counter(by_row.values())
    figure = ", ".join(f"{count} {what}" for what, count in counts.most_common())
    open_rows = [f"{row} {what}" for row, what in by_row.items() if what in ("absent", "partly")]
    require(not open_rows, f"{figure}: {', '.join(open_rows)}")
    return figure


def run_python(names):
    """{test: status} of the Python tests of these names."""
    functions = sorted({name.rpartition("::")[2] for name in names})
    defined = re.compile(rf"def ({'|'.join(functions)})\b")
    files = [p for p in sorted(TESTS.rglob("test_*.py")) if defined.search(p.read_text())]
    command = [BUILD_PYTHON, "-m", "pytest", "-q", "--no-header", "-rA", "--show-capture=no"]
    done = run("seed-rows-python", *command, *files, "-k", " or ".join(functions))
    found = re.findall(r"^(PASSED|FAILED|ERROR) (\S+::\S+)", done.text, re.M)
    if not found:
        raise Missing(f"no test ran; whole log: {done.log}")
    return {test: status.lower() for status, test in found}


def run_cpp(names):
    """{test: status} of the C++ tests of these names."""
    pattern, found = ":".join(f"*{name}*" for name in names), []
    for program in ("lathe_tests", "lathe_bits"):
        done, _ = cpp_run(f"seed-rows-{program}", pattern, program)
        found += re.findall(r"^\[ +(OK|FAILED) +\] (\S+)", done.text, re.M)
    return {test: "passed" if status == "OK" else "failed" for status, test in found}


@LINE.part("every test that these rows name runs and passes", minutes=3)
def tests_pass():
    rows = page_tools()
    page = "\n".join(
        line for line in (ROOT / "docs/seeds.md").read_text().splitlines() if line[2:7] in EVERY
    )
    names = {name for named in rows.rows_of(page).values() for name in named}
    python = {name for name in names if name.rpartition("::")[2].startswith("test_")}
    cpp = {name for name in names if re.fullmatch(r"[A-Z]\w+\.\w+", name)}
    came_to = run_python(sorted(python)) | run_cpp(sorted(cpp))
    bad = rows.not_shown(page, {"full": False, "tests": came_to})
    require(not bad, "; ".join(f"{row}: {why}" for row, why in bad.items()))
    return f"{len(names)} tests of {len(rows.rows_of(page))} rows"
