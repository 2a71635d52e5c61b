"""T06 len() and iteration over rows.

trace: guard
script: equal

Seen in pytorch/pytorch#55194, #19349.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    s = lt.zeros(x.shape[1])
    for row in x:
        s = s * 2 + row
    return s / len(x)


out = [f(lt.ones(2, 2)), f(lt.ones(4, 2))]
