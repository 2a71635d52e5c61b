"""T61 Integer //, %, / on negatives; int32 overflow.

trace: equal
script: equal

Seen in pytorch/pytorch#43874, #190764, csarofeen/pytorch#2245.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, y):
    return x // y, x % y, x / y, (x * 500000000).to(lt.int64)


x = lt.tensor([7, -7], dtype=lt.int32)
y = lt.tensor([-2, 2], dtype=lt.int32)
out = [f(x, y)]
