"""T63 bfloat16 and float16 round (and overflow) after every op.

trace: equal
script: equal

Seen in pytorch/pytorch#181568, #182225, #150638.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x, e):
    return (x + e) - x, (x * 600) / 600


x = lt.tensor([1.0, 2.0])
e = 2.0**-9
out = [f(x.to(lt.bfloat16), e), f((x * 100).to(lt.float16), e)]
