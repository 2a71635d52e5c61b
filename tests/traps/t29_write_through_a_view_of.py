"""T29 Write through a view of an input, then through the input.

trace: equal
script: equal

Seen in pytorch/pytorch#113793, #43548.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    v = x.view(-1)
    v[0] = 9
    x.mul_(2)
    return v + 1


x = lt.ones(2, 2)
out = [f(x), x.clone(), f(x), x]
