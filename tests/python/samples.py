"""tests/samples/*.txt for Python tests: what every op is tried on (tests/samples/README.md)."""

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import lathe as lt

FOLDER = Path(__file__).resolve().parents[1] / "samples"
TENSOR = re.compile(r"([fpguacibnsd])\[([\d, ]*)\](?:<(\d+))?$")


@dataclass(frozen=True)
class Sample:
    op: str
    positional: tuple
    named: tuple  # (name, text) pairs
    smooth: bool
    number: int  # among the lines of this op, from 1

    def __str__(self):
        return f"{self.op}_{self.number}"


def _split(text):
    """The parts between top-level commas; a text in quotes is one part."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        quoted ^= c == "'"
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0 and not quoted:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def read(*paths):
    samples, seen = [], {}
    lines = [line for path in paths for line in path.read_text().splitlines()]
    for line in lines:
        smooth = not line.startswith("!")
        line = line.lstrip("! ").strip()
        if not line or line.startswith("#"):
            continue
        op, _, arguments = line.partition(":")
        positional, named = [], []
        for part in _split(arguments):
            name = re.match(r"(\w+)=(.*)$", part)
            named.append(name.groups()) if name else positional.append(part)
        op = op.strip()
        seen[op] = seen.get(op, 0) + 1
        samples.append(Sample(op, tuple(positional), tuple(named), smooth, seen[op]))
    return samples


SAMPLES = read(*sorted(FOLDER.glob("*.txt")))


def _array(kind, shape, below, dtype, rng):
    normal = rng.standard_normal(shape)
    if kind == "c":
        return (normal + 1j * rng.standard_normal(shape)).astype(
            "complex128" if dtype == "float64" else "complex64"
        )
    if kind == "i":
        return rng.integers(-5, 6, shape)
    if kind == "n":
        return rng.integers(0, below, shape)
    if kind == "b":
        return rng.random(shape) < 0.5
    values = {
        "f": normal,
        "p": np.abs(normal) + 0.1,
        "g": np.abs(normal) + 1.1,
        "u": rng.random(shape) * 0.9 + 0.05,
        "a": rng.random(shape) * 1.8 - 0.9,
        "s": np.sort(normal, axis=None).reshape(shape),
        "d": normal @ normal.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])
        if kind == "d"
        else None,
    }[kind]
    return values.astype(dtype)


def _value(text, dtype, rng):
    if text.startswith("[") and re.match(r"\[\s*[fpguacibnsd]\[", text):
        return [_value(part, dtype, rng) for part in _split(text[1:-1])]
    tensor = TENSOR.match(text)
    if tensor:
        kind, sizes, below = tensor.groups()
        shape = tuple(int(s) for s in sizes.split(",") if s.strip())
        return _array(kind, shape, int(below) if below else None, dtype, rng)
    if hasattr(lt, text):
        return getattr(lt, text)
    return eval(text, {"True": True, "False": False, "None": None})  # literals as in schemas


def arrays(sample, dtype="float32"):
    """(args, kwargs) with NumPy arrays; the same for the same sample."""
    rng = np.random.default_rng(zlib.crc32(str(sample).encode()))
    args = [_value(text, dtype, rng) for text in sample.positional]
    kwargs = {name: _value(text, dtype, rng) for name, text in sample.named}
    return args, kwargs


def convert(value, function):
    """Arrays replaced by function(array), in lists too."""
    if isinstance(value, np.ndarray):
        return function(value)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [function(v) for v in value]
    return value


def tensors(sample, dtype="float32"):
    """(args, kwargs) with tensors."""
    args, kwargs = arrays(sample, dtype)
    return [convert(a, lt.tensor) for a in args], {
        k: convert(v, lt.tensor) for k, v in kwargs.items()
    }
