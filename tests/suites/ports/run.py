"""Runs the programs of examples/ports as PyTorch's and as ours, and compares their losses.

    PYTHONPATH=build/release/python TORCH/bin/python tests/suites/ports/run.py
        [--traced | --models | --scripted] [--schedule] [--only REGEX] [--steps N]

A program makes what it trains in `build`, draws by a NumPy generator in `batch`, and returns its
loss from `step`. Its text is run twice, once with the package's name changed to `torch`, whose
weights are copied. `--traced` compares eager steps with steps under `lt.trace`, by their bytes,
`--models` with steps whose modules are traced and whose gradients are taken outside, `--scripted`
with steps under `lt.script`. `--schedule` changes the rate of learning after each step, and allows
three traces of what is traced.
Prints PASS, FAIL or LEFT for each program; `not run` and a reason where PyTorch is missing.
"""

import argparse
import re
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

try:
    import torch
except ImportError as e:
    print(f"ports: not run: {e}")
    sys.exit(0)

import lathe as lt

FOLDER = Path(__file__).resolve().parents[3] / "examples/ports"
OURS = "lathe.compat.torch"
MOST_TRACES = 3  # of one function, over all its steps
BOUNDS = {"float64": 1e-8, "float32": 1e-3}
# What a trace or script of the step refuses by its contract, and why.
REFUSED = {
    "k_means": "bincount's size is decided by data",
    "lbfgs_regression": "the line search looks at the loss",
}


def load(path, package):
    """The program as a module, over lathe or over PyTorch."""
    lines = path.read_text().split("\n")
    for i, line in enumerate(lines):
        if OURS in line:
            assert re.match(r"(import|from) ", line), f"{path.name}:{i + 1} is not an import"
            lines[i] = line.replace(OURS, package)
    module = ModuleType(path.stem)
    exec(compile("\n".join(lines), str(path), "exec"), vars(module))
    return module


def tensors(state):
    """All tensors of what a program built, in order."""
    for part in state:
        if hasattr(part, "param_groups"):
            continue  # it has those of the modules
        if hasattr(part, "state_dict") and hasattr(part, "parameters"):
            yield from part.state_dict().values()
        elif hasattr(part, "detach"):
            yield part


def build(program, weights=None):
    """What the program builds, holding these weights."""
    state = program.build()
    if weights is not None:
        mine = list(tensors(state))
        assert len(mine) == len(weights), f"{len(mine)} tensors for {len(weights)}"
        with lt.no_grad():
            for tensor, array in zip(mine, weights):
                tensor.copy_(lt.tensor(array))
    return state


def kept(state):
    return [t.detach().numpy().copy() for t in tensors(state)]


def losses(program, state, step, count, scheduled=False):
    """The losses of some steps, and the weights after them."""
    random = np.random.default_rng(0)
    rates = []
    if scheduled:
        optimizers = [part for part in state if hasattr(part, "param_groups")]
        rates = [lt.optim.lr_scheduler.CosineAnnealingLR(o, count) for o in optimizers]
    found = []
    for _ in range(count):
        found.append(step(*state, *program.batch(random)).detach().numpy().copy())
        for rate in rates:
            rate.step()
    return found, kept(state)


def compare(path, dtype, steps):
    """The greatest relative difference of a loss; AssertionError where it is too great."""
    torch.set_default_dtype(getattr(torch, dtype))
    lt.set_default_dtype(getattr(lt, dtype))
    torch.manual_seed(0)
    theirs, ours = load(path, "torch"), load(path, OURS)
    state = build(theirs)
    weights = kept(state)
    wanted, _ = losses(theirs, state, theirs.step, steps)
    found, _ = losses(ours, build(ours, weights), ours.step, steps)
    assert found[0].dtype == wanted[0].dtype == dtype, f"{found[0].dtype} for {wanted[0].dtype}"
    apart = [abs(f - w) / max(abs(w), 1e-30) for f, w in zip(found, wanted)]
    worst = max(apart)
    bad = [i for i, a in enumerate(apart) if not a <= BOUNDS[dtype]]
    if bad:
        i = bad[0]
        raise AssertionError(f"{dtype} step {i}: {found[i]} for {wanted[i]}, apart {worst:.1e}")
    assert wanted[-1] != wanted[0], "nothing is learnt"
    return f"{dtype} {worst:.1e}"


