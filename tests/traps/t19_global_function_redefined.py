"""T19 Global function redefined.

trace: guard
script: guard

Seen in pytorch/pytorch#108898, jax-ml/jax#28225.
"""

from trap_runner import capture

import lathe as lt


def g(x):
    return x + 1


@capture
def f(x):
    return g(x)


a = f(lt.ones(1))


def g(x):
    return x - 1


out = [a, f(lt.ones(1))]
