"""T30 Inputs that alias only at the second call.

trace: guard
script: guard

Seen in pytorch/pytorch#139789.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, y):
    x.mul_(2)
    return x + y


b = lt.ones(6)
out = [f(lt.ones(4), lt.ones(4)), f(b[:4], b[2:]), b]
