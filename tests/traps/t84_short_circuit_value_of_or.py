"""T84 Short circuit, value of or, chained comparison.

trace: refuse
script: equal

Seen in pytorch/pytorch#11042, #53921, leanprover/KLR#255 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, n: int):
    k = n or 7
    if n < 2 and x[n] > 0:  # !t
        k += 10
    if 0 < x.sum() < 5:
        k += 100
    return k


out = [f(lt.ones(2), 0), f(lt.ones(2), 5), f(-lt.ones(2), 1)]
