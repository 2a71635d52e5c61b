"""T77 Type of a variable changes in the loop.

trace: guard
script: refuse (both lines in the message)

Seen in pytorch/pytorch#7818, seed SC-13.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, n: int):
    o = 0  # !s
    for i in range(n):
        o = x if i == 0 else lt.cat([o, x])
    return o


out = [f(lt.ones(1), 0), f(lt.ones(1), 1), f(lt.ones(1), 3)]
