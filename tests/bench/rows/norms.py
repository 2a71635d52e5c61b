"""Rows 8 to 10: softmax, layer norm and RMS norm, forward and with their gradients."""

import numpy as np

from .case import DIFFERENTIATE, EVERYBODY, Case, normal

EPS = 1e-5
FORWARD, BACKWARD = "norms forward", "norms backward"
SHAPES = {"128x768": (128, 768), "4096x1024": (4096, 1024)}


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def softmax_gradient(x, g):
    y = softmax(x)
    return y, y * (g - (g * y).sum(1, keepdims=True))


def normalised(x):
    centred = x - x.mean(1, keepdims=True)
    scale = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + EPS)
    return centred * scale, scale


def layer_norm(x, w, b):
    return normalised(x)[0] * w + b


def layer_norm_gradient(x, w, b, g):
    h, scale = normalised(x)
    gw = g * w
    dx = scale * (gw - gw.mean(1, keepdims=True) - h * (gw * h).mean(1, keepdims=True))
    return h * w + b, dx, (g * h).sum(0), g.sum(0)


def rms_norm(x, w):
    return x / np.sqrt((x**2).mean(1, keepdims=True) + EPS) * w


def rms_norm_gradient(x, w, g):
    scale = 1 / np.sqrt((x**2).mean(1, keepdims=True) + EPS)
    h, gw = x * scale, g * w
    dx = scale * (gw - h * (gw * h).mean(1, keepdims=True))
    return h * w, dx, (g * h).sum(0)


# name, weights of one row each, forward, gradient
NORMS = (
    ("layer norm", "layer_norm", 2, layer_norm, layer_norm_gradient),
    ("RMS norm 5 ops", "rms_norm", 1, rms_norm, rms_norm_gradient),
)


def softmax_cases(size, shape):
    yield Case(
        row="8",
        name=f"softmax {size}",
        kind="norms.softmax",
        group=FORWARD,
        peers=EVERYBODY,
        bar=0.9,
        inputs=normal(shape),
        truth=softmax,
        headline=True,
    )
    yield Case(
        row="8",
        name=f"softmax {size}, fwd + bwd",
        kind="norms.softmax_gradient",
        group=BACKWARD,
        peers=DIFFERENTIATE,
        inputs=normal(shape, shape),
        truth=softmax_gradient,
        tolerance=2e-6,
        tracked=True,
    )


def norm_cases(row, norm, size, shape):
    name, kind, weights, forward, gradient = norm
    operands = [shape, *[shape[1:]] * weights]
    yield Case(
        row=row,
        name=f"{name} {size}",
        kind=f"norms.{kind}",
        group=FORWARD,
        peers=EVERYBODY,
        inputs=normal(*operands),
        truth=forward,
        tolerance=2e-6,
    )
    yield Case(
        row=row,
        name=f"{name} {size}, fwd + bwd",
        kind=f"norms.{kind}_gradient",
        group=BACKWARD,
        peers=DIFFERENTIATE,
        inputs=normal(*operands, shape),
        truth=gradient,
        tolerance=5e-6,
        tracked=True,
    )


CASES = (
    *(case for shape in SHAPES.items() for case in softmax_cases(*shape)),
    *(case for shape in SHAPES.items() for case in norm_cases("9", NORMS[0], *shape)),
    *(case for shape in SHAPES.items() for case in norm_cases("10", NORMS[1], *shape)),
)
