"""Rows 5 to 7, and the plain add of row 1."""

import operator
from functools import partial

from peers.lathe import tensors, ways

import lathe as lt


def add(a, b):
    a, b = tensors((a, b))
    return partial(operator.add, a, b)


def kept_add(a, b):
    a, b = tensors((a, b))
    out = lt.empty_like(a)
    traced = lt.trace(lambda a, b, out: out.copy_(a + b))
    return {"eager": lambda: lt.add(a, b, out=out), "traced": lambda: traced(a, b, out)}


def tanh_gelu(x):
    (x,) = tensors((x,))

    @lt.trace
    def traced(x):
        return 0.5 * x * (1 + lt.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))

    return lambda: traced(x)


exp = partial(ways, lambda x: lt.exp(x))
log = partial(ways, lambda x: lt.log(x))
tanh = partial(ways, lambda x: lt.tanh(x))
sin = partial(ways, lambda x: lt.sin(x))
sigmoid = partial(ways, lambda x: lt.sigmoid(x))
erf = partial(ways, lambda x: lt.erf(x))
pow = partial(ways, lambda x, y: lt.pow(x, y))
