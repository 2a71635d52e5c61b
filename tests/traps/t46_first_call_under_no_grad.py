"""T46 First call under no_grad; requires_grad turned on later.

trace: guard
script: guard

Seen in pytorch/pytorch#114338, #131975.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x * 2


x = lt.ones(1)
with lt.no_grad():
    a = f(x)
x.requires_grad_()
b = f(x)
with lt.no_grad():
    c = f(x)
out = [a.requires_grad, b.requires_grad, c.requires_grad]
