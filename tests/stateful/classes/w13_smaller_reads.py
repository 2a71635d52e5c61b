"""W13: smaller reads of tensors and of the library's state."""

import types

import numpy as np

import lathe as lt


def make():
    return types.SimpleNamespace(t=lt.ones(2), p=lt.ones(2, requires_grad=True))


def calls(w):
    yield (lt.ones(2),)
    change(w)
    yield (lt.ones(2),)
    yield (lt.ones(2),)


def change(w):
    w.t = lt.arange(3.0)[1:]


# %% result_after_a_backward: equal
def step(w, x):
    y = x * w.p
    y.sum().backward(retain_graph=True)
    return y


# %% get_flag: equal
def step(w, x):
    return x * (2 if lt.get_flag("memory_cache") == "64M" else 3)


def change(w):
    lt.set_flag("memory_cache", "64M")


# %% text_under_print_options: equal
def step(w, x):
    return x + len(str(w.t)), str(w.t)


def change(w):
    w.t = w.t * 1.23456789
    lt.set_printoptions(precision=2)


# %% is_leaf: equal
def step(w, x):
    return x * (2 if w.p.is_leaf else 3)


def change(w):
    w.p = w.p * 1


# %% grad_fn: equal
def step(w, x):
    return x * (2 if w.p.grad_fn is None else 3)


def change(w):
    w.p = w.p * 1


# %% storage_offset: equal
def step(w, x):
    return x + w.t.storage_offset()


# %% version: either
def step(w, x):
    return x + w.t._version


def change(w):
    w.t.add_(1)


# %% isinstance_of_a_size: equal
def step(w, x):
    return x * (2 if isinstance(x.shape[0], int) else 3), type(x.shape[0]) is int


# %% stride_of_an_expanded_axis: equal
def step(w, x):
    return x + w.t.stride()[0], w.t.is_contiguous()


def change(w):
    w.t = lt.ones(1).expand(2)


# %% requires_grad: equal
def step(w, x):
    return x * (2 if w.p.requires_grad else 3)


def change(w):
    w.p.requires_grad_(False)


# %% identity_of_tensors: equal
def step(w, x):
    return x * (2 if w.t is w.p else 3)


def change(w):
    w.t = w.p


# %% default_dtype: equal
def step(w, x):
    return x + lt.zeros(2), lt.get_default_dtype() is lt.float32


def change(w):
    lt.set_default_dtype(lt.float64)


# %% one_tensor_at_two_places: equal
def make():
    w = types.SimpleNamespace(a=lt.ones(2))
    w.b = w.a
    return w


def step(w, x):
    w.a.add_(1)
    return x * w.b


def change(w):
    w.b = w.a * 3


# %% largest_element_of_an_array: either
def make():
    return types.SimpleNamespace(a=np.arange(3.0))


def step(w, x):
    return x * float(w.a.max())


def change(w):
    w.a[1] = 7.0
