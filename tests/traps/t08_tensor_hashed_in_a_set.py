"""T08 Tensor hashed: in a set, as a dict key.

trace: refuse
script: refuse

Seen in pytorch/pytorch#116934 (PR).
"""

from trap_runner import capture

import lathe as lt

seen = set()


@capture
def f(x):
    first = x not in seen  # !ts
    seen.add(x)
    return x + (1 if first else 100)


a = lt.ones(2)
out = [f(a), f(a), f(lt.ones(2))]
