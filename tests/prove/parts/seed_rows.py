"""Rows of the seed documents, each shown by tests that docs/seeds.md names: a line of a proof."""

import re
import sys
from collections import Counter

from .proof import BUILD_PYTHON, ROOT, Line, Missing, cpp_run, require, run

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


def lines_of(every):
    """{row: its line on the page}, of these rows."""
    lines = (ROOT / "docs/seeds.md").read_text().splitlines()
    return {line[2:7]: line for line in lines if line[2:7] in every}


def verdict(text):
    if text is None:
        return "absent"
    if not text.startswith("partly"):
        return "shown"
    excuse = EXCUSE.search(text)
    return excuse[1] if excuse else "partly"


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


def verdicts(every):
    """The figure of what the page says of these rows; Missing if one is not shown."""
    said = lines_of(every)
    by_row = {row: verdict(said[row].split(" | ")[1] if row in said else None) for row in every}
    counts = Counter(by_row.values())
    figure = ", ".join(f"{count} {what}" for what, count in counts.most_common())
    open_rows = [f"{row} {what}" for row, what in by_row.items() if what in ("absent", "partly")]
    require(not open_rows, f"{figure}: {', '.join(open_rows)}")
    return figure


def tests_pass(every):
    """The figure of the tests that these rows name."""
    rows = page_tools()
    page = "\n".join(lines_of(every).values())
    names = {name for named in rows.rows_of(page).values() for name in named}
    python = {name for name in names if name.rpartition("::")[2].startswith("test_")}
    cpp = {name for name in names if re.fullmatch(r"[A-Z]\w+\.\w+", name)}
    came_to = run_python(sorted(python)) | run_cpp(sorted(cpp))
    bad = rows.not_shown(page, {"full": False, "tests": came_to})
    require(not bad, "; ".join(f"{row}: {why}" for row, why in bad.items()))
    return f"{len(names)} tests of {len(rows.rows_of(page))} rows"


def line_of(number, proof, groups):
    """The line of a proof about the rows of these groups: {letters: how many}."""
    every = [f"{group}-{k:02}" for group, count in groups.items() for k in range(1, count + 1)]
    line = Line(number, f"Rows {', '.join(groups)} of the seeds: every one shown", proof=proof)
    line.part(
        f"each of the {len(every)} rows is on the page, none in part without a missing device"
    )(lambda: verdicts(every))
    line.part("every test that these rows name runs and passes", minutes=3)(
        lambda: tests_pass(every)
    )
    return line
