"""T35 Returned: the input itself, one tensor twice, two equal expressions.

trace: equal
script: equal

Seen in pytorch/pytorch#191844 (PR), #114338, #94773.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    y = x + 1
    return x, y, y, x + 1


x = lt.zeros(1)
a, b, c, d = f(x)
b.add_(10)
a.add_(5)
out = [a is x, b is c, x, c, d]
