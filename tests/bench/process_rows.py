"""What is measured in fresh processes: importing, and the first call of a compiled function."""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

# Each program prints one JSON object. The clock of a first call starts with the library loaded and
# the input in memory, and stops when the result is there and was made by a generated kernel.
FIRST_CALL = """
import json, time
import lathe as lt, lathe.jit
x = lt.arange(1 << 18, dtype=lt.float32) * 1e-4 - 13.0
began = time.perf_counter()
@lt.trace
def gelu(x):
    return 0.5 * x * (1 + lt.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
gelu(x)
took = time.perf_counter() - began
print(json.dumps({"ms": took * 1e3, "generated": gelu.counts["generated_runs"]}))
"""
MAPPED = """
import json, lathe
maps = open("/proc/self/maps").read()
unwanted = ["LLVM", "llvm", "libgomp", "libdnnl", "onednn", "openblas", "eigen"]
print(json.dumps({"mapped": [n for n in unwanted if n in maps]}))
"""
REPEATS = 9
ROWS = ("29", "30")


@dataclass(frozen=True)
class Line:
    """One line of the table whose bar is a time, not a ratio."""

    row: str
    name: str
    milliseconds: float
    most: float
    problem: str = ""

    @property
    def passed(self):
        return self.milliseconds <= self.most and not self.problem


def python(code, **environment):
    """What a fresh process prints. Modules are kept compiled, as pip leaves them."""
    environment = os.environ | environment
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout) if done.stdout.strip() else {}


def first_call(name, most, repeats, cache):
    """The least of some fresh processes: what neighbours take is no cost of ours. `cache` gives the
    folder for compiled kernels of each."""
    times, problem = [], ""
    try:
        for _ in range(repeats):
            with cache() as folder:
                got = python(FIRST_CALL, LATHE_ENGINE="llvm", LATHE_CACHE_DIR=folder)
            times.append(got["ms"])
            if not got["generated"]:
                problem = "no generated kernel ran"
    except RuntimeError as e:
        return Line("29", name, math.inf, most, str(e))
    return Line("29", name, min(times), most, problem)


class Kept:
    """A folder that stays from one repeat to the next."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        return self.folder

    def __exit__(self, *_):
        return None


def compile_lines():
    yield first_call("one kernel, cold", 15.0, REPEATS, tempfile.TemporaryDirectory)
    with tempfile.TemporaryDirectory() as folder:
        first_call("", 0, 1, lambda: Kept(folder))
        yield first_call("one kernel, cached", 2.0, REPEATS, lambda: Kept(folder))


def seconds_of(code):
    began = time.perf_counter()
    python(code)
    return time.perf_counter() - began


def import_line():
    python("import lathe")
    differences = []
    for _ in range(2 * REPEATS + 1):
        differences.append(seconds_of("import lathe") - seconds_of("pass"))
    mapped = python(MAPPED)["mapped"]
    problem = f"mapped after import: {', '.join(mapped)}" if mapped else ""
    return Line("30", "import, over bare Python", statistics.median(differences) * 1e3, 25, problem)


def lines(wanted):
    """The lines of these rows ("29", "30"; None: all)."""
    if wanted is None or "29" in wanted:
        yield from compile_lines()
    if wanted is None or "30" in wanted:
        yield import_line()
