"""Rows 1 to 4: what a call costs."""

import numpy as np

from .case import Case, normal

GROUP = {"group": "call overhead", "headline": True}


def first_loss(x, y, w1, b1, w2, b2):
    return np.mean((np.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2)


def network(rng):
    shapes = ((8, 8), (8, 1), (8, 8), (8,), (8, 1), (1,))
    return [(rng.standard_normal(s) * 0.5).astype(np.float32) for s in shapes]


CASES = (
    Case(
        row="1",
        name="a + b, 4 floats",
        kind="pointwise.add",
        peers=("numpy",),
        bar=2.0,
        inputs=normal(4, 4),
        truth=np.add,
        **GROUP,
    ),
    Case(
        row="1",
        name="a + b, 4 floats, grad",
        kind="calls.tracked_add",
        peers=("torch",),
        bar=6.0,
        inputs=normal(4, 4),
        truth=np.add,
        tracked=True,
        **GROUP,
    ),
    Case(
        row="2",
        name="gradient of (x * w).sum(), 4 floats",
        kind="calls.product_gradient",
        peers=("torch", "jax"),
        bar=3.0,
        inputs=normal(4, 4),
        truth=lambda x, w: x,
        tracked=True,
        **GROUP,
    ),
    Case(
        row="3",
        name="MLP 8-8-1 SGD step",
        kind="calls.sgd_step",
        peers=("jax",),
        bar=2.0,
        inputs=network,
        truth=first_loss,
        tracked=True,
        **GROUP,
    ),
    Case(
        row="4",
        name="compiled x + 1",
        kind="calls.compiled_add",
        peers=("onnxruntime",),
        bar=1.5,
        inputs=normal(4),
        truth=lambda x: x + 1,
        **GROUP,
    ),
)
