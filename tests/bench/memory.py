"""How closely programs of whole models place their intermediates.

    ./dev python tests/bench/memory.py [--small]

For the models of examples/models, frozen, and for a step of training of each that is small enough:
the arena that explain() tells, over the most that lives at one of its steps, which is the least
that any placing needs; both in whole pages of 4 KiB. Prints a line each; the last one has the
worst.
"""

import re
import sys
from pathlib import Path

import numpy as np

import lathe as lt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from models.run import FILES, step_of  # noqa: E402

PLACED = re.compile(r"^intermediates: (\d+) bytes in the largest call, of which (\d+)", re.M)
PAGE = 4096
LARGEST_TRAINED = 30_000_000  # parameters


def made(name):
    lt.manual_seed(0)
    file = FILES[name]
    return file.build(name), file.batch(np.random.default_rng(0), name)


def forward(name):
    model, (*inputs, _) = made(name)
    model.eval()
    if all(isinstance(x, lt.Tensor) for x in inputs):
        program = lt.freeze(model, *inputs)
    else:
        program = lt.trace(model)
    with lt.no_grad():
        program(*inputs)
    return program.explain(verbose=True)


def training(name):
    model, batch = made(name)
    if sum(p.numel() for p in model.parameters()) > LARGEST_TRAINED:
        return None
    step = lt.trace(step_of(FILES[name], model))
    step(*batch)
    return step.explain(verbose=True)


def main():
    small = "--small" in sys.argv[1:]
    worst = 0
    for name in FILES:
        if name.startswith("small_") != small:
            continue
        for what, explain in (("forward", forward), ("training", training)):
            text = explain(name)
            if text is None:
                continue
            placed, least = (
                sum(-(-int(n) // PAGE) * PAGE for n in column)
                for column in zip(*PLACED.findall(text))
            )
            worst = max(worst, placed / least)
            print(f"{name} {what}: {placed / 2**20:.2f} MiB, {placed / least:.3f} of the least",
                  flush=True)  # fmt: skip
    print(f"memory: at most {worst:.3f} of the least")


if __name__ == "__main__":
    main()
