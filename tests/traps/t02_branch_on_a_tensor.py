"""T02 Branch on a tensor.

trace: refuse
script: equal

Seen in pytorch/pytorch#23498, tensorflow/tensorflow#37144, seed TR-02.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, y):
    if x.max() > y.max():  # !t
        r = x * 10
    else:
        r = y
    return r


a, b = lt.tensor([1.0]), lt.tensor([2.0])
out = [f(a, b), f(b, a)]
