"""T85 Negative steps, // and % signs, bound evaluated once, loop variable after the loop.

trace: guard
script: equal

Seen in tensorflow/tensorflow#26293, pytorch/pytorch#51154.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, n: int):
    s = []
    for i in range(n, -n, -2):
        n = n - 1
        s.append((i // 2) * 100 + i % 3)
    return x * s[-1], s[::-1], i, n, (x.shape[0] - 5) // 2


out = [f(lt.ones(2), 3), f(lt.ones(4), 2)]
