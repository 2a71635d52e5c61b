"""Line 2: PyTorch's signatures, the Python wrappers that are left, an op in three edits."""

import re
import subprocess

from ..proof import BUILD_PYTHON, ROOT, Line, existing, python_tests, require, run

LINE = Line(2, "The definition's signature is the user's", proof="frame")
BEFORE = ("3c8555d", 793)  # the commit before the frame, and its lines of wrappers
WRAPPERS = ("_functions.py", "_tensor.py", "nn/functional.py")  # of python/lathe


@LINE.part("every function, method and nn.functional entry takes PyTorch's calls", minutes=3)
def calls():
    done = python_tests("signatures", "-n2", "tests/python/test_signatures.py")
    return done.last(r"\d+ passed.*? in")[:-3]


@LINE.part("differences from PyTorch's table, each with its reason")
def differences():
    done = run("signatures-check", "./dev", "check", "signatures")
    require(done.code == 0, f"whole log: {done.log}")
    text = existing("tests/signatures/differences.txt").read_text()
    reasons = [line for line in text.splitlines() if line and not line.startswith("#")]
    counts = done.last(r"\d+ of \d+ names, \d+ differences listed")
    return f"{counts} in {len(reasons)} lines"


def lines_then(path):
    shown = ["git", "show", f"{BEFORE[0]}:python/lathe/{path}"]
    done = subprocess.run(shown, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.count("\n") if done.returncode == 0 else None


@LINE.part("lines of Python wrappers")
def wrappers():
    now = {p: existing(f"python/lathe/{p}").read_text().count("\n") for p in WRAPPERS}
    before = [lines_then(p) for p in WRAPPERS]
    known = None not in before  # not in a shallow clone
    require(not known or sum(before) == BEFORE[1], f"{sum(map(bool, before))} files of {BEFORE[0]}")
    require(sum(now.values()) < BEFORE[1], str(now))
    told = ", ".join(f"{path} {count}" for path, count in now.items())
    return f"{BEFORE[1]} before ({BEFORE[0]}), {sum(now.values())} now ({told})"


@LINE.part("an op in three edits, found everywhere", minutes=8)
def three_edits():
    done = run("fast_sigmoid", BUILD_PYTHON, existing("tests/prove/three_edits.py"))
    require(done.code == 0, f"it ended with {done.code}; whole log: {done.log}")
    figure = done.last(r"fast_sigmoid: .*").removeprefix("fast_sigmoid: ")
    wanted = ("function", "method", "in place", "out=", "nn.functional", "stubs", "docs", "C++")
    absent = [place for place in wanted if not re.search(rf"(, |in |; ){re.escape(place)}", figure)]
    require(not absent, f"not in {', '.join(absent)}: {figure}")
    return figure
