"""Rows 12 and 13."""

from functools import partial

from peers.numpy import called

import numpy as np

gemm = partial(called, np.matmul)


def linear(x, w):
    turned = np.ascontiguousarray(w.T)
    return {"in, out": gemm(x, turned), "out, in": gemm(x, w.T)}
