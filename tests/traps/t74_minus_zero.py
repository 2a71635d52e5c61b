"""T74 Minus zero.

trace: equal
script: equal

Seen in pytorch/pytorch#196031 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return 1 / -x, 1 / (x + 0.0), 1 / (x * 1), 1 / (0 - x), 1 / lt.abs(x)


out = [f(lt.tensor([0.0, -0.0]))]
