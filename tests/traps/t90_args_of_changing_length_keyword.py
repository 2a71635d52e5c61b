"""T90 *args of changing length, keyword default changed at the call.

trace: guard
script: refuse

Seen in pytorch/pytorch#178401 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, *ys, k=2.0):  # !s
    for y in ys:
        x = x * k + y
    return x


o = lt.ones(1)
out = [f(o), f(o, o), f(o, o, o), f(o, o, k=3.0)]
