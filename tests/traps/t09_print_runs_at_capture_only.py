"""T09 print runs at capture only, or prints a placeholder.

trace: refuse
script: equal, also what is printed

Seen in tensorflow/tensorflow#31362, seed SC-08.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    print("sum", float(x.sum()))  # !t
    x.add_(1)
    print("sum", float(x.sum()))
    return x.clone()


x = lt.zeros(2)
out = [f(x), f(x)]
