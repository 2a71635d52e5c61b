"""T17 Size that depends on data (mask), read back in Python.

trace: equal (fresh symbol)
script: equal

Seen in pytorch/vision#2311.
"""

from trap_runner import capture

import lathe as lt


@capture
def f(x):
    p = x[x > 0]
    return p.sum() / p.shape[0], lt.arange(p.shape[0])


out = [f(lt.tensor([1.0, -1.0])), f(lt.tensor([1.0, 2.0, 3.0]))]
