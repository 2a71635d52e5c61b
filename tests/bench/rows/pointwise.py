"""Rows 5 to 7: chains and functions of single elements."""

import numpy as np

from .case import EVERYBODY, Case, erf, normal, sigmoid

BIG = 1 << 24
MIDDLE = 1 << 18


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def gelu(size, name, bar):
    return Case(
        row="6",
        name=f"tanh-GELU 8 ops, {name}",
        kind="pointwise.tanh_gelu",
        group="pointwise",
        peers=EVERYBODY,
        bar=bar,
        inputs=normal(size),
        truth=tanh_gelu,
        tolerance=5e-7,
        headline=True,
    )


def positive(*shapes):
    return lambda rng: [(rng.random(s) * 4 + 0.01).astype(np.float32) for s in shapes]


def base_and_exponent(rng):
    return [*positive(MIDDLE)(rng), *normal(MIDDLE)(rng)]


# name: truth, inputs if not normal
FUNCTIONS = {
    "exp": (np.exp, normal(MIDDLE)),
    "log": (np.log, positive(MIDDLE)),
    "tanh": (np.tanh, normal(MIDDLE)),
    "sin": (np.sin, normal(MIDDLE, scale=3.0)),
    "sigmoid": (sigmoid, normal(MIDDLE)),
    "erf": (erf, normal(MIDDLE)),
    "pow": (np.power, base_and_exponent),
}


def function(name, truth, inputs):
    return Case(
        row="7",
        name=f"{name} 256 Ki",
        kind=f"pointwise.{name}",
        group="pointwise",
        peers=EVERYBODY,
        inputs=inputs,
        truth=truth,
        tolerance=2e-6,
    )


ADD = {"row": "5", "group": "pointwise", "inputs": normal(BIG, BIG), "truth": np.add}

CASES = (
    Case(
        name="add 16 Mi, new output",
        kind="pointwise.add",
        peers=("numpy",),
        bar=1.5,
        headline=True,
        **ADD,
    ),
    Case(name="add 16 Mi, kept output", kind="pointwise.kept_add", peers=EVERYBODY, **ADD),
    gelu(1 << 12, "4 Ki", 2.0),
    gelu(MIDDLE, "256 Ki", 1.2),
    gelu(BIG, "16 Mi", 1.5),
    *(function(name, *what) for name, what in FUNCTIONS.items()),
)
