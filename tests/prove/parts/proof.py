"""What a line of a proof is made of, and the tools that its parts call.

A line (Line) has parts (Part); a part runs a tool of this tree and gives back its figure, or raises
Missing with the reason why it cannot be shown. A line passes when every part does.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LATHE_BUILD_DIR", ROOT / "build/release"))
LOGS = ROOT / "build/logs/prove"


class Missing(Exception):
    """This part is not shown; says why."""


@dataclass(frozen=True)
class Part:
    name: str
    run: Callable[[], str]  # the figure
    minutes: float = 1  # about how long it takes
    quick: Callable[[], str] | None = None  # a short form for --quick, where it takes long


@dataclass
class Line:
    number: int
    title: str
    shares_figures: bool = False  # its parts read what the first one measured: all are run or none
    parts: list[Part] = field(default_factory=list)
    proof: str = "spine"

    def part(self, name, minutes=1, quick=None):
        """Decorates a function that shows one part of this line; `quick` is a short form of it."""

        def add(function):
            self.parts.append(Part(name, function, minutes, quick))
            return function

        return add


@dataclass(frozen=True)
class Done:
    code: int
    text: str
    seconds: float
    log: Path

    def last(self, pattern):
        """The last match of this pattern in the output, or Missing."""
        found = re.findall(pattern, self.text, re.M)
        if not found:
            raise Missing(f"no line like /{pattern}/ was printed; whole log: {self.log}")
        return found[-1]

    @property
    def counts(self):
        """(passed, failed) from the closing line."""
        passed, failed = self.last(r"^(\d+) passed, (\d+) failed")
        return int(passed), int(failed)


def run(name, *command, timeout=3600, **environment):
    """Runs a command in the tree's root; its output goes to a log named after the part."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    began = time.time()
    with open(log, "w") as out:
        try:
            code = subprocess.run(
                [str(c) for c in command],
                cwd=ROOT,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=timeout,
            ).returncode
        except subprocess.TimeoutExpired:
            raise Missing(
                f"not finished after {timeout} s: {' '.join(map(str, command))}"
            ) from None
    return Done(code, log.read_text(errors="replace"), time.time() - began, log)


def measured(name, *command, python=sys.executable, package=None):
    """A Python program that has run to its end, over this build or `package`; else Missing."""
    package = str(existing(BUILD / "python")) if package is None else package
    done = run(name, python, *command, PYTHONPATH=package)
    if done.code:
        raise Missing(f"it ended with {done.code}; whole log: {done.log}")
    return done


def existing(path):
    """A path of the tree, or Missing."""
    found = ROOT / path
    if not found.exists():
        raise Missing(f"{path} is not there")
    return found


def require(condition, reason):
    if not condition:
        raise Missing(reason)


def green(done):
    """The figure of a tool that ends with "N passed, N failed"; Missing if any failed."""
    passed, failed = done.counts
    if done.code != 0 or failed or not passed:
        failures = re.findall(r"^(?:FAILED|FAIL|ERROR) .*", done.text, re.M)
        first = f"; first: {failures[0][:150]}" if failures else ""
        raise Missing(f"{passed} passed, {failed} failed{first}; whole log: {done.log}")
    return f"{passed} passed in {done.seconds:.0f} s"


def tests(name, *arguments, **environment):
    """The tests of tests/run.py that these arguments choose."""
    return run(name, "./dev", "test", *arguments, **environment)


def python_tests(name, *arguments, **environment):
    """The figure of these Python tests, chosen as pytest chooses."""
    done = run(
        name, BUILD_PYTHON, "-m", "pytest", "-q", "--no-header", "-rA", *arguments, **environment
    )
    found = re.search(r"(\d+) passed(?:, .*)? in [\d.]+s", done.text)
    if done.code != 0 or not found:
        failures = re.findall(r"^(?:FAILED|ERROR) .*", done.text, re.M)
        reason = (
            failures[0][:200] if failures else (done.text.strip().splitlines() or ["nothing"])[-1]
        )
        raise Missing(f"{reason}; whole log: {done.log}")
    return done


def cpp_run(name, pattern, program="lathe_tests", **environment):
    """The C++ tests that this gtest filter chooses: what they printed, and how many passed."""
    program = existing(BUILD / "bin" / program)
    done = run(name, program, f"--gtest_filter={pattern}", **environment)
    passed = re.search(r"\[  PASSED  \] (\d+) test", done.text)
    count = int(passed.group(1)) if passed else 0
    if done.code != 0 or not count:
        failures = re.findall(r"^\[  FAILED  \] (\S+)", done.text, re.M)
        raise Missing(f"{failures[0] if failures else 'no test ran'}; whole log: {done.log}")
    return done, count


def cpp_tests(*arguments, **options):
    """The figure of the C++ tests that this gtest filter chooses."""
    return f"{cpp_run(*arguments, **options)[1]} C++ tests"


BUILD_PYTHON = ROOT / ".deps/venv/bin/python"
