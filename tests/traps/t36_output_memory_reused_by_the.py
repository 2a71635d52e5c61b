"""T36 Output memory reused by the next call; donated input.

trace: equal
script: equal

Seen in tinygrad/tinygrad#7020, #13364, #14689, jax-ml/jax#39625.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(buf, new):
    return lt.cat([buf[1:], new])


a = lt.zeros(3)
out = []
for i in range(4):
    a = f(a, lt.full((1,), float(i)))
    out.append(a)
