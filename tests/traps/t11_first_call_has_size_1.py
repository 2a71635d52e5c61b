"""T11 First call has size 1 or 0: broadcasting that changes side.

trace: guard (on the pattern of ones only)
script: equal

Seen in pytorch/pytorch#186893, #133653, #100970, #136640.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, y):
    return (x + y).sum(0) / x.shape[0]


one, two = lt.ones(1, 2), lt.ones(3, 2)
out = [f(one, two), f(two, one), f(two, two), f(lt.ones(0, 2), one)]
