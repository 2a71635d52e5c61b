"""T47 enable_grad inside an ambient no_grad.

trace: guard
script: guard

Seen in pytorch/pytorch#114338, #128016 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    with lt.enable_grad():
        a = x + 1
    return a, x + 1


x = lt.ones(1, requires_grad=True)
with lt.no_grad():
    a, b = f(x)
c, d = f(x)
out = [t.requires_grad for t in (a, b, c, d)]
