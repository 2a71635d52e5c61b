"""T78 while on tensor data, body writes through an index.

trace: refuse
script: equal

Seen in pytorch/pytorch#114543.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(t, i: int, j: int):
    while t[i, j] > 0:  # !t
        k = t[i].argmax()
        t[i, k].fill_(-1)
    return t


out = [f(lt.arange(12).view(2, -1), 0, 3), f(lt.ones(1, 3), 0, 1)]
