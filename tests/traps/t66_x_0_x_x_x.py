"""T66 x*0, x-x, x/x, 0/x are not constants.

trace: equal
script: equal

Seen in openxla/xla#44705 (kin).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x * 0, x - x, x / x, 0 / x


out = [f(lt.tensor([1.0, 0.0, float("inf"), float("nan"), -2.0]))]
