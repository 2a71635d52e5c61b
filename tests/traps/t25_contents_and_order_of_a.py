"""T25 Contents and order of a global dict.

trace: guard
script: guard

Seen in pytorch/pytorch#120861 (PR), #198189.
"""

from trap_runner import capture

import lathe as lt

ops = {"a": 2.0, "b": -1.0}


@capture
def f(x):
    for k in ops:
        x = x * 3 + ops[k]
    return x


x = lt.zeros(1)
a = f(x)
ops["a"] = 5.0
b = f(x)
ops["a"] = ops.pop("a")
out = [a, b, f(x)]
