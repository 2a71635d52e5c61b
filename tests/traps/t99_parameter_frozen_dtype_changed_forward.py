"""T99 Parameter frozen, dtype changed, forward replaced.

trace: guard
script: refuse (the replaced forward; guard before it)

Seen in pytorch/pytorch#117265, #131505.
"""

from trap_runner import capture

import lathe as lt
from lathe import nn

m = nn.Linear(1, 1, bias=False)
nn.init.constant_(m.weight, 2.0)
f = capture(m)
x = lt.ones(1)
a = f(x)
m.weight.requires_grad_(False)
b = f(x).requires_grad
m.double()
c = f(x.double())
m.forward = lambda t: t * 100  # !s
out = [a.requires_grad, b, c, f(x)]
