"""T33 Write to an expanded (stride 0) tensor.

trace: equal, or the error eager gives
script: equal, or the error eager gives

Seen in pytorch/pytorch#114302, #197448, #152425, #183986.
"""

from trap_runner import attempt, capture

import lathe as lt


@capture
def f(x):
    y = x.expand(2, 3)
    y[0, 0] = 5
    return x, y


out = [attempt(f, lt.arange(3))]
