"""Rows 5 to 7."""

from functools import partial

from peers.models import Model


def one_node(kind, *arrays):
    m = Model()
    m.node(kind, *(m.input(a) for a in arrays))
    return m.serialised(arrays[0].shape), list(arrays)


def tanh_gelu(x):
    m = Model()
    v = m.input(x)
    cube = m.node("Mul", m.node("Mul", m.node("Mul", m.constant(0.044715), v), v), v)
    inner = m.node("Mul", m.constant(0.7978845608028654), m.node("Add", v, cube))
    outer = m.node("Add", m.constant(1), m.node("Tanh", inner))
    m.node("Mul", m.node("Mul", m.constant(0.5), v), outer)
    return m.serialised(x.shape), [x]


kept_add = partial(one_node, "Add")
exp = partial(one_node, "Exp")
log = partial(one_node, "Log")
tanh = partial(one_node, "Tanh")
sin = partial(one_node, "Sin")
sigmoid = partial(one_node, "Sigmoid")
erf = partial(one_node, "Erf")
pow = partial(one_node, "Pow")
