"""Rows 8 to 10."""

from peers.models import Model
from rows.norms import EPS


def softmax(x):
    m = Model()
    m.node("Softmax", m.input(x), axis=1)
    return m.serialised(x.shape), [x]


def layer_norm(x, w, b):
    m = Model()
    weights = m.constant(w), m.constant(b)
    m.node("LayerNormalization", m.input(x), *weights, axis=1, epsilon=EPS)
    return m.serialised(x.shape), [x]


def rms_norm(x, w):
    m = Model()
    v = m.input(x)
    mean = m.node("ReduceMean", m.node("Mul", v, v), m.integers(1), keepdims=1)
    root = m.node("Sqrt", m.node("Add", mean, m.constant(EPS)))
    m.node("Mul", m.node("Div", v, root), m.constant(w))
    return m.serialised(x.shape), [x]
