"""T28 The clock.

trace: refuse
script: refuse

Seen in tensorflow/tensorflow#31362.
"""

import time

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x + time.perf_counter()  # !ts


x = lt.zeros(1, dtype=lt.float64)
out = [bool(f(x) < f(x))]
