"""Runs every line of what the spine must show and prints PASS or FAIL, the figure and the commit.

    ./dev prove spine [--only 3,7] [--quick] [--resume] [--json FILE]

A line passes when each of its parts does; a part that cannot be shown says why. `--quick` leaves
out parts that take more than a few minutes: they count as not shown. The whole takes more than two
hours: `--resume` does not run again what has passed in this tree at this commit, with nothing
changed, and says so. Logs and outcomes: build/logs/prove.
"""

import argparse
import json
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

from parts import ALL
from parts.proof import LOGS, ROOT, Missing

QUICK = 3  # minutes


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
    began = time.time()
    outcome = {"part": part.name, "passed": False}
    if quick and part.minutes > QUICK:
        return outcome | {"figure": f"not run: takes about {part.minutes:g} minutes"}
    try:
        outcome |= {"figure": part.run(), "passed": True}
    except Missing as e:
        outcome["figure"] = str(e)
    except Exception as e:  # a part that cannot look has not passed
        traceback.print_exc()
        outcome["figure"] = f"{type(e).__name__}: {e}"
    return outcome | {"seconds": time.time() - began}


def outcome_file(line, part, at):
    return LOGS / at / f"{line.number}-{re.sub('[^a-z0-9]+', '-', part.name.lower())}.json"


def passed_before(line, at):
    """What has passed at this commit, by part; nothing if the tree is not as it was committed."""
    files = [outcome_file(line, part, at) for part in line.parts]
    if at.endswith("-dirty") or (line.shares_figures and not all(map(Path.exists, files))):
        return {}
    outcomes = [json.loads(f.read_text()) for f in files if f.exists()]
    return {o["part"]: o | {"figure": f"{o['figure']} (shown before)"} for o in outcomes}


def record(line, part, at, outcome):
    file = outcome_file(line, part, at)
    file.unlink(missing_ok=True)
    if outcome["passed"]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(outcome))


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
        word = "PASS" if outcome["passed"] else "FAIL"
        print(f"     {word}  {part.name}: {outcome['figure']}", flush=True)
    passed = all(p["passed"] for p in parts)
    good = sum(p["passed"] for p in parts)
    word = "PASS" if passed else "FAIL"
    print(f"{word} line {line.number}: {good} of {len(parts)} parts, commit {at}", flush=True)
    return {"line": line.number, "title": line.title, "passed": passed, "parts": parts}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="lines, separated by commas")
    parser.add_argument("--quick", action="store_true", help="without what takes long")
    parser.add_argument(
        "--resume", action="store_true", help="without what has passed at this commit"
    )
    parser.add_argument("--json", metavar="FILE", help="write every outcome there")
    args = parser.parse_args()
    chosen = [line for line in ALL if not args.only or str(line.number) in args.only.split(",")]
    if not chosen:
        parser.error(f"no such line; there are 1..{len(ALL)}")
    at = commit()
    outcomes = [show_line(line, args, at) for line in chosen]
    if args.json:
        told = {"commit": at, "lines": outcomes}
        Path(args.json).write_text(json.dumps(told, indent=1))
    print()
    for outcome in outcomes:
        word = "PASS" if outcome["passed"] else "FAIL"
        bad = "; ".join(p["part"] for p in outcome["parts"] if not p["passed"])
        print(
            f"{word} {outcome['line']:>2}. {outcome['title']}" + (f"  [not: {bad}]" if bad else "")
        )
    passed = sum(o["passed"] for o in outcomes)
    print(f"{passed} passed, {len(outcomes) - passed} failed")
    sys.exit(0 if passed == len(outcomes) else 1)


if __name__ == "__main__":
    main()
