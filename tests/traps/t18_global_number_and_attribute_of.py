"""T18 Global number and attribute of a module rebound.

trace: guard
script: guard

Seen in jax-ml/jax#7332, numba/numba#8359 (PR).
"""

import types

from trap_runner import capture

import lathe as lt

cfg = types.ModuleType("cfg")
cfg.act = lt.relu
scale = 2.0


@capture
def f(x):
    return cfg.act(x) * scale


x = lt.tensor([-1.0, 1.0])
a = f(x)
scale = 3.0
b = f(x)
cfg.act = lt.neg
out = [a, b, f(x)]
