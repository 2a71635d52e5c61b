"""Eager ops of lathe against PyTorch's, in one process, on one core, at three sizes.

    PYTHONPATH=build/release/python SUITES/bin/python tests/suites/eager/run.py
        [--short] [--only REGEX] [--json FILE]

Each line of ops.txt is evaluated with either module. Rounds of both take turns, and the best round
counts: the machine may be shared. The ratio is PyTorch's time over ours: above 1 we are faster.
"""

import argparse
import json
import math
import os
import re
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["LATHE_THREADS"] = "1"

import numpy as np

try:
    import torch
except ImportError as e:
    print(f"eager: not run: {e}")
    sys.exit(0)

import lathe as lt

OPS = Path(__file__).with_name("ops.txt")
SIDES = (32, 256, 2048)  # 1 Ki, 64 Ki and 4 Mi elements
SLOW = 0.8  # of PyTorch's speed


def arrays(n):
    """The operands of one size, in NumPy."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape, dtype=np.float32)

    return {
        "a": normal(n, n), "b": normal(n, n), "c": normal(n, n), "v": normal(n), "w": normal(n),
        "p": np.abs(normal(n, n)) + 0.1, "k": rng.random((n, n)) < 0.5,
        "i": rng.integers(0, n, (n, n)), "x": normal(1, 16, n // 4, n // 4),
        "q": normal(16, 16, 3, 3), "z": normal(8, n // 8, n),
    }  # fmt: skip


def places(n):
    """{module's name: what the expressions may name}."""
    given = arrays(n)
    theirs = {k: torch.from_numpy(v.copy()) for k, v in given.items()}
    ours = {k: lt.from_numpy(v.copy()) for k, v in given.items()}
    return {
        "torch": theirs | {"m": torch, "F": torch.nn.functional, "n": n},
        "lathe": ours | {"m": lt, "F": lt.nn.functional, "n": n},
    }


def round_of(call, times):
    began = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - began) / times


def compare(text, spaces, rounds, budget):
    """(PyTorch's seconds, ours), or the reason why there are none."""
    calls = {side: eval(f"lambda: {text}", space) for side, space in spaces.items()}  # noqa: S307
    try:
        first = {side: (call(), round_of(call, 1))[1] for side, call in calls.items()}
    except Exception as e:
        return f"{type(e).__name__}: {str(e).splitlines()[0][:80]}"
    times = {side: max(1, int(budget / max(t, 1e-7))) for side, t in first.items()}
    best = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for side, call in calls.items():
            best[side] = min(best[side], round_of(call, times[side]))
    return best["torch"], best["lathe"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--only", default="", help="ops that match this")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main():
    args = parse()
    torch.set_num_threads(1)
    lines = [line for line in OPS.read_text().splitlines() if not line.startswith("#")]
    lines = [line for line in lines if re.search(args.only, line)]
    rounds, budget = (3, 3e-3) if args.short else (7, 2e-2)
    table, failed = {}, {}
    with torch.inference_mode(), lt.no_grad():
        for side in SIDES:
            spaces = places(side)
            for line in lines:
                found = compare(line, spaces, rounds, budget)
                if isinstance(found, str):
                    failed[line] = found
                else:
                    table.setdefault(line, {})[side] = found
    table = {line: row for line, row in table.items() if line not in failed}
    print("PyTorch's time over ours at 1 Ki, 64 Ki and 4 Mi elements; microseconds of ours")
    slow = []
    for line, row in table.items():
        ratios = [t / ours for t, ours in row.values()]
        told = "  ".join(
            f"{r:5.2f} ({ours * 1e6:9.1f})" for r, (_, ours) in zip(ratios, row.values())
        )
        print(f"{line:<34} {told}")
        slow += [f"{line} {min(ratios):.2f}"] if min(ratios) < SLOW else []
    for line, reason in failed.items():
        print(f"{line:<34} not run: {reason}")
    means = [mean([t / o for t, o in (row[s] for row in table.values())]) for s in SIDES]
    every = mean([t / o for row in table.values() for t, o in row.values()])
    if args.json:
        args.json.write_text(json.dumps({"times": table, "not run": failed}, indent=1))
    print(f"below {SLOW}: {', '.join(slow) or 'none'}")
    each = ", ".join(f"{m:.2f}" for m in means)
    print(f"eager: {len(table)} ops, {len(SIDES)} sizes, geometric mean {every:.2f} ({each}), "
          f"{len(slow)} below {SLOW}, {len(failed)} failed")  # fmt: skip


if __name__ == "__main__":
    main()
