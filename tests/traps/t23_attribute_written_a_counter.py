"""T23 Attribute written: a counter.

trace: refuse
script: refuse

Seen in tensorflow/tensorflow#31362, jax-ml/jax#1348, pytorch/pytorch#196173.
"""

from trap_runner import capture

import lathe as lt


class C:
    n = 0


c = C()


@capture
def f(x):
    c.n += 1  # !ts
    return x + c.n


out = [f(lt.zeros(1)), f(lt.zeros(1)), c.n]
