"""T27 random (and numpy.random, uuid, next(counter)): one draw for ever.

trace: refuse
script: refuse

Seen in pytorch/pytorch#197085, #95425.
"""

import random

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    order = [0, 1, 2, 3, 4, 5, 6, 7]
    random.shuffle(order)  # !ts
    return x[order]


random.seed(0)
x = lt.arange(8)
a, b = f(x), f(x)
out = [a, b, round(random.random(), 6)]
