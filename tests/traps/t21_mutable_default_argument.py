"""T21 Mutable default argument.

trace: refuse
script: refuse

Seen in pytorch/pytorch#21545, #29833 (PR).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, acc=[]):
    acc.append(1)  # !ts
    return x + len(acc)


out = [f(lt.zeros(1)), f(lt.zeros(1)), f(lt.zeros(1))]
