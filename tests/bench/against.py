"""Times rows of the bench in this tree and at an earlier commit, and says by how much they differ.

    ./dev python tests/bench/against.py COMMIT [ROW...] [--most RATIO] [--json FILE]

The commit is built once, in build/commits/<commit>, from its own sources and with ccache. Both
builds run tests/bench/worker.py of this tree, each in a process of its own, on one core, and take
turns. The figure is the median over the rounds of this tree's time over the commit's; its noise is
what that median differs by between the odd and the even rounds, at the least 2 %. A row passes
where the ratio less the noise is at most RATIO (1 unless given). Where the noise is above 3 %, more
rounds are run; if it stays there, the row is not shown, which is a failure, as is a way to compute
it that only one of the two has. Ends with "N passed, N failed".
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import ratios
import table
from rows import CASES

import run

ROOT = run.ROOT
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))
BATCHES = 4  # of run.ROUNDS, at most, where the ratios are noisy


def command(folder, log, *words):
    drop = ("LATHE_BUILD_DIR", "LATHE_PRELOAD", "PYTHONPATH")
    env = {k: v for k, v in os.environ.items() if k not in drop}
    with open(log, "a") as out:
        done = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT)  # fmt: skip
    if done.returncode != 0:
        sys.exit(
            f"against.py: {' '.join(map(str, words))} ended with {done.returncode}; log: {log}"
        )


def built(commit):
    """The folder with the package of this commit, which is built if it is not there."""
    shown = ["git", "rev-parse", "--verify", f"{commit}^{{commit}}"]
    found = subprocess.run(shown, cwd=ROOT, capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit(f"against.py: no commit {commit} here: {found.stderr.strip()}")
    full = found.stdout.strip()
    folder = ROOT / "build/commits" / full[:12]
    log = folder.with_suffix(".log")
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder / ".built").exists():
        began = time.time()
        print(f"-- building {commit} in {folder} ...", flush=True)
        if not folder.exists():
            command(ROOT, log, "git", "clone", "-q", "--no-checkout", ROOT, folder)
        command(folder, log, "git", "checkout", "-q", full)
        command(folder, log, "./dev", "build", "release", "--target", "_lathe")
        (folder / ".built").touch()
        print(f"-- built in {time.time() - began:.0f} s", flush=True)
    return folder / "build/release/python"


def rounds_of(libraries, index):
    """({way: seconds} now, the same before), of more rounds as long as their ratios are noisy."""
    now, before = {}, {}
    for _ in range(BATCHES):
        timed = run.take_turns(libraries, index)
        for rounds, library in zip((now, before), libraries, strict=True):
            for way, seconds in timed[library.name].rounds.items():
                rounds.setdefault(way, []).extend(seconds)
        if not ratios.noisy(ratios.ways_of(now, before)):
            break
    return now, before


def compare(index, libraries, most):
    """One row, as a dict; every way to compute it is compared with the same way."""
    case = CASES[index]
    line = {"row": case.row, "name": case.name, "ways": {}}
    line["problems"] = [p for p in (run.check(library, index) for library in libraries) if p]
    if not line["problems"]:
        now, before = rounds_of(libraries, index)
        line["ways"] = ratios.ways_of(now, before)
        line["problems"] = ratios.problems(now, before, most)
    line["passed"] = not line["problems"]
    return line


def show(line):
    told = "; ".join(line["problems"])
    for way, t in sorted(line["ways"].items()):
        times = f"{table.time_text(t['now'])} ({table.time_text(t['before'])} before)"
        name = f"{line['name']}{', ' * bool(way)}{way}"
        told += f"\n{'':10}{name}: {t['ratio']:.3f} +- {t['noise']:.3f}, {times}"
    print(f"{'PASS' if line['passed'] else 'FAIL'}  {line['row']:>2} {told}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="all rows of two workers if none")
    parser.add_argument("--most", type=float, default=1.0, metavar="RATIO")
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    args = parser.parse_args()
    if unknown := set(args.rows) - {c.row for c in CASES}:
        parser.error(f"no row {', '.join(sorted(unknown))}")
    package = built(args.commit)
    run.pin(1)
    libraries = [
        run.Library(name, sys.executable, "lathe", folder)
        for name, folder in (("now", BUILD / "python"), ("before", package))
    ]
    lines = []
    for index, case in enumerate(CASES):
        if not args.rows or case.row in args.rows:
            lines.append(compare(index, libraries, args.most))
            show(lines[-1])
    for library in libraries:
        library.close()
    if args.json:
        Path(args.json).write_text(json.dumps(lines, indent=1))
    failed = sum(not line["passed"] for line in lines)
    print(f"{len(lines) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
