"""T91 List argument copied, then changed for the caller.

trace: refuse
script: refuse

Seen in pytorch/pytorch#32463, #22087.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(xs):
    b = list(xs)
    xs.append(xs[0] + 1)  # !ts
    return b, xs[-1]


xs = [lt.ones(1)]
out = [len(f(xs)[0]), len(f(xs)[0]), len(xs)]
