"""T43 Dead and duplicate random calls (DCE, CSE).

trace: equal
script: equal

Seen in pytorch/pytorch#147171, #192635, joschu/cgt#54.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    lt.rand(2)
    return lt.rand(2), lt.rand(2)


lt.manual_seed(0)
a, b = f(lt.zeros(1))
lt.manual_seed(0)
u = [lt.rand(2) for _ in range(3)]
out = [a.equal(u[1]), b.equal(u[2]), a.equal(b)]
