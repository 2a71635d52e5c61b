"""T75 Early return, break and continue in nested loops inside with.

trace: guard
script: equal

Seen in pytorch/pytorch#79751, #21692 (PR), seed SC-15.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, n: int):
    s = 0
    for i in range(n):
        with lt.no_grad():
            for j in range(n):
                if i * j == 6:
                    break
                if (i + j) % 3 == 0:
                    continue
                s += i * 10 + j
        if s > 200:
            return x * s
    return x + s


out = [f(lt.ones(1), n) for n in (0, 3, 6, 9)]
