"""T42 Generator as argument: its state after the call.

trace: equal
script: equal

Seen in pytorch/pytorch#118735.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, g):
    return x + lt.rand(2, generator=g)


g = lt.Generator().manual_seed(1)
a, b = f(lt.zeros(2), g), f(lt.zeros(2), g)
h = lt.Generator().manual_seed(1)
c, d = lt.rand(2, generator=h), lt.rand(2, generator=h)
e = lt.rand(2, generator=g).equal(lt.rand(2, generator=h))
out = [a.equal(c), b.equal(d), a.equal(b), e]
