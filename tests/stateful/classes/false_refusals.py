"""What is refused and need not be."""

import functools
import random
import time
import types

import numpy as np

import lathe as lt
from lathe import nn


def calls(w):
    for n in (2, 2, 3, 2):
        yield (lt.arange(float(n * 2)).reshape(n, 2) + 1,)


# %% clock_in_another_method: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)

    def fit(self):
        began = time.time()
        return time.time() - began + random.random()

    def forward(self, x):
        return self.lin(x)


def make():
    return Model()


def target(w):
    return w


# %% numpy_in_init: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = float(np.sqrt(2.0))
        self.made = time.time() > 0

    def forward(self, x):
        return x * self.scale


def make():
    return Model()


def target(w):
    return w


# %% numpy_constants: equal, traces 2
def step(x):
    return x * np.pi + np.float32(0.5) + np.e


# %% numpy_dtype: equal, traces 2
def step(x):
    return x * np.dtype("float32").itemsize + np.finfo(np.float32).eps


# %% zero_grad_at_the_end: equal, traces 2
def make():
    w = types.SimpleNamespace(lin=nn.Linear(2, 2))
    w.opt = lt.optim.SGD(w.lin.parameters(), lr=0.1)
    return w


def step(w, x):
    loss = w.lin(x).square().mean()
    loss.backward()
    w.opt.step()
    w.opt.zero_grad()
    return loss


# %% zero_grad_first: equal, traces 2
def make():
    w = types.SimpleNamespace(lin=nn.Linear(2, 2))
    w.opt = lt.optim.SGD(w.lin.parameters(), lr=0.1)
    return w


def step(w, x):
    w.opt.zero_grad()
    loss = w.lin(x).square().mean()
    loss.backward()
    w.opt.step()
    return loss.detach()


# %% zero_grad_of_the_module: equal, traces 2
def make():
    return types.SimpleNamespace(lin=nn.Linear(2, 2))


def step(w, x):
    w.lin(x).sum().backward()
    norm = sum(p.grad.square().sum() for p in w.lin.parameters())
    w.lin.zero_grad()
    return norm


# %% parameters_of_a_model: equal, traces 2
def make():
    return nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))


def step(w, x):
    return w(x).sum() + sum(p.square().sum() for p in w.parameters())


# %% named_parameters: equal, traces 2
def make():
    return nn.Linear(2, 2)


def step(w, x):
    penalty = 0.0
    for name, p in w.named_parameters():
        if name.endswith("weight"):
            penalty = penalty + p.abs().sum()
    return w(x).mean() + penalty


# %% lazily_built: equal, traces 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = None

    def forward(self, x):
        if self.lin is None:
            self.lin = nn.Linear(x.shape[-1], 3)
        return self.lin(x)


def make():
    return Model()


def target(w):
    return w


# %% lazily_built_parameter: equal, traces 2
class Model(nn.Module):
    def forward(self, x):
        if not hasattr(self, "w"):
            self.w = nn.Parameter(lt.ones(x.shape[-1]))
        return x * self.w


def make():
    return Model()


def target(w):
    return w


# %% cached_property: equal, traces 2
class Config:
    k = 3.0

    @functools.cached_property
    def scale(self):
        return self.k * 2


def make():
    return Config()


def step(w, x):
    return x * w.scale


# %% cached_tensor: equal, traces 2
class Masks:
    @functools.cached_property
    def mask(self):
        return lt.tril(lt.ones(2, 2))


def make():
    return Masks()


def step(w, x):
    return x @ w.mask


# %% hidden_state: equal, traces 2
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.h = nn.Linear(2, 2), lt.zeros(2)

    def forward(self, x):
        self.h = lt.tanh(self.lin(x).mean(0) + self.h).detach()
        return self.h


def make():
    return Cell()


def target(w):
    return w


# %% hidden_state_reset: equal, traces 3
class Cell:
    h = None

    def __call__(self, x):
        self.h = x.mean() if self.h is None else self.h * 0.5 + x.mean()
        return self.h


def make():
    return Cell()


def step(w, x):
    return w(x)


def calls(w):
    for i in range(6):
        if i == 3:
            w.h = None
        yield (lt.ones(2) * i,)


# %% dict_filled: equal, traces 2
def make():
    return types.SimpleNamespace(seen={})


def step(w, x):
    w.seen["last"] = x.mean()
    w.seen["shape"] = tuple(x.shape)
    return x + 1


# %% generator_used_up_inside: equal, traces 2
def make():
    return types.SimpleNamespace(scales=[1.0, 2.0])


def step(w, x):
    return sum(x * s for s in w.scales)


# %% numbers_and_none: equal, traces 2
def step(x):
    return {"n": 3, "none": None, "name": "a", "nested": [(1, 2.5), {"x": x * 2}]}


# %% counter: equal, traces 2
def make():
    return types.SimpleNamespace(steps=0)


def step(w, x):
    w.steps += 1
    return x * 2


# %% seed_by_method: equal, traces 2
class Model:
    def __init__(self):
        self.rng = random.Random(0)

    def sample(self):
        return self.rng.random()

    def __call__(self, x):
        return x * 2


def make():
    return Model()


def target(w):
    return w.__call__
