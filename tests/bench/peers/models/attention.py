"""Row 15, composed of products and a softmax."""

import math
from functools import partial

import numpy as np
from peers.models import Model
from rows.attention import WIDTH


def composed(causal, q, k, v):
    m = Model()
    names = [m.input(a) for a in (q, k, v)]
    turned = m.node("Transpose", names[1], perm=[0, 1, 3, 2])
    scores = m.node("MatMul", names[0], turned)
    scores = m.node("Mul", scores, m.constant(1 / math.sqrt(WIDTH)))
    if causal:
        n = q.shape[2]
        mask = np.where(np.tri(n, dtype=bool), 0, np.finfo(np.float32).min)
        scores = m.node("Add", scores, m.constant(mask))
    m.node("MatMul", m.node("Softmax", scores, axis=-1), names[2])
    return m.serialised(q.shape), [q, k, v]


full, causal = partial(composed, False), partial(composed, True)
