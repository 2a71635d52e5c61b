"""T31 Shift inside one storage, with and without a copy.

trace: equal, same error
script: equal

Seen in pytorch/pytorch#197829, #164701.
"""

from trap_runner import attempt, capture

import lathe as lt


@capture
def f(x):
    x[1:] = x[:-1].clone()
    return x


@capture
def g(x):
    x[1:].copy_(x[:-1])
    return x


out = [f(lt.arange(6.0)), f(lt.arange(5000.0))[-1], attempt(g, lt.arange(4.0))]
