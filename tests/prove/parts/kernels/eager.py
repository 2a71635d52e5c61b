"""Line 2: eager ops, training and optimizers against PyTorch's, in one run, on one core."""

import json
import re

from ..proof import LOGS, Line, Missing, require
from ..suites import suite

LINE = Line(2, "Eager against PyTorch: ops, training, optimizers", proof="kernels")
OPS = 80
MEANS = {1024: 2.2, 65536: 1.8, 4194304: 1.6}  # geometric means, at least
LEAST = 0.9
TRAINING = 1.15


def table(name, *arguments):
    """The table of tests/suites/eager beside what is asked of it."""
    LOGS.mkdir(parents=True, exist_ok=True)
    target = LOGS / f"{name}.json"
    done = suite(
        name, "tests/suites/eager/run.py", *arguments, "--json", target, modules=("torch",)
    )
    times = json.loads(target.read_text())["times"]
    means = [float(m) for m in done.last(r"geometric mean \S+ \(([^)]*)\)").split(", ")]
    slow = [
        f"{op} {theirs / ours:.2f} of {side**2}"
        for op, row in times.items()
        for side, (theirs, ours) in ((int(s), pair) for s, pair in row.items())
        if theirs < LEAST * ours
    ]
    bars = zip(means, MEANS.items())
    short = [f"{mean} of {size}, {bar} wanted" for mean, (size, bar) in bars if mean < bar]
    figure = f"{len(times)} ops; means {', '.join(map(str, means))}; below {LEAST}: "
    figure += f"{len(slow)} of {len(MEANS) * len(times)} ({', '.join(slow) or 'none'})"
    require(len(times) >= OPS and not slow and not short, f"{figure}; {'; '.join(short)}")
    return figure


@LINE.part("80 ops at three sizes", minutes=6, quick=lambda: table("kernels-eager", "--short"))
def ops():
    return table("kernels-eager")


@LINE.part("ports trained by the common idiom, against PyTorch", minutes=2)
def training():
    done = suite("kernels-training", "tests/suites/training/run.py", modules=("torch",))
    ratios = [1 / float(r) for r in re.findall(r"(\S+) of PyTorch", done.text)]
    if not ratios:
        raise Missing(f"no ratio to PyTorch was printed; whole log: {done.log}")
    figure = f"{len(ratios)} models, the least {min(ratios):.2f}x"
    require(min(ratios) >= TRAINING, f"{figure}; {TRAINING} wanted")
    return figure


@LINE.part("optimizers against PyTorch's fused ones", minutes=1)
def optimizers():
    done = suite("kernels-optimizers", "tests/suites/eager/optimizers.py", modules=("torch",))
    figure = done.last(r"^optimizers: (.*)")
    require(float(done.last(r"the least (\S+)x")) >= 1, figure)
    return figure
