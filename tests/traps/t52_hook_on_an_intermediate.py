"""T52 Hook on an intermediate.

trace: refuse
script: refuse

Seen in pytorch/pytorch#91468.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    y = x * 2
    y.register_hook(lambda g: g * 10)  # !ts
    return y * 3


x = lt.ones(1, requires_grad=True)
f(x).sum().backward()
out = [x.grad]
