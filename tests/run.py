"""Runs the C++ and the Python tests and ends with the line "N passed, N failed".

    python tests/run.py [--full] [FILTER] [-- PYTEST ARGUMENTS]

FILTER is the name of a folder of tests (core, jit, checks ...: cpp/<folder>, python/<folder> or
tests/<folder>), which runs what stands in it, or else a part of a test's name.

A test that is skipped is printed with its reason, and counts against the budget of that reason in
tests/skips.txt: one that is not listed there, or one too many, fails the run. What every test
came to is written to build/<preset>/tests/results.json; of a whole run, docs/seeds.md is held to
it (tests/python/seeds/rows.py). Called by ./dev test.
"""

import argparse
import os
import re
import subprocess
import sys
import time

import run_cpp
import run_python
from outcomes import (
    BUILD,
    FULL_RUN,
    LOGS,
    ROOT,
    Outcome,
    folders_of_tests,
    over_budget,
    write_results,
)


def full_parts():
    """(name, command, environment) of what only --full runs, each with a log of its own."""
    tests = [str(BUILD / "bin/lathe_tests"), "--gtest_brief=1"]
    for isa in ("avx2", "portable"):
        yield f"C++ tests on {isa}", tests, {"LATHE_ISA": isa}
    yield "an op in three edits", [sys.executable, "tests/prove/three_edits.py"], {}
    yield "10,000 random graphs", [sys.executable, "tests/bits/run.py"], {}
    yield "planted faults", [sys.executable, "tests/bits/faults.py"], {}
    every = [str(BUILD / "bin/lathe_bits"), "--gtest_filter=UnarySweep.*"]
    yield "every float argument", every, {"LATHE_SWEEP": "1"}
    yield "accuracy", [sys.executable, "tests/accuracy/run.py", "--print"], {}
    sanitized = ["./dev", "test", "--cpp"]
    yield "C++ tests under ASan and UBSan", sanitized, {"LATHE_PRESET": "asan"}
    for part in ("Pool", "Threads", "Cache", "KernelsSim"):
        yield f"{part} under TSan", [*sanitized, part], {"LATHE_PRESET": "tsan"}


def run_full_parts():
    """Their outcomes; a script is known by its path."""
    outcomes = []
    drop = ("LATHE_BUILD_DIR", "LATHE_PRELOAD", FULL_RUN, "PYTHONPATH")
    for name, command, extra in full_parts():
        began = time.time()
        log = LOGS / f"{re.sub(r'[^A-Za-z0-9]+', '-', name)}.log"
        env = {k: v for k, v in os.environ.items() if k not in drop} | extra
        with open(log, "w") as out:
            code = subprocess.run(command, cwd=ROOT, env=env, stdout=out, stderr=out).returncode
        script = next((word for word in command if word.endswith(".py")), name)
        outcomes.append(Outcome(script, "passed" if code == 0 else "failed"))
        lines = log.read_text(errors="replace").splitlines() or [""]
        word = "passed" if code == 0 else f"FAILED (log: {log})"
        print(f"-- {name}: {word}, {time.time() - began:.0f} s; {lines[-1]}", flush=True)
    return outcomes


def run_part(name, *command, **variables):
    """A script that ends with "N passed, N failed": these numbers, and what it prints."""
    began = time.time()
    env = os.environ | variables
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, env=env
    )
    print(done.stdout + done.stderr, end="")
    found = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.M)
    passed, failed = (int(n) for n in found.groups()) if found else (0, 1)
    print(f"-- {name}: {passed} passed, {failed} failed, {time.time() - began:.1f} s", flush=True)
    return passed, failed


def run_traps(full):
    """The programs that captures get wrong: tests/traps/run.py."""
    if full:
        return run_part("traps", ROOT / "tests/traps/run.py", "--quiet")
    # No compiler in 330 processes: the SIMD interpreter gives the same bits.
    only = ("--quiet", "--variant", "plain")
    return run_part("traps", ROOT / "tests/traps/run.py", *only, LATHE_ENGINE="simd")


def arguments():
    argv = sys.argv[1:]
    split = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("filter", nargs="?", default="", help="a folder, or part of a test's name")
    parser.add_argument("--full", action="store_true", help="slow tests as well")
    parser.add_argument("--cpp", action="store_true", help="only the C++ tests")
    parser.add_argument("--python", action="store_true", help="only the Python tests")
    parser.add_argument("--shards", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args(argv[:split])
    args.pytest = argv[split + 1 :]
    args.folders = folders_of_tests(args.filter) if args.filter else []
    args.whole = not (args.filter or args.cpp or args.python or args.pytest)
    return args


def run_tests(args):
    """[(passed, failed)] of GoogleTest, of pytest, of the budget of skips and of docs/seeds.md."""
    outcomes, totals = [], []
    for wanted, part in ((not args.python, run_cpp), (not args.cpp, run_python)):
        if wanted:
            more, passed, failed = part.run(args)
            outcomes += more
            totals.append((passed, failed))
    if args.full and args.whole and os.environ.get("LATHE_PRESET", "release") == "release":
        parts = run_full_parts()
        outcomes += parts
        bad = sum(o.status == "failed" for o in parts)
        totals.append((len(parts) - bad, bad))
    for outcome in outcomes:
        if outcome.status == "skipped":
            print(f"SKIPPED {outcome.name}: {outcome.text}")
    complaints = over_budget(outcomes)
    for complaint in complaints:
        print(f"FAILED skips: {complaint}")
    totals.append((0, len(complaints)))
    results = write_results(outcomes, args)
    if args.whole:
        rows = ROOT / "tests/python/seeds/rows.py"
        totals.append(run_part("docs/seeds.md", rows, "--verify", results))
    return totals


def main():
    args = arguments()
    if args.full:
        os.environ[FULL_RUN] = "1"
    LOGS.mkdir(parents=True, exist_ok=True)
    totals = run_tests(args) if args.filter != "traps" else []
    if not args.cpp and args.filter in ("", "traps"):
        totals.append(run_traps(args.full))
    passed, failed = (sum(column) for column in zip(*totals))
    if args.filter and passed + failed == 0:
        print(f"no folder of tests is named '{args.filter}', and no test's name contains it")
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed or passed == 0 else 0)


if __name__ == "__main__":
    main()
