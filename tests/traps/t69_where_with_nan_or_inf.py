"""T69 where with NaN or inf gradient in the branch not taken.

trace: equal
script: equal

Seen in pytorch/pytorch#68425, #10729, #156212, jax-ml/jax#38097.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return lt.where(x <= 0, lt.exp(x), 1 + x), lt.exp(x).clamp(max=1)


x = lt.tensor([100.0, -1.0, 0.5], requires_grad=True)
a, b = f(x)
(a.sum() + b.sum()).backward()
out = [a, b, x.grad]
