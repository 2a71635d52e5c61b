"""Row 4."""

from peers.models import Model


def compiled_add(x):
    m = Model()
    m.node("Add", m.input(x), m.constant(1))
    return m.serialised(x.shape), [x]
