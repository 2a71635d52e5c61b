"""T15 reshape(-1, k): other rank, and a size it does not divide.

trace: guard (rank)
script: equal, same error

Seen in pytorch/pytorch#38472, #59530, #6554 (PR).
"""

from trap_runner import attempt, capture

import lathe as lt


@capture
def f(x):
    return x.reshape(-1, 4).sum(0)


out = [f(lt.ones(8)), f(lt.ones(2, 6)), attempt(f, lt.ones(6))]
