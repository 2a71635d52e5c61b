"""The Python tests, for tests/run.py: files side by side, then one by one what is marked serial."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

from outcomes import LOGS, ROOT, Outcome

NOTHING_MATCHED = 5  # pytest's exit status
TOO_LONG = 45 * 60  # seconds: ten times what a phase of the quick tier takes


def command(args, marks, report):
    words = [sys.executable, "-m", "pytest", "-q", "--no-header", f"--junitxml={report}"]
    # The file of a test, which names it, is in no other part of the report.
    words += ["-o", "junit_family=xunit1", "-m", marks if args.full else f"{marks} and not slow"]
    folders = [f for f in args.folders if f.split("/")[0] == "python"]
    if folders:
        words += [str(ROOT / "tests" / f) for f in folders]
    elif args.filter:
        words += ["-k", args.filter]
    return words + args.pytest


def read_report(report):
    """The outcomes of a JUnit report."""
    outcomes = []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('file')}::{case.get('name')}"
        parts = {part.tag: part for part in case}
        status, text = "passed", ""
        for tag in ("failure", "error"):
            if tag in parts:
                status, text = "failed", parts[tag].get("message") or ""
        if "skipped" in parts and status == "passed":
            status, text = "skipped", parts["skipped"].get("message") or ""
        outcomes.append(Outcome(name, status, " ".join(text.split())))
    return outcomes


def run_bounded(words, env, seconds):
    """The exit status. A run that does not end is made to: its processes say where they are first.

    A test that is stuck ends by pyproject.toml's limits; this is for a run that waits for none.
    seconds=None: it may take as long as it likes.
    """
    process = subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, env=env, start_new_session=True
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        print(f"pytest has not ended after {seconds} s and is stopped", flush=True)
        os.killpg(process.pid, signal.SIGABRT)  # of which Python's faulthandler makes tracebacks
        return process.wait()
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        raise
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def run_phase(args, marks, *extra):
    report = LOGS / f"python-{marks.split()[0]}.xml"
    report.unlink(missing_ok=True)
    env = dict(os.environ)
    # A worker opens more libraries with thread-local data than a program does (SciPy's,
    # scikit-learn's, the vendors', LLVM): glibc keeps room for few that are opened late.
    env.setdefault("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=16384")
    if env.get("LATHE_PRELOAD"):  # a sanitizer's library, which has to come before Python itself
        env["LD_PRELOAD"] = env["LATHE_PRELOAD"]
        env.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    words = [*command(args, marks, report), *extra]
    code = run_bounded(words, env, None if args.full else TOO_LONG)
    outcomes = read_report(report) if report.exists() else []
    if code not in (0, NOTHING_MATCHED) and not any(o.status == "failed" for o in outcomes):
        outcomes.append(Outcome("pytest", "failed", f"pytest ended with {code}"))
        print(f"pytest ended with {code}")
    return outcomes


def side_by_side(shards):
    # A worker that dies ends the run: with loadfile xdist gives the one in its place no work, and
    # waits for it without an end.
    return "-n", str(shards), "--dist", "loadfile", "--max-worker-restart=0"


def run(args):
    """(outcomes, passed, failed)"""
    if args.folders and not any(f.startswith("python") for f in args.folders):
        return [], 0, 0
    began = time.time()
    outcomes = run_phase(args, "not serial", *side_by_side(args.shards))
    outcomes += run_phase(args, "serial")
    passed = sum(o.status == "passed" for o in outcomes)
    failed = sum(o.status == "failed" for o in outcomes)
    seconds = time.time() - began
    print(f"-- Python tests: {passed} passed, {failed} failed, {seconds:.1f} s", flush=True)
    return outcomes, passed, failed
