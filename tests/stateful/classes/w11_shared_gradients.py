"""W11: two parameters that share a gradient."""

import types

import lathe as lt


def make():
    w = types.SimpleNamespace(a=lt.ones(2, requires_grad=True), b=lt.ones(2, requires_grad=True))
    w.a.grad, w.b.grad = lt.zeros(2), lt.zeros(2)
    return w


def calls(w):
    yield (lt.ones(2),)
    share(w)
    yield (lt.ones(2),)
    yield (lt.ones(2),)
    w.a.grad = lt.zeros(2)
    yield (lt.ones(2),)


# %% added_to_both: either
def step(w, x):
    w.a.grad.add_(x)
    w.b.grad.add_(x)
    return w.a.grad + w.b.grad


def share(w):
    w.b.grad = w.a.grad


# %% backward_into_both: either
def step(w, x):
    (w.a * x + w.b * x * 2).sum().backward()
    return x + 1


def share(w):
    w.b.grad = w.a.grad


# %% a_view_of_the_other: either
def step(w, x):
    w.a.grad.add_(x)
    return w.b.grad * 2


def share(w):
    w.b.grad = w.a.grad.view(2)


# %% gradient_that_is_the_parameter: either
def step(w, x):
    w.a.grad.mul_(2)
    return w.b.detach() + x


def share(w):
    w.a.grad = w.b.detach()
