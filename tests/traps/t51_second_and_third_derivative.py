"""T51 Second and third derivative.

trace: equal
script: equal

Seen in pytorch/pytorch#91469, #181581, #183603.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return (x**4).sum()


x = lt.tensor([0.5, 1.5], requires_grad=True)
(g,) = lt.autograd.grad(f(x), x, create_graph=True)
(h,) = lt.autograd.grad(g.sum(), x, create_graph=True)
(k,) = lt.autograd.grad(h.sum(), x)
out = [g, h, k]
