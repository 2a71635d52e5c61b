"""Rows 1 to 4."""

import operator
from functools import partial

from peers.lathe import tensors

import lathe as lt
from lathe import nn


def tracked_add(a, b):
    a, b = (t.requires_grad_() for t in tensors((a, b)))
    return partial(operator.add, a, b)


def product_gradient(x, w):
    x, w = tensors((x, w))

    def by_w(x, w):
        w = w.detach().requires_grad_()
        return lt.autograd.grad((x * w).sum(), [w])[0]

    traced = lt.trace(by_w)
    return {"eager": lambda: by_w(x, w), "traced": lambda: traced(x, w)}


def compiled_add(x):
    (x,) = tensors((x,))
    traced = lt.trace(lambda x: x + 1)
    return lambda: traced(x)


def sgd_step(x, y, w1, b1, w2, b2):
    x, y, w1, b1, w2, b2 = tensors((x, y, w1, b1, w2, b2))
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    model.load_state_dict(
        {"0.weight": w1.T.clone(), "0.bias": b1, "2.weight": w2.T.clone(), "2.bias": b2}
    )
    optimizer = lt.optim.SGD(model.parameters(), lr=0.01)

    @lt.trace
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return lambda: step(x, y)
