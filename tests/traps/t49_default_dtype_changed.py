"""T49 Default dtype changed.

trace: guard
script: guard

Seen in pytorch/pytorch#109458, #184405.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x + lt.ones(2), lt.tensor(1.5)


x = lt.ones(2, dtype=lt.int64)
a = f(x)
lt.set_default_dtype(lt.float64)
b = f(x)
lt.set_default_dtype(lt.float32)
out = [a, b, f(x)]
