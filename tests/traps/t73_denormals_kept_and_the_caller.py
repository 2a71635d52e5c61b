"""T73 Denormals kept, and the caller's mode untouched.

trace: equal
script: equal

Seen in pytorch/pytorch#126848, #67797, jax-ml/jax#26668 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x * 2.0**-124 * 2.0**-10, (x * 2.0**-124) * 2.0**124


x = lt.tensor([0.1875])
a = f(x)
out = [a, x * 2.0**-124]
