"""T70 log(1+x), exp(x)-1, x/3, x*.1+x*.2 stay as written.

trace: equal
script: equal

Seen in tensorflow/tensorflow#119429, pytorch/pytorch#179575.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return lt.log(1 + x), lt.exp(x) - 1, x / 3, x * 0.1 + x * 0.2


x = lt.tensor([1e-9, 0.7, 49.0, 7.0, 41.0])
a, b, c, d = f(x)
out = [a[0], b[0], c.equal(x / 3), c.equal(x * (1 / 3)), d.equal(x * 0.3)]
