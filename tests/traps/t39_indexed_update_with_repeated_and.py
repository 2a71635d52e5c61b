"""T39 Indexed update with repeated and negative indices.

trace: equal
script: equal

Seen in pytorch/pytorch#138908.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(y, i):
    y[i] += y[i]
    return y


out = [f(lt.ones(3), lt.tensor([0, 0, 2])), f(lt.ones(3), lt.tensor([-1, -2]))]
