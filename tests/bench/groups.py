"""How many steps programs of whole models have, and who runs them.

    ./dev python tests/bench/groups.py

Frozen ResNet-50 and MobileNetV2, a layer of BERT with its gradients, the LSTM of examples/models
and a step of Adam: the steps that explain() lists, and by lt.profiler the time that is a vendor's,
and what share of it this machine needs at least, of all steps and of each, on one thread. Prints a
table each; the last line has what holds for the whole programs.
"""

import re
import sys
from pathlib import Path

import numpy as np

import lathe as lt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from models import bert, lstm, mobilenet, resnet  # noqa: E402

VENDORS = re.compile(r"onednn|openblas|eigen")


def model_of(file, name):
    lt.manual_seed(0)
    *inputs, _ = file.batch(np.random.default_rng(0), name)
    return file.build(name).eval(), inputs


def frozen(file, name):
    model, inputs = model_of(file, name)
    program = lt.freeze(model, *inputs)
    return program.explain, lambda: program(*inputs)


def gradients():
    model, inputs = model_of(bert, "bert_base")
    layer = next(m for m in model.modules() if type(m).__name__ == "Layer")
    x, mask = lt.randn([1, 128, 768]), lt.zeros([1, 1, 1, 128])
    parameters = list(layer.parameters())

    @lt.trace
    def step(x):
        return lt.autograd.grad((layer(x, mask) ** 2).sum(), parameters)

    return step.explain, lambda: step(x)


def adam():
    parameters = [lt.randn([64, 64]).requires_grad_() for _ in range(20)]
    optimizer = lt.optim.Adam(parameters)

    @lt.trace
    def step():
        sum((p * p).sum() for p in parameters).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step.explain, step


def loop():
    model, inputs = model_of(lstm, "lstm")
    traced = lt.trace(model)
    return traced.explain, lambda: traced(*inputs)


CASES = {
    "ResNet-50": lambda: frozen(resnet, "resnet50"),
    "MobileNetV2": lambda: frozen(mobilenet, "mobilenet_v2"),
    "BERT layer, gradients": gradients,
    "LSTM": loop,
    "Adam step of 20": adam,
}


def main():
    lt.set_num_threads(1)
    told = []
    for name, make in CASES.items():
        explain, call = make()
        call()
        steps = len(re.findall(r"^ +\d+\. ", explain(), re.M))  # once all machine code is made
        call()
        with lt.profiler.profile() as seen:
            call()
        kernels = [e for e in seen.events() if e.kernel]
        whole = sum(e.self_ns for e in kernels)
        vendors = sum(e.self_ns for e in kernels if VENDORS.search(e.kernel))
        floor = sum(e.floor_ns() for e in kernels)
        told.append(
            f"{name} {steps} steps, {100 * vendors / whole:.0f} % in vendors, "
            f"{100 * floor / whole:.0f} % of the time is the floor"
        )
        print(f"{told[-1]}\n{seen.table(limit=20, floor=True)}\n", flush=True)
    print("groups:", "; ".join(told))


if __name__ == "__main__":
    main()
