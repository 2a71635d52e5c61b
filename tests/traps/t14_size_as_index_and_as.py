"""T14 Size as index and as bound of a slice assignment.

trace: equal
script: equal

Seen in pytorch/pytorch#43548, #14992.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, y):
    y[:, : x.shape[0]] = 1
    return x[x.shape[0] // 2], y[:, -x.shape[0] :]


out = [f(lt.arange(2.0), lt.zeros(1, 6)), f(lt.arange(5.0), lt.zeros(1, 6))]
