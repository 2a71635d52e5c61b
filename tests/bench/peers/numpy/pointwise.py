"""Rows 1 and 5 to 7."""

import operator
from functools import partial

from peers.numpy import called
from scipy import special

import numpy as np

ONE, HALF = np.float32(1), np.float32(0.5)


def add(a, b):
    call = partial(operator.add, a, b)
    call.operands = a, b  # NumPy adds in place to what nobody else refers to
    return call


def kept_add(a, b):
    out = np.empty_like(a)
    return lambda: np.add(a, b, out=out)


def tanh_gelu(x):
    def run():
        inner = np.float32(0.7978845608028654) * (x + np.float32(0.044715) * x * x * x)
        return HALF * x * (ONE + np.tanh(inner))

    return run


exp = partial(called, np.exp)
log = partial(called, np.log)
tanh = partial(called, np.tanh)
sin = partial(called, np.sin)
sigmoid = partial(called, lambda x: ONE / (ONE + np.exp(-x)))
erf = partial(called, special.erf)
pow = partial(called, np.power)
