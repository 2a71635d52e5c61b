"""T62 Bool arithmetic; 1, 1.0 and True are equal dict keys.

trace: guard (type of the argument, not only its value)
script: guard

Seen in tensorflow/tensorflow#24726, jax-ml/jax#11388 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, k):
    return x * k, x + k


b = lt.tensor([True, False])
out = [f(b, 1), f(b, 1.0), f(b, True), f(b, b)]
