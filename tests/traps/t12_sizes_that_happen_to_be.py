"""T12 Sizes that happen to be equal at the first call.

trace: equal, one graph
script: equal

Seen in pytorch/pytorch#150702 (one symbol for sizes that are equal).
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    return x.new_zeros(x.shape[0], 2), x @ lt.ones(x.shape[1], 1)


out = [f(lt.ones(3, 3)), f(lt.ones(2, 5))]
