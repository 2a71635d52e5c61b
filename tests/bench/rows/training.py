"""Rows 16 and 17: a training step with Adam, and Adam alone."""

import numpy as np

from .case import DIFFERENTIATE, Case

RATE, BETAS, EPS = 1e-3, (0.9, 0.999), 1e-8
COUNT = 10_000_000


def images(rng):
    """Images, weights as PyTorch keeps them (out, in), biases, classes."""
    shapes = ((64, 784), (256, 784), (256,), (10, 256), (10,))
    arrays = [(rng.standard_normal(s) * 0.05).astype(np.float32) for s in shapes]
    return [*arrays, rng.integers(0, 10, 64)]


def first_loss(x, w1, b1, w2, b2, classes):
    scores = np.maximum(x @ w1.T + b1, 0) @ w2.T + b2
    scores = scores - scores.max(1, keepdims=True)
    chosen = scores[np.arange(len(scores)), classes.astype(np.int64)]
    return np.mean(np.log(np.exp(scores).sum(1)) - chosen)


def parameters(parts):
    """The parameters, then their gradients."""
    return lambda rng: [
        rng.standard_normal(COUNT // parts, dtype=np.float32) * scale
        for scale in (np.float32(1), np.float32(0.1))
        for _ in range(parts)
    ]


def first_step(*arrays):
    """The first and the last parameter after one step."""
    half = len(arrays) // 2
    pairs = [(arrays[i], arrays[half + i]) for i in (0, half - 1)]
    return tuple(p - RATE * g / (np.abs(g) + EPS) for p, g in pairs)


def adam(parts, name):
    return Case(
        row="17",
        name=f"Adam, 10M parameters in {name}",
        kind="training.adam",
        group="training",
        peers=DIFFERENTIATE,
        inputs=parameters(parts),
        truth=first_step,
    )


CASES = (
    Case(
        row="16",
        name="MLP 784-256-10, 64 rows, Adam step",
        kind="training.adam_step",
        group="training",
        peers=DIFFERENTIATE,
        inputs=images,
        truth=first_loss,
        tracked=True,
    ),
    adam(1, "1"),
    adam(200, "200"),
)
