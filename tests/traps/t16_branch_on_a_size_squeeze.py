"""T16 Branch on a size; squeeze() changes rank with the size.

trace: guard
script: guard

Seen in pytorch/pytorch#163791.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    y = x.squeeze()
    return y.sum(0) if x.shape[0] > 2 else y * 10


out = [f(lt.ones(2, 1)), f(lt.ones(3, 1)), f(lt.ones(3, 2))]
