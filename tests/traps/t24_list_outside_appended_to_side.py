"""T24 List outside appended to (side effect lost, symbolic value leaked).

trace: refuse
script: refuse

Seen in ml-explore/mlx#2900, pytorch/pytorch#169253, #197896.
"""

from trap_runner import capture

import lathe as lt

log = []


@capture
def f(x):
    log.append(x.sum())  # !ts
    return x * 2


f(lt.ones(2))
f(lt.ones(3))
out = [len(log), log[-1] + 1]
