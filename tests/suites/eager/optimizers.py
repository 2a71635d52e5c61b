"""Steps of optimizers of lathe against PyTorch's, in one process, on one core.

    PYTHONPATH=build/release/python SUITES/bin/python tests/suites/eager/optimizers.py
        [--only REGEX]

The same parameters and gradients, in few large tensors and in many small ones. PyTorch's runs in
each form that it has (fused, foreach, one by one), and the fastest counts; after the same steps the
parameters agree. Rounds take turns, and the best round counts. Above 1 we are faster.
"""

import argparse
import math
import os
import re
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["LATHE_THREADS"] = "1"

import numpy as np

try:
    import torch
except ImportError as e:
    print(f"optimizers: not run: {e}")
    sys.exit(0)

import lathe as lt

SHAPES = {"1 of 4 Mi": [(2048, 2048)], "200 of 16 Ki": [(128, 128)] * 200, "50 of 64": [(64,)] * 50}
OPTIMIZERS = {
    "SGD": {"lr": 1e-3},
    "SGD, momentum": {"lr": 1e-3, "momentum": 0.9},
    "Adam": {"lr": 1e-3},
    "AdamW": {"lr": 1e-3, "weight_decay": 0.01},
    "Adagrad": {"lr": 1e-3},
    "RMSprop": {"lr": 1e-3},
}
FORMS = ({"fused": True}, {"foreach": True}, {"foreach": False})
STEPS, ROUNDS, BUDGET = 20, 7, 3e-2


def parameters(package, shapes):
    rng = np.random.default_rng(0)
    made = []
    for shape in shapes:
        p = package.tensor(rng.standard_normal(shape, dtype=np.float32), requires_grad=True)
        p.grad = package.tensor(rng.standard_normal(shape, dtype=np.float32))
        made.append(p)
    return made


def stepped(package, name, shapes, **form):
    """(step, parameters), after STEPS steps; None where the optimizer has no such form."""
    given = parameters(package, shapes)
    kind = getattr(package.optim, name.split(",")[0])
    try:
        optimizer = kind(given, **OPTIMIZERS[name], **form)
        for _ in range(STEPS):
            optimizer.step()
    except (RuntimeError, TypeError):
        return None
    return optimizer.step, [p.detach().numpy().copy() for p in given]


def seconds(step, times):
    began = time.perf_counter()
    for _ in range(times):
        step()
    return (time.perf_counter() - began) / times


def compare(name, shapes):
    """(PyTorch's seconds, ours)."""
    forms = [stepped(torch, name, shapes, **form) for form in FORMS]
    ours, got = stepped(lt, name, shapes)
    theirs = [form for form in forms if form]
    for mine, other in zip(got, theirs[-1][1]):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
    steps = [ours, *(step for step, _ in theirs)]
    times = [max(1, int(BUDGET / seconds(step, 1))) for step in steps]
    best = [math.inf] * len(steps)
    for _ in range(ROUNDS):
        for k, step in enumerate(steps):
            best[k] = min(best[k], seconds(step, times[k]))
    return min(best[1:]), best[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="optimizers that match this")
    args = parser.parse_args()
    torch.set_num_threads(1)
    ratios = {}
    for name in OPTIMIZERS:
        for what, shapes in SHAPES.items():
            if not re.search(args.only, name):
                continue
            theirs, ours = compare(name, shapes)
            ratios[f"{name}, {what}"] = theirs / ours
            print(f"{name:<14} {what:<13} {theirs / ours:5.2f} ({ours * 1e6:9.1f} us)", flush=True)
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    least = min(ratios, key=ratios.get)
    print(f"optimizers: {len(ratios)} cases, geometric mean {mean:.2f}, "
          f"the least {ratios[least]:.2f}x ({least})")  # fmt: skip


if __name__ == "__main__":
    main()
