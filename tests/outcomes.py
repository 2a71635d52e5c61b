"""What tests/run.py knows of a test that has run, and what is asked of all of them together."""

import json
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))
LOGS = BUILD / "tests"
BUDGET = ROOT / "tests/skips.txt"
FULL_RUN = "LATHE_TEST_FULL"


@dataclass
class Outcome:
    """A test. name: "Suite.Case", or "<file>::test_y[z]" with the file's path in the tree."""

    name: str
    status: str  # passed, failed, skipped
    text: str = ""  # of a failure what it printed, of a skip the reason


def folders_of_tests(name):
    """The folders of tests that have this name, below tests/: ["cpp/jit", "python/jit"]."""
    if not re.fullmatch(r"\w+", name):
        return []
    tests = ROOT / "tests"
    found = [tests / name, *(tests / kind / name for kind in ("cpp", "python"))]
    holds = [f for f in found if any(f.rglob("test_*.py")) or any(f.rglob("*_test.cpp"))]
    return [str(f.relative_to(tests)) for f in holds]


def budget(text):
    """[(how many at the most, pattern of the reason)] of tests/skips.txt."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(int(most), pattern) for most, pattern in (line.split(None, 1) for line in lines)]


def over_budget(outcomes, text=None):
    """What is to be said of skips that are not listed, or are too many."""
    allowed = budget(BUDGET.read_text() if text is None else text)
    complaints, used = [], Counter()
    for outcome in outcomes:
        if outcome.status != "skipped":
            continue
        pattern = next((p for _, p in allowed if re.fullmatch(p, outcome.text)), None)
        if pattern is None:
            reason = outcome.text or "(no reason)"
            complaints.append(f"{outcome.name}: this reason is not in {BUDGET.name}: {reason}")
        used[pattern] += 1
    for most, pattern in allowed:
        if used[pattern] > most:
            complaints.append(f"{used[pattern]} tests, at most {most}: {pattern}")
    return complaints


def commit():
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def write_results(outcomes, args):
    """results.json: the commit, what was asked for, and the status of every test. Returns it."""
    path = LOGS / "results.json"
    what = {"filter": args.filter, "full": args.full, "whole": args.whole}
    tests = {o.name: o.status for o in outcomes}
    path.write_text(json.dumps({"commit": commit(), **what, "tests": tests}, indent=0) + "\n")
    return path
