"""What costs a trace at each call and need not."""

import types

import lathe as lt
from lathe import nn


def calls(w):
    for i in range(12):
        change(w, i)
        yield (lt.ones(2) * i,)


# %% float_that_changes: equal, traces 2
def make():
    return types.SimpleNamespace(k=0.0)


def step(w, x):
    return x * w.k


def change(w, i):
    w.k = i * 0.37


# %% float_argument: equal, traces 2
def step(x, k):
    return x * k + k


def calls(w):
    for i in range(12):
        yield lt.ones(2), i * 0.37


# %% schedule_of_the_learning_rate: equal, traces 3
def make():
    w = types.SimpleNamespace(lin=nn.Linear(2, 2))
    w.opt = lt.optim.SGD(w.lin.parameters(), lr=0.5, momentum=0.9)
    return w


def step(w, x):
    loss = w.lin(x).square().mean()
    loss.backward()
    w.opt.step()
    return loss.detach()


def change(w, i):
    w.opt.zero_grad()
    w.opt.param_groups[0]["lr"] = 0.5 * 0.9**i


# %% scheduler: equal, traces 3
def make():
    w = types.SimpleNamespace(lin=nn.Linear(2, 2))
    w.opt = lt.optim.Adam(w.lin.parameters(), lr=0.5)
    w.sched = lt.optim.lr_scheduler.CosineAnnealingLR(w.opt, 20)
    return w


def step(w, x):
    loss = w.lin(x).square().mean()
    loss.backward()
    w.opt.step()
    return loss.detach()


def change(w, i):
    if i:
        w.sched.step()
    w.opt.zero_grad()


# %% lambda_made_anew: equal, traces 2
def make():
    return types.SimpleNamespace(f=None)


def step(w, x):
    return w.f(x)


def change(w, i):
    w.f = lambda t: t * 2


# %% list_made_anew: equal, traces 2
def make():
    return types.SimpleNamespace(scales=None)


def step(w, x):
    for s in w.scales:
        x = x * s
    return x


def change(w, i):
    w.scales = [1.0, 2.0]


# %% counter_of_steps: equal, traces 3
def make():
    return types.SimpleNamespace(t=0)


def step(w, x):
    w.t += 1
    return x / w.t


def change(w, i):
    pass


# %% batch_in_numpy: equal, traces 2
import numpy as np


def make():
    return types.SimpleNamespace(batch=np.zeros(2, np.float32))


def step(w, x):
    return x + lt.from_numpy(w.batch)


def change(w, i):
    w.batch = np.full(2, i, np.float32)


# %% sizes: equal, traces 2
def step(x):
    return x * x.shape[0] + x.sum()


def calls(w):
    for n in (2, 3, 4, 5, 6, 7, 8, 9):
        yield (lt.ones(n),)


# %% dict_argument_made_anew: equal, traces 2
def step(batch):
    return batch["x"] * batch["k"]


def calls(w):
    for i in range(8):
        yield ({"x": lt.ones(2), "k": i * 0.5},)
