"""Rows 12 to 14: products of matrices, linear layers of few rows, one with what follows it."""

import math

import numpy as np

from .case import EVERYBODY, Case, erf, normal

SQUARES = (8, 16, 32, 64, 128, 256, 512, 1000, 1024, 2048)
SKINNY = ((4096, 64, 64), (64, 4096, 64), (64, 64, 4096))  # rows, columns, depth
LARGE = 64  # from here on graphs of one product are worth their call


def linear_gelu_residual(x, w, b, r):
    h = x @ w + b
    return 0.5 * h * (1 + erf(h / math.sqrt(2))) + r


def gemm(m, n, k, name):
    return Case(
        row="12",
        name=f"gemm {name}",
        kind="products.gemm",
        group="GEMM",
        peers=EVERYBODY if k >= LARGE else EVERYBODY[:3],
        inputs=normal((m, k), (k, n)),
        truth=np.matmul,
        tolerance=3e-6,
    )


def linear(m, k, n):
    return Case(
        row="13",
        name=f"linear {m}x{k}->{n}",
        kind="products.linear",
        group="linear",
        peers=EVERYBODY,
        inputs=normal((m, k), (n, k)),
        truth=lambda x, w: x @ w.T,
        tolerance=3e-6,
    )


CASES = (
    *(gemm(n, n, n, f"{n}^3") for n in SQUARES),
    *(gemm(m, n, k, f"{m}x{n}, depth {k}") for m, n, k in SKINNY),
    *(linear(m, k, n) for k, n in ((768, 3072), (4096, 4096)) for m in (1, 4)),
    Case(
        row="14",
        name="linear 128x768->3072, bias, GELU, residual",
        kind="products.linear_gelu_residual",
        group="linear",
        peers=EVERYBODY[1:],  # NumPy has no erf
        bar=0.95,
        inputs=normal((128, 768), (768, 3072), (3072,), (128, 3072), scale=0.2),
        truth=linear_gelu_residual,
        tolerance=2e-6,
        headline=True,
    ),
)
