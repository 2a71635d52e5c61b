"""T34 Write to a captured tensor that no output needs; then rebound.

trace: equal
script: equal

Seen in pytorch/pytorch#140539.
"""

from trap_runner import capture

import lathe as lt

n = lt.zeros(1)


@capture
def f(x):
    n.add_(1)
    return x * 2


f(lt.ones(1))
f(lt.ones(1))
a = n
n = lt.full((1,), 10.0)
f(lt.ones(1))
out = [a, n]
