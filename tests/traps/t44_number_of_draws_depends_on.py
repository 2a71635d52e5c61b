"""T44 Number of draws depends on data; stream after the call.

trace: refuse
script: equal

Seen in pytorch/pytorch#192635.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    while x.sum() < 3:  # !t
        x = x + lt.rand(1)
    return x, lt.rand(1)


lt.manual_seed(0)
a, b = f(lt.zeros(1))
c = lt.rand(1)
lt.manual_seed(0)
x = lt.zeros(1)
while x.sum() < 3:
    x = x + lt.rand(1)
out = [a.equal(x), b.equal(lt.rand(1)), c.equal(lt.rand(1))]
