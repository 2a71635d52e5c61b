"""Rows 18 to 22: the networks of examples/models, with the same random weights everywhere.

The truth is what PyTorch computes in float64 (network_files.py, in a process of its own, once).
"""

import hashlib
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import environment

from .case import Case

BENCH = Path(__file__).resolve().parents[1]
ROOT = BENCH.parents[1]
EXAMPLES = ROOT / "examples/models"
KEPT = ROOT / "build/bench"
RATE, MOMENTUM = 0.01, 0.9  # of the step of training


@dataclass(frozen=True)
class Network:
    """One kind of case. Its inputs are what the model's forward takes, and for training the wanted
    kinds."""

    file: str  # of examples/models
    size: str  # a name of its SIZES
    inputs: Callable[[np.random.Generator], list[np.ndarray]]
    decodes: bool = False  # the call is a step of decoding
    trains: bool = False  # the call is a step of training, whose result is the loss


def picture(rng):
    return [rng.standard_normal((1, 3, 224, 224), dtype=np.float32)]


def text(rng):
    shape = (1, 128)
    tokens = rng.integers(1, 30522, shape)
    return [tokens, np.zeros(shape, np.int64), np.ones(shape, np.float32)]


def word_and_cache(rng):
    cache = [rng.standard_normal((1, 12, 256, 64), dtype=np.float32) for _ in range(2 * 12)]
    return [rng.integers(0, 50257, (1, 1)), *cache]


def pictures_and_kinds(rng):
    return [rng.standard_normal((32, 3, 32, 32), dtype=np.float32), rng.integers(0, 10, 32)]


NETWORKS = {
    "resnet50": Network("resnet", "resnet50", picture),
    "mobilenet_v2": Network("mobilenet", "mobilenet_v2", picture),
    "resnet18_step": Network("resnet", "resnet18_cifar", pictures_and_kinds, trains=True),
    "minilm": Network("bert", "minilm", text),
    "bert_base": Network("bert", "bert_base", text),
    "gpt2_decode": Network("gpt2", "gpt2", word_and_cache, decodes=True),
}


def network(kind):
    """The network of a kind. For adapters' __getattr__: fails as a module without the name does."""
    if kind not in NETWORKS:
        raise AttributeError(kind)
    return NETWORKS[kind]


def weight(rng, name, shape):
    """Values that keep activations in their order of magnitude, for what has this name."""
    if "num_batches" in name:
        return np.zeros(shape, np.int64)
    values = rng.standard_normal(shape, dtype=np.float32)
    if "running_var" in name:
        return np.abs(values) + 0.5
    if "running_mean" in name or name.endswith("bias"):
        return 0.1 * values
    if len(shape) == 1:  # of a norm
        return 1 + 0.1 * values
    return values * np.float32(np.sqrt(1.6 / np.prod(shape[1:])))


def weights(state):
    """{name: array} for a model's state_dict, alike in every process."""
    rng = np.random.default_rng(21)
    return {name: weight(rng, name, tuple(tensor.shape)) for name, tensor in state.items()}


def files(kind):
    """(.onnx, .npz) of a kind: the model without a step of training, and the truth."""
    maker = BENCH / "network_files.py"
    texts = [EXAMPLES / f"{NETWORKS[kind].file}.py", Path(__file__), maker]
    texts.append(BENCH / "peers/torch/networks.py")
    key = hashlib.sha256(b"".join(path.read_bytes() for path in texts)).hexdigest()[:12]
    onnx, truth = (KEPT / f"{kind}-{key}.{kept}" for kept in ("onnx", "npz"))
    if not truth.exists():
        for old in KEPT.glob(f"{kind}-*"):  # of other texts
            old.unlink()
        made = subprocess.run(
            [environment.python(), maker, kind, onnx, truth],
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            capture_output=True,
            text=True,
        )
        if made.returncode != 0:
            raise RuntimeError(made.stderr.strip().splitlines()[-1])
    return onnx, truth


def case(row, name, kind, group, peers):
    return Case(
        row=row,
        name=name,
        kind=f"networks.{kind}",
        group=group,
        peers=peers,
        inputs=NETWORKS[kind].inputs,
        truth=lambda *_: tuple(np.load(files(kind)[1]).values()),
        tolerance=1e-4 if NETWORKS[kind].trains else 1e-5,
        tracked=NETWORKS[kind].trains,
    )


GRAPHS = ("torch", "onnxruntime", "openvino")

CASES = (
    case("18", "ResNet-50, 1 picture", "resnet50", "CNN", GRAPHS),
    case("19", "MobileNetV2, 1 picture", "mobilenet_v2", "CNN", GRAPHS),
    case("20", "ResNet-18 for CIFAR, SGD step, 32 pictures", "resnet18_step", "CNN", ("torch",)),
    case("21", "MiniLM-L6, 128 words", "minilm", "transformers", (*GRAPHS, "jax")),
    case("21", "BERT-base, 128 words", "bert_base", "transformers", (*GRAPHS, "jax")),
    case("22", "GPT-2 124M decodes, 256 words cached", "gpt2_decode", "transformers", GRAPHS),
)
