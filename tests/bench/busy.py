"""How even the times of calls are beside a busy process.

    ./dev python tests/bench/busy.py

Frozen MobileNetV2 and MiniLM, as many threads as there are cores, and one; another process computes
without a pause on any of the cores. Prints the median of the calls and the ninety-ninth of a
hundred; the last line has the worst ratio of these for one thread.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import lathe as lt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from models.run import FILES  # noqa: E402

MODELS = ("mobilenet_v2", "minilm")
CALLS = 1000
BUSY = "x = 1\nwhile True: x = x * 5 % 1000003"


def frozen(name):
    lt.manual_seed(0)
    *inputs, _ = FILES[name].batch(np.random.default_rng(0), name)
    program = lt.freeze(FILES[name].build(name).eval(), *inputs)
    return lambda: program(*inputs)


def times(call):
    """Seconds of each call, sorted."""
    for _ in range(20):
        call()
    taken = []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return sorted(taken)


def main():
    worst = 0
    cores = len(os.sched_getaffinity(0))
    busy = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        for name in MODELS:
            call = frozen(name)
            for threads in (1, cores):
                lt.set_num_threads(threads)
                taken = times(call)
                median, late = statistics.median(taken), taken[CALLS * 99 // 100]
                print(f"{name}, threads {threads}: median {median * 1e3:.2f} ms, 99 % within "
                      f"{late * 1e3:.2f} ms: {late / median:.2f}", flush=True)  # fmt: skip
                if threads == 1:
                    worst = max(worst, late / median)
    finally:
        busy.kill()
    print(f"busy: 99 % within {worst:.2f} of the median, on one thread of {cores}")


if __name__ == "__main__":
    main()
