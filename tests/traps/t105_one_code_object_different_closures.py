"""T105 One code object, different closures and defaults; freed functions reuse addresses.

trace: guard
script: guard

Seen in pytorch/pytorch#197811, #178401 (PR), TorchDR/TorchDR#290 (PR).
"""

from trap_runner import capture

import lathe as lt


def make(op, k):
    @capture
    def f(x, y, c=k):
        return op(x, y) + c

    return f


x, y = lt.tensor(6.0), lt.tensor(3.0)
out = [make(lt.Tensor.__add__, 0)(x, y), make(lt.Tensor.__mul__, 0)(x, y), make(lt.add, 1)(x, y)]