def trace_step(program, state):
    """(the state, the step), and what is traced of it."""
    step = lt.trace(program.step)
    return state, step, [step]


def script_step(program, state):
    step = lt.script(program.step)
    return state, step, [step]


def trace_models(program, state):
    traced = {id(part): lt.trace(part) for part in state if isinstance(part, lt.nn.Module)}
    return [traced.get(id(part), part) for part in state], program.step, list(traced.values())


MODES = {"traced": trace_step, "models": trace_models, "scripted": script_step}


def trace(path, dtype, steps, wrap, scheduled):
    """Do traced steps have eager's bits? AssertionError where not."""
    lt.set_default_dtype(getattr(lt, dtype))
    lt.manual_seed(0)
    program = load(path, OURS)
    state = build(program)
    weights = kept(state)
    lt.manual_seed(1)
    wanted, after = losses(program, state, program.step, steps, scheduled)
    state, step, traced = wrap(program, build(program, weights))
    lt.manual_seed(1)
    found, after_traced = losses(program, state, step, steps, scheduled)
    for what, mine, eager in (("loss", found, wanted), ("weights", after_traced, after)):
        same = [m.tobytes() == e.tobytes() for m, e in zip(mine, eager)]
        assert all(same), f"{dtype}: {what} {same.index(False)} of the traced run differs"
    counts = Counter()
    for t in traced:
        counts.update(t.counts)
    assert counts["node_by_node"] == 0, f"{dtype}: {counts['node_by_node']} calls ran node by node"
    worst = max((t.counts["traces"] for t in traced), default=0)
    assert worst <= MOST_TRACES, f"{dtype}: {worst} traces for {steps} steps: {traced[0].reasons()}"
    return f"{dtype} {counts['traces']} traces of {len(traced)}, {counts['calls']} calls"


def outcome(path, args):
    """(verdict, what to say) of one program."""
    check = compare
    if args.mode:
        check = partial(trace, wrap=MODES[args.mode], scheduled=args.schedule)
    verdict, said = "PASS", []
    for dtype in BOUNDS:
        try:
            said.append(check(path, dtype, args.steps))
        except Exception as e:
            known = args.mode in ("traced", "scripted") and path.stem in REFUSED
            if known and isinstance(e, lt.TraceError):
                return "LEFT", f"{REFUSED[path.stem]} ({str(e).splitlines()[0]})"
            verdict = "FAIL"
            said.append(f"{dtype} {type(e).__name__}: {' | '.join(str(e).splitlines())}")
    return verdict, ", ".join(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for mode in MODES:
        parser.add_argument(f"--{mode}", action="store_const", const=mode, dest="mode",
                            help=f"compare with eager's bits: {mode}")  # fmt: skip
    parser.add_argument("--schedule", action="store_true", help="a rate for each step")
    parser.add_argument("--only", default="", help="programs whose name matches this")
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    torch.set_num_threads(1)
    count = Counter()
    for path in sorted(FOLDER.glob("*.py")):
        if not re.search(args.only, path.stem):
            continue
        began = time.perf_counter()
        verdict, said = outcome(path, args)
        count[verdict] += 1
        print(f"{verdict} {path.stem} {said}; {time.perf_counter() - began:.1f} s", flush=True)
    mode = f"eager's bits, {args.mode}" if args.mode else f"against PyTorch {torch.__version__}"
    print(f"ports: {count['PASS']} pass, {count['FAIL']} fail, {count['LEFT']} left; {mode}")


if __name__ == "__main__":
    main()
