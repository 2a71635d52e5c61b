"""Runs the lines of a proof and prints PASS or FAIL, the figure, the seconds and the commit.

A line passes when none of its parts fails; a part that cannot be shown says why and has failed.
`--quick` runs the short form of a part that takes long. A part that has none is left to the long
form: it is listed and counted as left, not as passed nor as failed. A proof whose short form is
the usual one runs the long one under `--full`. `--resume` does not run again
what has passed in full in this tree at this commit, with nothing changed, and says so. Logs and
outcomes: build/logs/prove. Exit status 0 if nothing failed and something passed.
"""

import argparse
import json
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

from .proof import LOGS, ROOT, Missing

QUICK = 3  # minutes that a part may take in the quick form
WORDS = {True: "PASS", False: "FAIL", None: "LEFT"}  # None: left to the long form


def commit():
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=10"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def show_part(part, quick):
    """A part's outcome, as a dict."""
    short = quick and part.minutes > QUICK
    outcome = {"part": part.name, "passed": False, "short": short, "seconds": 0}
    if short and part.quick is None:
        reason = f"left to the long form, where it takes about {part.minutes:g} minutes"
        return outcome | {"passed": None, "figure": reason}
    began = time.time()
    try:
        outcome |= {"figure": (part.quick if short else part.run)(), "passed": True}
    except Missing as e:
        outcome["figure"] = str(e)
    except Exception as e:  # a part that cannot look has not passed
        traceback.print_exc()
        outcome["figure"] = f"{type(e).__name__}: {e}"
    if short:
        outcome["figure"] += " (short form)"
    return outcome | {"seconds": time.time() - began}


def outcome_file(line, part, at):
    name = f"{line.proof}-{line.number}-{re.sub('[^a-z0-9]+', '-', part.name.lower())}"
    return LOGS / at / f"{name[:150]}.json"


def passed_before(line, at):
    """What has passed at this commit, by part; nothing if the tree is not as it was committed."""
    files = [outcome_file(line, part, at) for part in line.parts]
    if at.endswith("-dirty") or (line.shares_figures and not all(map(Path.exists, files))):
        return {}
    outcomes = [json.loads(f.read_text()) for f in files if f.exists()]
    return {o["part"]: o | {"figure": f"{o['figure']} (shown before)"} for o in outcomes}


def record(line, part, at, outcome):
    """Keeps what has passed in full."""
    if outcome["short"]:
        return
    file = outcome_file(line, part, at)
    file.unlink(missing_ok=True)
    if outcome["passed"]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(outcome))


def verdict(parts):
    """False if one failed, None if none of them ran, else True."""
    words = {p["passed"] for p in parts}
    return False if False in words else True if True in words else None


def show_line(line, args, at):
    print(f"\n{line.number}. {line.title}", flush=True)
    before = passed_before(line, at) if args.resume else {}
    parts = []
    for part in line.parts:
        outcome = before.get(part.name)
        if outcome is None:
            outcome = show_part(part, args.quick)
            record(line, part, at, outcome)
        parts.append(outcome)
        took = f" [{outcome['seconds']:.0f} s]" if outcome["seconds"] >= 1 else ""
        told = f"{part.name}: {outcome['figure']}{took}"
        print(f"     {WORDS[outcome['passed']]}  {told}", flush=True)
    passed = verdict(parts)
    good = sum(p["passed"] is True for p in parts)
    left = sum(p["passed"] is None for p in parts)
    told = f"{good} of {len(parts)} parts" + (f", {left} left to the long form" if left else "")
    print(f"{WORDS[passed]} line {line.number}: {told}, commit {at}", flush=True)
    return {"line": line.number, "title": line.title, "passed": passed, "parts": parts}


def parse(lines, doc, short):
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--only", help="lines, separated by commas")
    parser.add_argument("--quick", action="store_true", default=short, help="the short form")
    parser.add_argument("--full", dest="quick", action="store_false", help="the long form")
    parser.add_argument(
        "--resume", action="store_true", help="without what has passed at this commit"
    )
    parser.add_argument("--json", metavar="FILE", help="write every outcome there")
    args = parser.parse_args()
    wanted = args.only.split(",") if args.only else [str(line.number) for line in lines]
    if unknown := set(wanted) - {str(line.number) for line in lines}:
        parser.error(f"no line {', '.join(sorted(unknown))}; there are 1..{len(lines)}")
    return args, [line for line in lines if str(line.number) in wanted]


def main(lines, doc, short=False):
    args, chosen = parse(lines, doc, short)
    at, began = commit(), time.time()
    outcomes = [show_line(line, args, at) for line in chosen]
    if args.json:
        told = {"commit": at, "quick": args.quick, "lines": outcomes}
        Path(args.json).write_text(json.dumps(told, indent=1))
    print()
    for outcome in outcomes:
        bad = "; ".join(p["part"] for p in outcome["parts"] if p["passed"] is False)
        told = f"{WORDS[outcome['passed']]} {outcome['line']:>2}. {outcome['title']}"
        print(told + (f"  [not: {bad}]" if bad else ""))
    parts = [p["passed"] for outcome in outcomes for p in outcome["parts"]]
    words = [outcome["passed"] for outcome in outcomes]
    print(f"{(time.time() - began) / 60:.1f} minutes, commit {at}")
    print(f"parts: {parts.count(True)} passed, {parts.count(False)} failed, "
          f"{parts.count(None)} left to the long form")  # fmt: skip
    left = f", {words.count(None)} left to the long form" if None in words else ""
    print(f"{words.count(True)} passed, {words.count(False)} failed{left}")
    sys.exit(1 if False in words or True not in words else 0)
