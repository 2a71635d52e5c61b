"""T03 int() of a tensor as a trip count.

trace: refuse
script: equal

Seen in ray-project/ray#30684 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, n):
    for _ in range(int(n)):  # !t
        x = x * 2
    return x


out = [f(lt.ones(2), lt.tensor(1)), f(lt.ones(2), lt.tensor(3))]
