"""One library in a process of its own: makes cases ready and times them when asked.

    python worker.py LIBRARY

Reads one JSON request a line, writes one JSON answer a line. `prepare` builds a case, runs it once
and says how far the result is from the truth; `round` times each of its ways for a moment. What is
timed is wall time of blocks of calls. A block in which the process lost its core counts only if
every block of the round did, and then by its processor time.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import statistics
import sys
import time
import traceback
from pathlib import Path

import numpy as np
from rows import CASES
from rows.case import error, flat

BLOCK = 2e-3  # seconds that a block of calls should take
BLOCKS = 7  # at most, in one round
ROUND = 20e-3  # seconds after which a round stops
WARM_UP = 0.2  # seconds, at least three calls
LONG = 0.2  # seconds; a call that takes longer is warmed up by one, and is not timed at twice the
# time of the library's fastest way


def interruptions():
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def block(function, calls):
    """(wall seconds, processor seconds, whether the core was taken away) of this many calls."""
    before = interruptions()
    cpu = time.process_time()
    wall = time.perf_counter()
    for _ in range(calls):
        function()
    wall = time.perf_counter() - wall
    return wall, time.process_time() - cpu, interruptions() != before


class Way:
    """One function of a case and how many calls of it make a block."""

    def __init__(self, function):
        self.function = function
        self.calls = 1

    def warm_up(self):
        """About the seconds of one call."""
        once = block(self.function, 1)[0]
        if once > LONG:
            return once
        began = time.perf_counter()
        count = 0
        while count < 3 or time.perf_counter() - began < WARM_UP:
            self.function()
            count += 1
        once = min(block(self.function, 1)[0] for _ in range(3))
        self.calls = max(1, int(BLOCK / max(once, 1e-9)))
        if self.calls > 100:  # one call is too short to be timed alone
            self.calls = max(1, int(self.calls * BLOCK / block(self.function, self.calls)[0]))
        return once

    def round(self):
        """Seconds a call, and whether the machine left no block undisturbed."""
        quiet, disturbed = [], []
        began = time.perf_counter()
        while len(quiet) + len(disturbed) < BLOCKS:
            wall, cpu, taken = block(self.function, self.calls)
            if taken:
                disturbed.append(min(wall, cpu) / self.calls)
            else:
                quiet.append(wall / self.calls)
            if time.perf_counter() - began > ROUND:
                break
        return statistics.median(quiet or disturbed), not quiet


def truths(index):
    """The case's results in float64; the first worker that asks leaves them for the others."""
    folder = os.environ.get("LATHE_BENCH_TRUTHS")
    if not folder:
        return CASES[index].truths()
    path = Path(folder) / f"{index}.npz"
    if not path.exists():
        np.savez(path, *CASES[index].truths())
    with np.load(path) as kept:
        return [kept[name] for name in kept.files]


class Worker:
    def __init__(self, library):
        self.adapter = importlib.import_module(f"peers.{library}")
        self.ways = {}

    def prepare(self, index):
        self.ways = {}
        case = CASES[index]
        made = self.adapter.find(case.kind)(*case.make_inputs())
        made = made if isinstance(made, dict) else {"": made}
        wanted, errors = truths(index), {}
        for name, function in made.items():
            results = flat(function())
            errors[name] = error([self.adapter.to_numpy(r) for r in results], wanted)
        ways = {name: Way(function) for name, function in made.items()}
        once = {name: way.warm_up() for name, way in ways.items()}
        most = max(LONG, 2 * min(once.values()))
        self.ways = {name: way for name, way in ways.items() if once[name] <= most}
        return {"errors": errors}

    def round(self, _):
        gc.collect()
        gc.disable()
        try:
            return {"seconds": {name: way.round() for name, way in self.ways.items()}}
        finally:
            gc.enable()

    def answer(self, request):
        index = request["case"]
        surround = getattr(self.adapter, "surround", lambda tracked: contextlib.nullcontext())
        with surround(CASES[index].tracked):
            return {"prepare": self.prepare, "round": self.round}[request["do"]](index)


def main():
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer

    def say(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        worker = Worker(sys.argv[1])
    except BaseException as e:
        say({"failed": f"{type(e).__name__}: {e}"})
        raise
    say({"ready": True})
    for line in sys.stdin:
        try:
            say(worker.answer(json.loads(line)))
        except Exception as e:
            traceback.print_exc()
            say({"failed": f"{type(e).__name__}: {e}".splitlines()[0]})


if __name__ == "__main__":
    main()
