"""What a case is, and what the rows have in common: inputs, and functions of truths."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Arrays = list[np.ndarray]
GOAL = 0.95  # the ratio that every case is to reach
LEAST = 0.8  # the ratio below which a case fails, unless it has a bar of its own


@dataclass(frozen=True)
class Case:
    row: str  # the row's number in the list of peers' rows
    name: str
    kind: str  # "file.function" of an adapter
    group: str  # what the summary counts it with
    peers: tuple[str, ...]  # whom Lathe is compared with: the fastest of them counts
    inputs: Callable[[np.random.Generator], Arrays]
    truth: Callable[..., np.ndarray | tuple[np.ndarray, ...]]
    bar: float = LEAST  # least ratio: the peer's time over Lathe's
    tolerance: float = 1e-6  # relative to the largest element of the truth
    tracked: bool = False  # derivatives are taken
    headline: bool = False  # ./dev bench --headline

    @property
    def id(self):
        return f"{self.row} {self.name}"

    def make_inputs(self) -> Arrays:
        return self.inputs(np.random.default_rng(20))

    def truths(self) -> list[np.ndarray]:
        """The results in float64, of the inputs as float64."""
        return flat(self.truth(*(a.astype(np.float64) for a in self.make_inputs())))


def flat(results):
    """A list of the results, of a function that gives one or several."""
    return list(results) if isinstance(results, (tuple, list)) else [results]


def error(results, truths) -> float:
    """The largest error of any result, relative to the largest element of its truth."""
    if len(results) != len(truths):
        return math.inf
    return max(error_of_one(*pair) for pair in zip(results, truths))


def error_of_one(result, truth):
    result = np.asarray(result, dtype=np.float64)
    if result.shape != np.shape(truth) or not np.isfinite(result).all():
        return math.inf
    return float(np.abs(result - truth).max() / np.abs(truth).max())


def normal(*shapes, scale=1.0):
    return lambda rng: [(rng.standard_normal(s) * scale).astype(np.float32) for s in shapes]


def erf(x):
    return np.vectorize(math.erf)(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


EVERYBODY = ("numpy", "torch", "jax", "onnxruntime", "openvino")
DIFFERENTIATE = ("torch", "jax")  # who takes derivatives
