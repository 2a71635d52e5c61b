"""T76 Variable defined in one branch only.

trace: refuse
script: refuse

Seen in tensorflow/tensorflow#56119 (PR).
"""

from trap_runner import attempt, capture

import lathe as lt


@capture
def f(x):
    if x.sum() > 0:  # !t
        y = x * 2
    return y  # !s


out = [f(lt.ones(1)), attempt(f, -lt.ones(1))]
