"""T38 .data assigned.

trace: refuse
script: refuse

Seen in pytorch/pytorch#94773, #139152.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    v = x[:]
    x.data = lt.ones(3)  # !ts
    return v, x


x = lt.zeros(2)
out = [f(x), x]
