"""T10 Arithmetic on sizes: product, arange, numel, `+=` on a size.

trace: equal, one graph
script: equal

Seen in pytorch/pytorch#12579, #74047, #56162, seed TR-12.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    n, m = x.shape
    k = n
    k += 2
    return x.view(n * m), lt.arange(m), lt.ones(x.numel()).sum(), k + n


out = [f(lt.ones(2, 3)), f(lt.ones(3, 1))]
