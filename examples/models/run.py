"""Runs a model of this folder: eager, traced and frozen, and some steps of training.

    ./dev python examples/models/run.py [NAME ...] [--steps N]

Names are those of the files' SIZES; without one: the small ones.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import lathe as lt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from models import bert, gpt2, lstm, mobilenet, resnet, tree_lstm  # noqa: E402

# {name of a size: the file that has it}
FILES = {name: f for f in (resnet, mobilenet, bert, gpt2, lstm, tree_lstm) for name in f.SIZES}


def step_of(example, model):
    """A step of training by Adam, to be traced or not: it takes a batch and gives the loss."""
    model.train()
    optimizer = lt.optim.Adam(model.parameters(), lr=1e-3)

    def step(*batch):
        optimizer.zero_grad()
        loss = example.loss(model, *batch)
        loss.backward()
        optimizer.step()
        return loss

    return step


def seconds(function, *inputs):
    """The least of three calls, after one that captures and compiles."""
    function(*inputs)
    least = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        function(*inputs)
        least = min(least, time.perf_counter() - began)
    return least


def show(name, steps):
    example = FILES[name]
    lt.manual_seed(0)
    model = example.build(name).eval()
    *inputs, target = example.batch(np.random.default_rng(0), name)
    ways = {"eager": model, "traced": lt.trace(model)}
    with lt.no_grad():
        if all(isinstance(x, lt.Tensor) for x in inputs):
            ways["frozen"] = lt.freeze(model, *inputs)
        times = [f"{way} {1e3 * seconds(call, *inputs):.2f} ms" for way, call in ways.items()]
    count = sum(p.numel() for p in model.parameters())
    print(f"{name}: {count / 1e6:.2f} M parameters; {', '.join(times)}", flush=True)
    step = lt.trace(step_of(example, model))
    losses = [step(*inputs, target).item() for _ in range(steps)]
    print("  trained:", " ".join(f"{loss:.4f}" for loss in losses), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FILES))
    parser.add_argument("--steps", type=int, default=5, help="of training (default: 5)")
    options = parser.parse_args()
    if unknown := set(options.names) - set(FILES):
        parser.error(f"no model {', '.join(sorted(unknown))}")
    for name in options.names or [n for n in FILES if n.startswith("small_")]:
        show(name, options.steps)


if __name__ == "__main__":
    main()
