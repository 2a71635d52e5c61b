"""T50 Mode set inside leaks out of the call.

trace: refuse
script: refuse

Seen in pytorch/pytorch#112787, #162522.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    lt.set_grad_enabled(False)  # !ts
    return x * 2


x = lt.ones(1, requires_grad=True)
y = f(x)
b = lt.is_grad_enabled()
lt.set_grad_enabled(True)
out = [y.requires_grad, b]
