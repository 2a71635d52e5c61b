"""T108 Bound methods of two instances.

trace: guard
script: guard

Seen in jax-ml/jax#12773.
"""

from trap_runner import capture

import lathe as lt


class A:
    def __init__(self, k):
        self.k = k

    @capture
    def f(self, x):
        return x * self.k


a, b = A(2.0), A(3.0)
x = lt.ones(1)
r = [a.f(x), b.f(x)]
a.k = 5.0
out = r + [a.f(x), b.f(x)]
