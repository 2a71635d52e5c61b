"""Row 15: attention of 12 heads of 64."""

import math

import numpy as np

from .case import EVERYBODY, Case, normal
from .norms import softmax

HEADS, WIDTH = 12, 64


def attention(q, k, v, causal=False):
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(WIDTH)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    rows = scores.reshape(-1, scores.shape[-1])
    return softmax(rows).reshape(scores.shape) @ v


def case(name, queries, keys, causal=False):
    q, k = ((1, HEADS, n, WIDTH) for n in (queries, keys))
    return Case(
        row="15",
        name=f"attention {name}",
        kind="attention.causal" if causal else "attention.full",
        group="attention",
        peers=EVERYBODY[1:],
        inputs=normal(q, k, k),
        truth=lambda q, k, v: attention(q, k, v, causal),
        tolerance=3e-6,
    )


CASES = (
    case("12x128x64", 128, 128),
    case("12x1024x64, causal", 1024, 1024, causal=True),
    case("12x1x64, 1024 keys", 1, 1024),
)
