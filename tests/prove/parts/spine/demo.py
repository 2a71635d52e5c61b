"""Line 2: the demo's figures, read from the file that it writes."""

import json
import sys

from ..proof import LOGS, ROOT, Line, Missing, require, run

LINE = Line(2, "The demo: accuracy, equal losses, times, C++ logits, pictures", shares_figures=True)
RUNS = 5  # each way to train has its fastest: neighbours slow down one run or another
figures = {}


def figure(*path):
    """One figure, by the keys that lead to it."""
    at = figures
    if not at:
        raise Missing("the demo wrote no figures")
    for key in path:
        if key not in at:
            raise Missing(f"its figures have no '{key}', only {', '.join(sorted(at))}")
        at = at[key]
    return at


def one_run(target):
    target.unlink(missing_ok=True)
    done = run("demo", "./dev", "demo", "--json", target)
    require(done.code == 0, f"it ended with {done.code}; whole log: {done.log}")
    require(target.exists(), f"it wrote no figures; whole log: {done.log}")
    return json.loads(target.read_text()), done.seconds


def demos(runs):
    LOGS.mkdir(parents=True, exist_ok=True)
    told = []
    for _ in range(runs):
        run_figures, seconds = one_run(LOGS / "demo.json")
        told.append(f"{seconds:.0f} s")
        before = figures.get("table", {})
        figures.update(run_figures)
        for way, times in before.items():
            row = figures["table"].get(way, times)
            if "ms_per_step" in row:
                row["ms_per_step"] = min(row["ms_per_step"], times["ms_per_step"])
    return ", ".join(told)


@LINE.part("./dev demo --json", minutes=10, quick=lambda: demos(1))
def demo():
    run("peers", sys.executable, ROOT / "tests/bench/environment.py")  # for PyTorch, below
    return demos(RUNS)


@LINE.part("accuracy >= 97 %")
def accuracy():
    value = figure("accuracy")
    require(value >= 0.97, f"{value:.2%}")
    return f"{value:.2%}"


@LINE.part("losses equal in every step, bit for bit: traced and eager, scripted and careful")
def losses():
    told = []
    for compiled, plain in (("traced", "eager"), ("scripted", "careful")):
        a, b = figure(f"{compiled}_losses"), figure(f"{plain}_losses")
        different = sum(x != y for x, y in zip(a, b))
        require(a and len(a) == len(b) and not different, f"{compiled}: {different} differ")
        told.append(f"{compiled} {len(a)} steps")
    return ", ".join(told)


def compare(faster, slower):
    """One way to train is no slower than another."""
    ours, theirs = (figure("table", way, "ms_per_step") for way in (faster, slower))
    told = f"{faster} {ours:.3g} ms a step, {slower} {theirs:.3g}"
    require(ours <= theirs, told)
    return told


@LINE.part("traced never slower than eager")
def traced_time():
    return compare("traced", "eager")


@LINE.part("eager not slower than PyTorch eager", minutes=5)  # makes the environment of the peers
def torch_time():
    return compare("eager", "pytorch")


@LINE.part("logits in Python and in C++ equal, bit for bit")
def logits():
    require(figure("cpp_logits_equal") is True, "they differ")
    return "equal"


@LINE.part("both pictures")
def pictures():
    paths = [ROOT / p for p in figure("pictures")]
    require(len(paths) == 2, f"{len(paths)} pictures")
    for path in paths:
        require(path.exists() and path.stat().st_size > 1000, f"{path} is missing or empty")
    return ", ".join(f"{p.name} {p.stat().st_size // 1024} KiB" for p in paths)
