"""W9: functions of the library that are replaced."""

import math
import types

import lathe as lt
import lathe.nn.functional as F
from lathe import nn


def make():
    return types.SimpleNamespace(
        act=nn.Tanh(), lin=nn.Linear(2, 2), old=(nn.Tanh.forward, F.relu, lt.relu)
    )


def calls(w):
    yield (lt.tensor([-1.0, 2.0]),)
    replace(w)
    yield (lt.tensor([-1.0, 2.0]),)
    yield (lt.tensor([-1.0, 2.0]),)
    restore(w)
    yield (lt.tensor([-1.0, 2.0]),)


# %% forward_of_a_class: equal
def step(w, x):
    return w.act(x)


def replace(w):
    nn.Tanh.forward = lambda self, t: t * 10


def restore(w):
    nn.Tanh.forward = w.old[0]


# %% function_of_functional: equal
def step(w, x):
    return F.relu(x)


def replace(w):
    F.relu = lambda t: t * 10


def restore(w):
    F.relu = w.old[1]


# %% function_of_lathe: equal
def step(w, x):
    return lt.relu(x)


def replace(w):
    lt.relu = lambda t: t * 10


def restore(w):
    lt.relu = w.old[2]


# %% forward_of_an_object: equal
def step(w, x):
    return w.lin(x)


def replace(w):
    w.lin.forward = lambda t: t * 10


def restore(w):
    del w.lin.forward


# %% what_a_layer_calls: equal
OLD = F.linear


def step(w, x):
    return w.lin(x)


def replace(w):
    F.linear = lambda t, weight, bias=None: t * 10


def restore(w):
    F.linear = OLD


# %% function_of_math: equal
FLOOR = math.floor


def step(w, x):
    return x * math.floor(2.5)


def replace(w):
    math.floor = lambda v: 10


def restore(w):
    math.floor = FLOOR


# %% builtin: equal
def step(w, x):
    return x * abs(-2)


def replace(w):
    globals()["abs"] = lambda v: 10


def restore(w):
    del globals()["abs"]


# %% code_of_a_function: equal
def scale(t):
    return t * 2


def other(t):
    return t * 10


KEPT = scale.__code__


def step(w, x):
    return scale(x)


def replace(w):
    scale.__code__ = other.__code__


def restore(w):
    scale.__code__ = KEPT
