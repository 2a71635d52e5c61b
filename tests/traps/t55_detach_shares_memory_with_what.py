"""T55 detach() shares memory with what is then changed in place.

trace: equal
script: equal

Seen in pytorch/pytorch#128035, #100348, #176854.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(a):
    t = a.detach()
    a.mul_(2)
    return a, t


x = lt.ones(2, requires_grad=True)
y, t = f(x * 2)
y.sum().backward()
out = [y, t, t.requires_grad, x.grad]
