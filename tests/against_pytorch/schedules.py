"""Schedules of learning rates against PyTorch's: each alone, after a restart, and several together;
and swa_utils.

Run by hand, in an environment that has both: ENV/bin/python tests/against_pytorch/schedules.py
"""

import math

import numpy as np
import torch
from compare import near, ours

import lathe as lt
from lathe import nn, optim

SETTINGS = {
    "StepLR": [{"step_size": 3}, {"step_size": 2, "gamma": 0.5}],
    "MultiStepLR": [{"milestones": [3, 5, 5, 9]}, {"milestones": [2], "gamma": 0.3}],
    "ConstantLR": [{}, {"factor": 0.5, "total_iters": 3}],
    "LinearLR": [{}, {"start_factor": 0.5, "end_factor": 0.1, "total_iters": 7}],
    "ExponentialLR": [{"gamma": 0.9}],
    "PolynomialLR": [{}, {"total_iters": 9, "power": 2.0}],
    "CosineAnnealingLR": [{"T_max": 5}, {"T_max": 7, "eta_min": 0.01}],
    "CosineAnnealingWarmRestarts": [{"T_0": 4}, {"T_0": 3, "T_mult": 2, "eta_min": 0.01}],
    "LambdaLR": [{"lr_lambda": lambda e: 0.9**e}],
    "MultiplicativeLR": [{"lr_lambda": lambda e: 0.95 if e % 2 else 1.1}],
    "CyclicLR": [
        {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 4, "mode": m, "gamma": 0.9}
        for m in ("triangular", "triangular2", "exp_range")
    ] + [{"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3, "step_size_down": 5,
          "scale_fn": lambda x: 1 / (1 + x), "scale_mode": "iterations"}],
    "OneCycleLR": [
        {"max_lr": 0.3, "total_steps": 31}, {"max_lr": [0.3, 0.5], "epochs": 4,
        "steps_per_epoch": 8},
        {"max_lr": 0.3, "total_steps": 40, "three_phase": True, "anneal_strategy": "linear"},
    ],
}  # fmt: skip


def both(kind="SGD", **settings):
    groups = [{"lr": 0.2}, {"lr": 0.5}]
    a = [{"params": [torch.nn.Parameter(torch.ones(1))], **g} for g in groups]
    b = [{"params": [nn.Parameter(lt.ones(1))], **g} for g in groups]
    return getattr(torch.optim, kind)(a, **settings), getattr(optim, kind)(b, **settings)


def trajectory(optimizer, step, count):
    seen = []
    for i in range(count):
        optimizer.step()
        step(i)
        for group in optimizer.param_groups:
            seen.append((group["lr"], group.get("momentum", 0), *group.get("betas", ())))
    return np.array(seen)


def same(pair, made, count=30, step=lambda s: lambda i: s.step()):
    a, b = (trajectory(o, step(s), count) for o, s in zip(pair, made))
    np.testing.assert_allclose(b, a, rtol=1e-13, atol=1e-16)
    for s, t in zip(*(m.get_last_lr() for m in made)):
        assert math.isclose(s, t, rel_tol=1e-13)


def alone(kind, settings):
    libraries = torch.optim.lr_scheduler, optim.lr_scheduler
    for optimizer in ("SGD", "Adam"):
        more = {"momentum": 0.9} if optimizer == "SGD" else {}
        pair = both(optimizer, **more)
        made = [getattr(m, kind)(o, **settings) for m, o in zip(libraries, pair)]
        same(pair, made)
    if kind not in ("CyclicLR", "OneCycleLR", "LambdaLR", "MultiplicativeLR"):
        pair = both()
        made = [getattr(m, kind)(o, **settings) for m, o in zip(libraries, pair)]
        same(pair, made, 6)
        state = made[0].state_dict()
        made[1].load_state_dict(state)
        same(pair, made, 20)
        if hasattr(made[0], "_get_closed_form_lr"):
            same(pair, made, 9, lambda s: lambda i: s.step(i * 3))


def several():
    pair = both()
    made = []
    for library, o in zip((torch.optim.lr_scheduler, optim.lr_scheduler), pair):
        parts = [library.ConstantLR(o, 0.1, 5), library.ExponentialLR(o, 0.9),
                 library.CosineAnnealingLR(o, 6)]  # fmt: skip
        made.append(library.SequentialLR(o, parts, [4, 11]))
    same(pair, made)
    pair = both()
    made = [
        library.ChainedScheduler([library.LinearLR(o), library.ExponentialLR(o, 0.9)])
        for library, o in zip((torch.optim.lr_scheduler, optim.lr_scheduler), pair)
    ]
    same(pair, made)
    for settings in (
        {}, {"patience": 2, "factor": 0.5, "cooldown": 2}, {"mode": "max", "patience": 1},
        {"threshold_mode": "abs", "threshold": 0.05, "patience": 0, "min_lr": [0.01, 0.1]},
    ):  # fmt: skip
        pair = both()
        made = [
            library.ReduceLROnPlateau(o, **settings)
            for library, o in zip((torch.optim.lr_scheduler, optim.lr_scheduler), pair)
        ]
        metrics = np.sin(np.arange(60) / 3) + np.arange(60) / 60
        same(pair, made, 60, lambda s, m=metrics: lambda i: s.step(m[i]))


def averages():
    for average in (None, "ema"):
        a, b = torch.nn.Linear(3, 2, dtype=torch.float64), nn.Linear(3, 2, dtype=lt.float64)
        b.load_state_dict(ours(a.state_dict()))
        utils = torch.optim.swa_utils, optim.swa_utils
        given = [{} if average is None else {"avg_fn": u.get_ema_avg_fn(0.9)} for u in utils]
        means = [u.AveragedModel(m, **g) for u, m, g in zip(utils, (a, b), given)]
        for _ in range(6):
            noise = torch.randn(2, 3, dtype=torch.float64)
            with torch.no_grad(), lt.no_grad():
                a.weight.add_(noise)
                b.weight.add_(ours(noise))
            means[0].update_parameters(a)
            means[1].update_parameters(b)
        assert list(means[0].state_dict()) == list(means[1].state_dict())
        for p, q in zip(means[1].parameters(), means[0].parameters()):
            near(p, q)
    pair = both()
    same(pair, [u.SWALR(o, 0.05, 5) for u, o in zip(utils, pair)], 12)
    pair = both()
    same(pair, [u.SWALR(o, 0.05, 4, "linear") for u, o in zip(utils, pair)], 12)


if __name__ == "__main__":
    torch.manual_seed(0)
    for kind, all_settings in SETTINGS.items():
        for settings in all_settings:
            alone(kind, settings)
    several()
    averages()
    print("schedules and averages: as PyTorch's")
