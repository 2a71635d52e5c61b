"""T65 Float argument as cache key: -0.0 == 0.0, nan != nan.

trace: equal (value is a symbol; no new graph per nan)
script: equal

Seen in tensorflow/tensorflow#24726.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, c):
    return 1 / (x * c)


x = lt.ones(1)
nan = float("nan")
out = [f(x, 0.0), f(x, -0.0), f(x, nan), f(x, nan)]
