"""T20 Closure cell changed by another function.

trace: guard
script: guard

Seen in jax-ml/jax#12773.
"""

from trap_runner import capture

import lathe as lt


def make():
    k = 1

    @capture
    def f(x):
        return x * k

    def bump():
        nonlocal k
        k += 1

    return f, bump


f, bump = make()
a = f(lt.ones(1))
bump()
out = [a, f(lt.ones(1))]
