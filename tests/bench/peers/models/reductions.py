"""Row 11."""

from functools import partial

import numpy as np
from onnx import TensorProto
from peers.models import Model
from rows.reductions import COLUMNS, FIRST


def without(axes, shape):
    return [size for axis, size in enumerate(shape) if axis not in axes]


def reduced(kind, axes, x):
    m = Model()
    m.node(kind, m.input(x), m.integers(*axes), keepdims=0)
    return m.serialised(without(axes, x.shape)), [x]


def index_of_most(axis, x):
    m = Model()
    m.node("ArgMax", m.input(x), axis=axis, keepdims=0)
    return m.serialised(without([axis], x.shape), TensorProto.INT64), [x]


def var_inner(x):
    m = Model()
    v = m.input(x)
    centred = m.node("Sub", v, m.node("ReduceMean", v, m.integers(1), keepdims=1))
    squares = m.node("ReduceSum", m.node("Mul", centred, centred), m.integers(1), keepdims=0)
    m.node("Mul", squares, m.constant(1 / (x.shape[1] - 1)))
    return m.serialised(x.shape[:1]), [x]


def cumsum(x):
    m = Model()
    m.node("CumSum", m.input(x), m.constant(1, np.int64))
    return m.serialised(x.shape), [x]


def transpose(x):
    m = Model()
    m.node("Transpose", m.input(x), perm=[1, 0])
    return m.serialised(x.shape[::-1]), [x]


def sum_slice(x):
    m = Model()
    ends = m.integers(FIRST), m.integers(FIRST + COLUMNS), m.integers(1)
    m.node("ReduceSum", m.node("Slice", m.input(x), *ends), m.integers(1), keepdims=0)
    return m.serialised(x.shape[:1]), [x]


sum_inner = partial(reduced, "ReduceSum", [1])
sum_outer = partial(reduced, "ReduceSum", [0])
sum_all = partial(reduced, "ReduceSum", [0, 1])
max_inner = partial(reduced, "ReduceMax", [1])
logsumexp = partial(reduced, "ReduceLogSumExp", [1])
argmax_inner = partial(index_of_most, 1)
argmax_outer = partial(index_of_most, 0)
