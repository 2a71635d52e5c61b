"""Rows 12 to 14; weights are constants."""

from peers.models import Model


def gemm(x, w):
    m = Model()
    m.node("MatMul", m.input(x), m.constant(w))
    return m.serialised((x.shape[0], w.shape[1])), [x]


def linear(x, w):
    return gemm(x, w.T)


def linear_gelu_residual(x, w, b, r):
    m = Model()
    v, residual = m.input(x), m.input(r)
    h = m.node("Add", m.node("MatMul", v, m.constant(w)), m.constant(b))
    m.node("Add", m.node("Gelu", h), residual)
    return m.serialised(r.shape), [x, r]
