"""T57 Gradient through in-place writes to views.

trace: equal
script: equal

Seen in pytorch/pytorch#182012, #90507.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    y = x.clone()
    y[0].mul_(3)
    y.diagonal().zero_()
    return y


x = lt.ones(2, 2, requires_grad=True)
f(x).sum().backward()
out = [x.grad]
