"""T58 Integer paths carry no gradient; unused input has grad None.

trace: equal
script: equal

Seen in pytorch/pytorch#132929, #178400 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, y):
    k = x.argmax()
    return x[k] * (x > 0).int().sum() + x.long().float().sum()


x = lt.tensor([1.0, 2.0], requires_grad=True)
y = lt.ones(1, requires_grad=True)
f(x, y).backward()
out = [x.grad, y.grad]
