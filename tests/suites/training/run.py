"""Forward and backward of five of the ports by the common idiom, `model = lt.trace(model)`.

    PYTHONPATH=build/release/python TORCH/bin/python tests/suites/training/run.py
        [--only REGEX] [--rounds N]

The gradient of a weighted sum of the model's results, on one thread, in four ways: eager, the model
traced and the gradient taken outside, all of it in one trace, and PyTorch's eager. First come the
bits: results, gradients, and gradients of second order of the traced model are eager's. Times are
of the processor, the least over rounds that take turns. Prints PASS or FAIL for each model: the
traced model takes at most 1.15 times as long as the whole trace, and not longer than eager.
"""

import argparse
import re
import sys
import time
from pathlib import Path

import numpy as np

import lathe as lt

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ports"))
from run import FOLDER, OURS, kept, load, torch  # noqa: E402

# What each model reads of its program's state and batch.
MODELS = {
    "classifier": lambda state, batch: (batch[0],),
    "resnet": lambda state, batch: (batch[0],),
    "small_gpt": lambda state, batch: (batch[0],),
    "word_lstm": lambda state, batch: (batch[0][:-1], (state[1], state[2])),
    "vision_transformer": lambda state, batch: (batch[0],),
}
MOST_OF_WHOLE, MOST_OF_EAGER = 1.15, 1.0


def results(model, inputs):
    out = model(*inputs)
    return out[0] if isinstance(out, tuple) else out


def weights_for(y, package):
    w = np.cos(np.arange(y.numel())).reshape(y.shape).astype("float32")
    return package.tensor(w)


def forget(parameters):
    for p in parameters:
        p.grad = None


def bits(t):
    return t.detach().numpy().tobytes()


def all_bits(model, parameters, inputs):
    """Of a result, its gradients, and those of the sum of their squares."""
    y = results(model, inputs)
    first = lt.autograd.grad((y * y).sum(), parameters, create_graph=True)
    squares = sum((g * g).sum() for g in first)
    second = lt.autograd.grad(squares, parameters, allow_unused=True)
    return [bits(t) for t in (y, *first)] + [t if t is None else bits(t) for t in second]


def compare(name):
    """(model, parameters, inputs, traced model), after the bits were compared."""
    program = load(FOLDER / f"{name}.py", OURS)
    lt.manual_seed(0)
    state = program.build()
    model = state[0].eval()  # batch norm's statistics would differ from call to call
    parameters = list(model.parameters())
    inputs = MODELS[name](state, program.batch(np.random.default_rng(0)))
    traced = lt.trace(model)
    wanted = all_bits(model, parameters, inputs)
    assert all_bits(traced, parameters, inputs) == wanted, "the traced model has other bits"
    assert traced.counts["node_by_node"] == 0, "it ran node by node"
    model.train()
    return model, parameters, inputs, traced


def ways(name):
    model, parameters, inputs, traced = compare(name)
    weights = weights_for(results(model, inputs), lt)

    def through(call):
        results(call, inputs).backward(weights)

    @lt.trace
    def whole(inputs, weights):
        y = results(model, inputs)
        y.backward(weights)
        return y  # else the last layer, of which no gradient reads the result, would not be run

    theirs = load(FOLDER / f"{name}.py", "torch")
    other_state = theirs.build()
    other = other_state[0]
    with torch.no_grad():
        for mine, array in zip(other.state_dict().values(), kept([model])):
            mine.copy_(torch.tensor(array))
    other_inputs = MODELS[name](other_state, theirs.batch(np.random.default_rng(0)))
    other_weights = weights_for(results(other, other_inputs), torch)
    return {
        "eager": (parameters, lambda: through(model)),
        "traced model": (parameters, lambda: through(traced)),
        "whole trace": (parameters, lambda: whole(inputs, weights)),
        "PyTorch": (
            list(other.parameters()),
            lambda: results(other, other_inputs).backward(other_weights),
        ),
    }


def times(ways, rounds, each=0.05):
    """Seconds of the processor by way: the least over the rounds, which take turns."""

    def seconds(way, count):
        parameters, run = ways[way]
        began = time.process_time()
        for _ in range(count):
            forget(parameters)
            run()
        return (time.process_time() - began) / count

    for way in ways:
        seconds(way, 20)  # kernels are made
    count = {way: max(1, int(each / seconds(way, 5))) for way in ways}
    best = {way: float("inf") for way in ways}
    for _ in range(rounds):
        for way in ways:
            best[way] = min(best[way], seconds(way, count[way]))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="models whose name matches this")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    torch.set_num_threads(1)
    lt.set_flag("threads", 1)
    passed = failed = 0
    for name in MODELS:
        if not re.search(args.only, name):
            continue
        try:
            t = times(ways(name), args.rounds)
        except Exception as e:
            failed += 1
            print(f"FAIL {name} {type(e).__name__}: {' | '.join(str(e).splitlines())}", flush=True)
            continue
        of_whole = t["traced model"] / t["whole trace"]
        of_eager = t["traced model"] / t["eager"]
        good = of_whole <= MOST_OF_WHOLE and of_eager <= MOST_OF_EAGER
        passed, failed = passed + good, failed + (not good)
        told = ", ".join(f"{way} {1e6 * s:.0f} us" for way, s in t.items())
        of_theirs = t["traced model"] / t["PyTorch"]
        said = (f"{of_whole:.2f} of the whole trace, {of_eager:.2f} of eager, "
                f"{of_theirs:.2f} of PyTorch")  # fmt: skip
        print(f"{'PASS' if good else 'FAIL'} {name}: {said} ({told})", flush=True)
    print(f"training: {passed} pass, {failed} fail; bits of first and second order are eager's")


if __name__ == "__main__":
    main()
