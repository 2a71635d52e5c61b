"""T22 Attribute and class attribute read.

trace: guard
script: guard

Seen in jax-ml/jax#12773, pytorch/pytorch#120958.
"""

from trap_runner import capture

import lathe as lt


class C:
    k = 1


c = C()


@capture
def f(x):
    return x * c.k


x = lt.ones(1)
a = f(x)
C.k = 2
b = f(x)
c.k = 3
out = [a, b, f(x)]
