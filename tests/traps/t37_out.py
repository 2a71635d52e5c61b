"""T37 out=.

trace: equal
script: equal

Seen in pytorch/pytorch#130176.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, y, z):
    return lt.add(x, y, out=z)


z = lt.zeros(2)
r = f(lt.ones(2), lt.ones(2), z)
w = lt.zeros(0)
f(lt.ones(3), lt.ones(3), w)
out = [r is z, z, w.shape[0]]
