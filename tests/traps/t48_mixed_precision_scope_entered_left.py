"""T48 Mixed-precision scope entered, left, other dtype.

trace: guard
script: guard

Seen in pytorch/pytorch#181564 (PR), #191110 (PR), #63552 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x @ x


x = lt.ones(2, 2)
a = f(x)
with lt.autocast("cpu", dtype=lt.bfloat16):
    b = f(x)
with lt.autocast("cpu", dtype=lt.float16):
    c = f(x)
out = [a, b, c, f(x)]
