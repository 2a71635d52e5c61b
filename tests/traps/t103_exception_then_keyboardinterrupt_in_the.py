"""T103 Exception, then KeyboardInterrupt, in the middle of capture.

trace: equal (the user's exception passes; no half-made entry; eager works after)
script: refuse

Seen in ml-explore/mlx#3624.
"""

from trap_runner import attempt, capture

import lathe as lt

boom = [KeyboardInterrupt, ValueError]


@capture
def f(x):
    y = x + 1
    if boom:
        raise boom.pop()()  # !s
    return y * 2


a = attempt(f, lt.ones(1))
b = attempt(f, lt.ones(1))
out = [a, b, f(lt.ones(1)), type(lt.ones(1) + 1).__name__]
