"""Line 1: the race, every row of ./dev bench beside its peers, on one core."""

import json
import math
import os
import re

from ..proof import LOGS, Line, Missing, require, run

LINE = Line(1, "The race: every case beside its fastest peer", proof="kernels", shares_figures=True)
MEAN, SHARE, LEAST, GOAL = 1.3, 0.85, 0.8, 0.95
GROUPS = {
    "call overhead": 3.5, "pointwise": 1.6, "reductions": 1.2, "norms forward": 1.1,
    "norms backward": 1.3, "GEMM": 1.1, "linear": 1.0, "attention": 1.1, "CNN": 0.92,
    "transformers": 1.0, "training": 1.0, "LSTM": 1.0, "scans and trees": 2,
    "stencil and bilateral": 1.5,
}  # fmt: skip
measured = {}


def raced(name, *options, timeout):
    """The lines that ./dev bench writes, whether they reach their bars or not."""
    LOGS.mkdir(parents=True, exist_ok=True)
    target = LOGS / f"{name}.json"
    target.unlink(missing_ok=True)
    done = run(name, "./dev", "bench", *options, "--json", target, timeout=timeout)
    if not target.exists():
        raise Missing(f"it ended with {done.code} and wrote no figures; whole log: {done.log}")
    return json.loads(target.read_text())["lines"]


def ratios(quick):
    """{group: {case: ratio}} of one run of the bench."""
    if not measured:
        for line in raced("race", *["--quick"] * quick, timeout=7200):
            if line["unit"] != "ratio":
                continue
            require("ratio" in line, f"{line['name']}: {'; '.join(line['problems'])}")
            measured.setdefault(line["group"], {})[line["name"]] = line["ratio"]
    return measured


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def race(quick):
    every = {name: r for group in ratios(quick).values() for name, r in group.items()}
    behind = sorted((r, name) for name, r in every.items() if r < GOAL)
    share, least = 1 - len(behind) / len(every), min(every.values())
    figure = (
        f"{len(every)} cases, geometric mean {mean(every.values()):.2f} ({MEAN} wanted), "
        f"{100 * share:.0f} % at {GOAL} or above ({100 * SHARE:.0f} wanted), behind: "
        f"{', '.join(f'{name} {r:.2f}' for r, name in behind)}"
    )
    require(mean(every.values()) >= MEAN and share >= SHARE and least >= LEAST, figure)
    return figure


@LINE.part("all cases", minutes=30, quick=lambda: race(True))
def all_cases():
    return race(False)


def by_group(quick):
    means = {group: mean(ratios(quick)[group].values()) for group in ratios(quick)}
    figure = ", ".join(f"{group} {m:.2f} of {GROUPS[group]:g}" for group, m in means.items())
    require(all(m >= GROUPS[group] for group, m in means.items()), figure)
    return figure


@LINE.part("each group", minutes=30, quick=lambda: by_group(True))
def each_group():
    return by_group(False)


TWO_THREADS = (
    "add 16 Mi, new output", "tanh-GELU 8 ops, 256 Ki", "sum all 4096x1024",
    "logsumexp inner 4096x1024", "gemm 1024^3", "gemm 4096x64, depth 64", "12x128x64",
    "12x1024x64, causal", "linear 128x768->3072", "MLP 784-256-10", "ResNet-50", "MobileNetV2",
    "ResNet-18", "MiniLM", "BERT-base", "GPT-2",
)  # fmt: skip


@LINE.part("cases on two threads", minutes=8)
def two_threads():
    if len(os.sched_getaffinity(0)) < 2:
        raise Missing("not measured: one core")
    only = "|".join(map(re.escape, TWO_THREADS))
    lines = raced("race-2", "--quick", "--threads", 2, "--only", only, timeout=3600)
    ratios = sorted((line["ratio"], line["name"]) for line in lines if "ratio" in line)
    figure = f"{len(ratios)} cases, geometric mean {mean([r for r, _ in ratios]):.2f}; least: " + (
        ", ".join(f"{name} {r:.2f}" for r, name in ratios[:5])
    )
    require(len(ratios) >= 15 and len(ratios) == len(lines), figure)
    return figure
