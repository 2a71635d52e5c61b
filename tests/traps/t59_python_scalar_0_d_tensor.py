"""T59 Python scalar, 0-d tensor and 1-element tensor promote differently.

trace: guard
script: guard

Seen in jax-ml/jax#732, #4682 (PR), #11388 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, c):
    return x * c


x = lt.ones(2, dtype=lt.float16)
i = lt.ones(2, dtype=lt.int32)
d = lt.tensor(2.0, dtype=lt.float64)
out = [f(x, 2.0), f(x, d), f(x, lt.ones(1)), f(i, 2), f(i, 2.0), f(i, d)]
