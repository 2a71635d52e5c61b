"""T60 uint8 wraps after each op, also inside a fused chain.

trace: equal
script: equal

Seen in pytorch/pytorch#105264, #93829, #198081, #187018.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return (x + x).to(lt.int16), -x < 4, (-x).sum(), x.any() * 200 + 100


out = [f(lt.tensor([128, 6], dtype=lt.uint8))]
