"""T32 In-place through a view with gaps.

trace: equal
script: equal

Seen in pytorch/pytorch#198102, #165409.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    v = x.unfold(0, 1, 5)
    v.add_(v)
    return x


out = [f(lt.arange(1, 13))]
