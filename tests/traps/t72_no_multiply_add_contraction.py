"""T72 No multiply-add contraction.

trace: equal
script: equal

Seen in pytorch/pytorch#122260, #100775.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, y, z):
    return x * y - z


x = lt.tensor([1 + 2.0**-12])
y = lt.tensor([1 + 2.0**-13])
out = [f(x, y, x * y)]
