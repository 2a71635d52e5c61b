"""T54 retain_graph, accumulation, freed graph, output changed before backward.

trace: equal, same errors
script: equal

Seen in pytorch/pytorch#91468, #15803.
"""

from trap_runner import attempt, capture

import lathe as lt


@capture
def f(x):
    return x.exp()


x = lt.zeros(1, requires_grad=True)
y = f(x)
y.backward(retain_graph=True)
y.backward()
a = x.grad.clone()
b = attempt(y.backward)
z = f(x)
z.mul_(2)
c = attempt(z.backward)
out = [a, b, c]
