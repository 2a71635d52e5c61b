"""Runs the C++ and the Python tests and ends with the line "N passed, N failed".

The C++ program is started as several shards side by side, each with a log under
build/<preset>/tests; a shard that dies counts as one failed test, named by the test it died in.
Called by ./dev test.
"""

import argparse
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))
LOGS = BUILD / "tests"


def gtest_pattern(args):
    wanted = f"*{args.filter}*" if args.filter else "*"
    return wanted if args.full else f"{wanted}-*Slow*"


def start_shards(program, args):
    shards = []
    for index in range(args.shards):
        log = LOGS / f"{program.name}-{index}.log"
        env = dict(os.environ, GTEST_TOTAL_SHARDS=str(args.shards), GTEST_SHARD_INDEX=str(index))
        env["GTEST_COLOR"] = "no"
        with open(log, "w") as out:
            command = [str(program), f"--gtest_filter={gtest_pattern(args)}"]
            process = subprocess.Popen(command, stdout=out, stderr=out, cwd=ROOT, env=env)
        shards.append((process, log))
    return shards


def read_shard(process, log):
    """Returns (passed, failed, text of the failures)."""
    code = process.wait()
    text = log.read_text(errors="replace")
    passed = len(re.findall(r"^\[       OK \]", text, re.M))
    failed = len(re.findall(r"^\[  FAILED  \] \S+(?:, where .*)? \(\d+ ms\)$", text, re.M))
    running = None
    shown, section = [], []
    for line in text.splitlines():
        if line.startswith("[ RUN      ]"):
            running, section = line[13:], []
        elif line.startswith("[       OK ]") or line.startswith("[  SKIPPED ]"):
            running = None
        elif line.startswith("[  FAILED  ]") and running:
            shown += [f"FAILED {running}", *section]
            running = None
        elif running:
            section.append(line)
    if code != 0 and (failed == 0 or running):
        failed += 1
        where = f"in {running}" if running else "outside any test"
        shown += [f"FAILED: the program ended with {code} {where} (log: {log})", *section[-30:]]
    return passed, failed, "\n".join(shown)


PROGRAMS = ("lathe_tests", "lathe_bits")


def run_cpp(args):
    began = time.time()
    passed = failed = 0
    for name in PROGRAMS:
        program = BUILD / "bin" / name
        if not program.exists():
            print(f"{program} was not built")
            failed += 1
            continue
        for process, log in start_shards(program, args):
            more, fewer, text = read_shard(process, log)
            passed, failed = passed + more, failed + fewer
            if text:
                print(text)
    print(
        f"-- C++ tests: {passed} passed, {failed} failed, {time.time() - began:.1f} s", flush=True
    )
    return passed, failed


def run_python(args):
    report = LOGS / "python.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", f"--junitxml={report}"]
    if not args.full:
        command += ["-m", "not slow"]
    if args.filter:
        command += ["-k", args.filter]
    env = dict(os.environ)
    if env.get("LATHE_PRELOAD"):  # a sanitizer's library, which has to come before Python itself
        env["LD_PRELOAD"] = env["LATHE_PRELOAD"]
        env.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    began = time.time()
    command += args.pytest
    code = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=env).returncode
    passed = failed = 0
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            bad = int(suite.get("failures")) + int(suite.get("errors"))
            passed += int(suite.get("tests")) - bad - int(suite.get("skipped"))
            failed += bad
    if code not in (0, 5) and failed == 0:  # 5: nothing matched the filter
        print(f"pytest ended with {code}")
        failed = 1
    print(
        f"-- Python tests: {passed} passed, {failed} failed, {time.time() - began:.1f} s",
        flush=True,
    )
    return passed, failed


def full_parts():
    """(name, command, environment) of what only --full runs, each with a log of its own."""
    tests = [str(BUILD / "bin/lathe_tests"), "--gtest_brief=1"]
    for isa in ("avx2", "portable"):
        yield f"C++ tests on {isa}", tests, {"LATHE_ISA": isa}
    yield "an op in three edits", [sys.executable, "tests/prove/softsign.py"], {}
    yield "10,000 random graphs", [sys.executable, "tests/bits/run.py"], {}
    yield "seeded faults", [sys.executable, "tests/bits/faults.py"], {}
    every = [str(BUILD / "bin/lathe_bits"), "--gtest_filter=UnarySweep.*"]
    yield "every float argument", every, {"LATHE_SWEEP": "1"}
    yield "accuracy", [sys.executable, "tests/accuracy/run.py", "--print"], {}
    sanitized = ["./dev", "test", "--cpp"]
    yield "C++ tests under ASan and UBSan", sanitized, {"LATHE_PRESET": "asan"}
    for part in ("Pool", "Threads", "Cache", "KernelsSim"):
        yield f"{part} under TSan", [*sanitized, part], {"LATHE_PRESET": "tsan"}


def run_full_parts():
    passed = failed = 0
    drop = ("LATHE_BUILD_DIR", "LATHE_PRELOAD", "LATHE_TEST_FULL", "PYTHONPATH")
    for name, command, extra in full_parts():
        began = time.time()
        log = LOGS / f"{re.sub(r'[^A-Za-z0-9]+', '-', name)}.log"
        env = {k: v for k, v in os.environ.items() if k not in drop} | extra
        with open(log, "w") as out:
            code = subprocess.run(command, cwd=ROOT, env=env, stdout=out, stderr=out).returncode
        passed, failed = passed + (code == 0), failed + (code != 0)
        lines = log.read_text(errors="replace").splitlines() or [""]
        word = "passed" if code == 0 else f"FAILED (log: {log})"
        print(f"-- {name}: {word}, {time.time() - began:.0f} s; {lines[-1]}", flush=True)
    return passed, failed


def run_traps(full):
    """The programs that captures get wrong: tests/traps/run.py."""
    began = time.time()
    command = [sys.executable, str(ROOT / "tests/traps/run.py"), "--quiet"]
    env = dict(os.environ)
    if not full:  # no compiler in 330 processes: strips give the same bits
        env["LATHE_ENGINE"] = "strips"
        command += ["--variant", "plain"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env)
    print(text.stdout + text.stderr)
    found = re.search(r"^(\d+) passed, (\d+) failed$", text.stdout, re.M)
    passed, failed = (int(n) for n in found.groups()) if found else (0, 1)
    print(f"-- traps: {passed} passed, {failed} failed, {time.time() - began:.1f} s", flush=True)
    return passed, failed


def main():
    argv = sys.argv[1:]
    split = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("filter", nargs="?", default="", help="part of a test's name")
    parser.add_argument("--full", action="store_true", help="slow tests as well")
    parser.add_argument("--cpp", action="store_true", help="only the C++ tests")
    parser.add_argument("--python", action="store_true", help="only the Python tests")
    parser.add_argument("--shards", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args(argv[:split])
    args.pytest = argv[split + 1 :]
    if args.full:
        os.environ["LATHE_TEST_FULL"] = "1"
    LOGS.mkdir(parents=True, exist_ok=True)
    totals = []
    if not args.python:
        totals.append(run_cpp(args))
    if not args.cpp:
        totals.append(run_python(args))
    whole = args.full and not (args.filter or args.cpp or args.python)
    if whole and os.environ.get("LATHE_PRESET", "release") == "release":
        totals.append(run_full_parts())
    if not args.cpp and args.filter in ("", "traps"):
        totals.append(run_traps(args.full))
    passed, failed = (sum(column) for column in zip(*totals))
    if args.filter and passed + failed == 0:
        print(f"no test's name contains '{args.filter}'")
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed or passed == 0 else 0)


if __name__ == "__main__":
    main()
