"""Trains six tasks of scikit-learn's data to a fixed bar, in eager and in graph mode.

    PYTHONPATH=build/release/python SUITES/bin/python tests/suites/tasks/run.py
        [--only REGEX] [--seeds N]

The mean over the seeds is compared with the bar. Both modes start from the same seed and must have
the same losses, step by step, to 1e-5.
"""

import argparse
import re
import sys
import time

import numpy as np

try:
    import sklearn  # noqa: F401
except ImportError as e:
    print(f"tasks: not run: {e}")
    sys.exit(0)

from tasks import TASKS

import lathe as lt

SEEDS = 5


def train(make, seed, traced):
    """(score, losses) of one run."""
    task = make(seed)
    update, objective = task.optimiser(task.parameters), task.loss  # a step sees no more than that

    def step(*batch):
        update.zero_grad()
        loss = objective(*batch)
        loss.backward()
        update.step()
        return loss

    run = lt.trace(step) if traced else step
    losses = [run(*batch).item() for batch in task.batches]
    return task, task.score(), np.array(losses)


def show(name, seeds):
    """One task: is its bar reached, do the modes agree?"""
    began = time.time()
    scores, apart = [], 0.0
    for seed in range(seeds):
        task, score, eager = train(TASKS[name], seed, traced=False)
        _, _, graph = train(TASKS[name], seed, traced=True)
        scores.append(score)
        apart = max(apart, float((abs(eager - graph) / np.maximum(1, abs(eager))).max()))
    mean = float(np.mean(scores))
    good = (mean >= task.bar if task.most else mean <= task.bar) and apart <= 1e-5
    sign = ">=" if task.most else "<="
    print(f"{'PASS' if good else 'FAIL'} {name}: {mean:.6g} ({sign} {task.bar:g}), modes apart by "
          f"{apart:.1g}, {time.time() - began:.0f} s", flush=True)  # fmt: skip
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="tasks whose name matches this")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    args = parser.parse_args()
    began = time.time()
    names = [name for name in TASKS if re.search(args.only, name)]
    good = sum(show(name, args.seeds) for name in names)
    print(f"tasks: {good} of {len(names)} reach the bar, {args.seeds} seeds, "
          f"{time.time() - began:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
