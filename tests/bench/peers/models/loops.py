"""Row 23: the LSTM operator, whose gates are i, o, f, g."""

import numpy as np
from peers.models import Model
from rows.loops import BATCH, STEPS, WIDTH


def lstm(x, wi, wh, b, _):
    m = Model()
    v = m.input(x)

    def turned(a):
        i, f, g, o = np.split(a, 4)
        return np.concatenate([i, o, f, g])

    biases = np.concatenate([turned(b), np.zeros_like(b)])
    weights = (m.constant(a[None]) for a in (turned(wi), turned(wh), biases))
    found = m.node("LSTM", v, *weights, hidden_size=WIDTH)  # steps, directions, batch, width
    m.node("Reshape", found, m.integers(STEPS, BATCH, WIDTH))
    return m.serialised((STEPS, BATCH, WIDTH)), [x]
