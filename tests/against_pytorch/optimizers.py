"""Optimizers against PyTorch's: 50 steps in float64 with each setting, the state both ways, and a
traced step that has the bits of the eager one.

Run by hand, in an environment that has both: ENV/bin/python tests/against_pytorch/optimizers.py
(with names, those alone)
"""

import io
import sys

import torch
from compare import near, ours

import lathe as lt
from lathe import nn, optim, serialization

DECAY = {"weight_decay": 0.1}
SETTINGS = {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, DECAY, {"maximize": True,
    "lr": 1e-4},
            {"momentum": 0.9, "dampening": 0.3} | DECAY, {"foreach": True}],
    "ASGD": [{}, DECAY, {"t0": 10, "lambd": 0.01, "alpha": 0.5}],
    "Rprop": [{}, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}, {"maximize": True, "lr": 1e-4}],
    "Adam": [{}, DECAY, {"amsgrad": True}, {"betas": (0.8, 0.95)}, {"maximize": True, "lr": 1e-4},
             {"decoupled_weight_decay": True} | DECAY],
    "AdamW": [{}, DECAY, {"amsgrad": True}],
    "Adamax": [{}, DECAY, {"betas": (0.8, 0.9)}],
    "NAdam": [{}, DECAY, {"momentum_decay": 0.1}, {"decoupled_weight_decay": True} | DECAY],
    "RAdam": [{}, DECAY, {"betas": (0.8, 0.9)}, {"decoupled_weight_decay": True} | DECAY],
    "RMSprop": [{}, DECAY, {"centered": True}, {"momentum": 0.9}, {"alpha": 0.9, "eps": 0.1}],
    "Adagrad": [{}, DECAY, {"lr_decay": 0.1}, {"initial_accumulator_value": 0.5}],
    "Adadelta": [{}, DECAY, {"rho": 0.5, "eps": 1e-3}],
    "Adafactor": [{}, DECAY, {"beta2_decay": -0.5, "d": 2.0}, {"eps": (1e-8, 1e-2)}],
    "LBFGS": [{}, {"line_search_fn": "strong_wolfe"}, {"history_size": 3, "max_iter": 7},
              {"line_search_fn": "strong_wolfe", "lr": 0.5, "max_eval": 9}],
}  # fmt: skip


def loss(library, a, b):
    """Not convex, and of parameters with one axis and with two."""
    moved = library.tanh(a @ a.T) * 0.5 + library.sin(b * 1.5).sum() * 0.1
    return (moved**2).sum() + ((b - 1) ** 2 * (1 + b**2)).sum() + (a**2).sum() * 0.3


class Run:
    def __init__(self, library, made, params):
        self.library, self.params, self.optimizer = library, params, made

    def closure(self):
        self.optimizer.zero_grad()
        value = loss(self.library, *self.params)
        value.backward()
        return value

    def step(self):
        if type(self.optimizer).__name__ == "LBFGS":
            return self.optimizer.step(self.closure)
        self.closure()
        return self.optimizer.step()


def start(kind, settings):
    generator = torch.Generator().manual_seed(1)
    values = [torch.randn(s, dtype=torch.float64, generator=generator) for s in ((3, 4), (5,))]
    lr = {} if kind in ("Adadelta", "LBFGS") else {"lr": 0.02}
    a = [torch.nn.Parameter(v.clone()) for v in values]
    b = [nn.Parameter(ours(v)) for v in values]
    return (
        Run(torch, getattr(torch.optim, kind)(a, **lr | settings), a),
        Run(lt, getattr(optim, kind)(b, **lr | settings), b),
    )


def moved_over(state, save, load):
    file = io.BytesIO()
    save(state, file)
    file.seek(0)
    return load(file)


def compare(kind, settings):
    theirs, mine = start(kind, settings)
    steps = 5 if kind == "LBFGS" else 50
    for _ in range(steps):
        theirs.step()
        mine.step()
        for p, q in zip(mine.params, theirs.params):
            near(p, q, 1e-7 if kind == "LBFGS" else 1e-12, 1e-11)
    if kind == "LBFGS":
        return
    # The state, from each library to the other; then some more steps.
    again_theirs, again_mine = start(kind, settings)
    state = moved_over(mine.optimizer.state_dict(), serialization.save, torch.load)
    again_theirs.optimizer.load_state_dict(state)
    state = moved_over(theirs.optimizer.state_dict(), torch.save, serialization.load)
    again_mine.optimizer.load_state_dict(state)
    with torch.no_grad(), lt.no_grad():
        for p, q, r in zip(again_theirs.params, again_mine.params, theirs.params):
            p.copy_(r)
            q.copy_(ours(r))
    for _ in range(5):
        for run in (theirs, mine, again_theirs, again_mine):
            run.step()
        for p, q, r in zip(again_theirs.params, again_mine.params, theirs.params):
            near(q, r, 1e-12, 1e-11)
            torch.testing.assert_close(p, r, rtol=1e-12, atol=1e-11)


def traced(kind, settings):
    _, eager = start(kind, settings)
    _, graph = start(kind, settings)
    step = lt.trace(graph.step)
    for _ in range(20):
        eager.step()
        step()
        for p, q in zip(eager.params, graph.params):
            assert lt.equal(p, q), (kind, settings)


def main():
    for kind in sys.argv[1:] or SETTINGS:
        for settings in SETTINGS[kind]:
            try:
                compare(kind, settings)
                if kind != "LBFGS":
                    traced(kind, settings)
            except Exception as error:
                raise AssertionError(f"{kind} {settings}") from error
        print(kind, len(SETTINGS[kind]), flush=True)


if __name__ == "__main__":
    main()
