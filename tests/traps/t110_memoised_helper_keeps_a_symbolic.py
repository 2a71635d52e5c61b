"""T110 Memoised helper keeps a symbolic tensor.

trace: refuse
script: refuse

Seen in pytorch/pytorch#146598, #133944, ml-explore/mlx#2900.
"""

import functools

from trap_runner import capture

import lathe as lt


@functools.lru_cache
def table(n):
    return lt.arange(n) * 2.0


@capture
def f(x):
    return x + table(4)  # !ts


a = f(lt.zeros(4))
b = table(4) + 1
out = [a, b, f(lt.ones(4))]
