"""NumPy: plain expressions, each with new outputs."""

import operator
from functools import partial

import numpy as np


def add(a, b):
    call = partial(operator.add, a, b)
    call.operands = a, b  # NumPy adds in place to what nobody else refers to
    return call


def tanh_gelu(x):
    def run():
        inner = np.float32(0.7978845608028654) * (x + np.float32(0.044715) * x * x * x)
        return np.float32(0.5) * x * (np.float32(1) + np.tanh(inner))

    return run


def softmax(x):
    def run():
        e = np.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return run


def to_numpy(result):
    return result
