"""T41 Seed set inside.

trace: equal
script: equal

Seen in pytorch/pytorch#118735.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    lt.manual_seed(42)
    return x + lt.rand(2)


a = f(lt.zeros(2))
b = f(lt.zeros(2))
r = lt.rand(2)
lt.manual_seed(42)
c = lt.rand(2)
d = lt.rand(2)
out = [a.equal(b), a.equal(c), r.equal(d)]
