"""T71 Sums are not reassociated or distributed.

trace: equal
script: equal

Seen in pytorch/pytorch#179575.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(a, b, c):
    return (a + b) + c, a + (b + c), a * b + a * c, a * (b + c)


t = lt.tensor
out = [f(t(1.0), t(1e8), t(-1e8)), f(t(3.0), t(3e38), t(-3e38))]
