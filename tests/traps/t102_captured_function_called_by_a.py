"""T102 Captured function called by a captured function.

trace: equal
script: equal

Seen in pytorch/pytorch#111321 (PR), #29909, seed TR-07.
"""

from trap_runner import capture

import lathe as lt


@capture
def g(x, k):
    x.add_(1)
    return x * k


@capture
def f(x):
    y = x * 1
    return g(y, 2) + g(y, 3) + y


out = [f(lt.ones(1)), g(lt.ones(1), 4), f(lt.ones(2))]
