"""T79 Recursion of the captured function.

trace: guard
script: equal

Seen in pytorch/pytorch#39357, seed DY-01.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, n: int):
    return x if n == 0 else f(x * 2, n - 1) + n


out = [f(lt.ones(1), n) for n in (0, 1, 4)]
