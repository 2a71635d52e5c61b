"""What is measured: one Case a line of the table, with its inputs, its truth and its bar.

A case names a kind; every adapter in peers/ has a function of that name, which takes the inputs as
NumPy arrays and gives what is timed: a function without arguments, or a dict of such functions
where a library has several ways (the fastest counts). The truth is computed in float64.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Arrays = list[np.ndarray]


@dataclass(frozen=True)
class Case:
    row: str  # the row's number in the list of peers' rows
    name: str
    kind: str  # the function of an adapter
    peers: tuple[str, ...]  # whom Lathe is compared with: the fastest of them counts
    bar: float  # least ratio: the peer's time over Lathe's
    inputs: Callable[[np.random.Generator], Arrays]
    truth: Callable[..., np.ndarray]
    tolerance: float = 1e-6  # relative to the largest element of the truth

    @property
    def id(self):
        return f"{self.row} {self.name}"

    def make_inputs(self) -> Arrays:
        return self.inputs(np.random.default_rng(20))

    def error_of(self, result) -> float:
        """The largest error of a result, relative to the largest element of the truth."""
        truth = self.truth(*(a.astype(np.float64) for a in self.make_inputs()))
        result = np.asarray(result, dtype=np.float64)
        if result.shape != truth.shape or not np.isfinite(result).all():
            return math.inf
        return float(np.abs(result - truth).max() / np.abs(truth).max())


def normal(*shapes, scale=1.0):
    return lambda rng: [(rng.standard_normal(s) * scale).astype(np.float32) for s in shapes]


def erf(x):
    return np.vectorize(math.erf)(x)


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def linear_gelu_residual(x, w, b, r):
    h = x @ w + b
    return 0.5 * h * (1 + erf(h / math.sqrt(2))) + r


def first_loss(x, y, w1, b1, w2, b2):
    return np.mean((np.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2)


def network(rng):
    shapes = ((8, 8), (8, 1), (8, 8), (8,), (8, 1), (1,))
    return [(rng.standard_normal(s) * 0.5).astype(np.float32) for s in shapes]


EVERYBODY = ("numpy", "torch", "jax", "onnxruntime", "openvino")
BIG = 1 << 24
GELU = {"kind": "tanh_gelu", "peers": EVERYBODY, "truth": tanh_gelu, "tolerance": 5e-7}
SOFTMAX = {"kind": "softmax", "peers": EVERYBODY, "bar": 0.9, "truth": softmax}

CASES = (
    Case("1", "a + b, 4 floats", "add", ("numpy",), 2.0, normal(4, 4), np.add),
    Case("1", "a + b, 4 floats, grad", "tracked_add", ("torch",), 6.0, normal(4, 4), np.add),
    Case(
        "2",
        "gradient of (x * w).sum(), 4 floats",
        "product_gradient",
        ("jax",),
        3.0,
        normal(4, 4),
        lambda x, w: x,
    ),
    Case("3", "MLP 8-8-1 SGD step", "sgd_step", ("jax",), 2.0, network, first_loss),
    Case("4", "compiled x + 1", "compiled_add", ("onnxruntime",), 1.5, normal(4), lambda x: x + 1),
    Case("5", "add 16 Mi, new output", "add", ("numpy",), 1.5, normal(BIG, BIG), np.add),
    Case("6", "tanh-GELU 8 ops, 4 Ki", bar=2.0, inputs=normal(1 << 12), **GELU),
    Case("6", "tanh-GELU 8 ops, 256 Ki", bar=1.2, inputs=normal(1 << 18), **GELU),
    Case("6", "tanh-GELU 8 ops, 16 Mi", bar=1.5, inputs=normal(BIG), **GELU),
    Case("8", "softmax 128x768", inputs=normal((128, 768)), **SOFTMAX),
    Case("8", "softmax 4096x1024", inputs=normal((4096, 1024)), **SOFTMAX),
    Case(
        "14",
        "linear 128x768->3072, bias, GELU, residual",
        "linear_gelu_residual",
        EVERYBODY[1:],  # NumPy has no erf
        0.95,
        normal((128, 768), (768, 3072), (3072,), (128, 3072), scale=0.2),
        linear_gelu_residual,
        2e-6,
    ),
)
