"""Rows 8 to 10: the expressions of the truths, in float32."""

from functools import partial

from peers.numpy import called
from rows.norms import EPS, softmax

import numpy as np

SMALL = np.float32(EPS)


def normalised(x, w, b):
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(1, keepdims=True) + SMALL) * w + b


def five_ops(x, w):
    return x / np.sqrt((x * x).mean(1, keepdims=True) + SMALL) * w


softmax = partial(called, softmax)
layer_norm = partial(called, normalised)
rms_norm = partial(called, five_ops)
