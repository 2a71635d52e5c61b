"""Rows 1 and 2."""

import operator
from functools import partial

from peers.torch import tensors

import torch


def tracked_add(a, b):
    a, b = (t.requires_grad_() for t in tensors((a, b)))
    return partial(operator.add, a, b)


def product_gradient(x, w):
    x, w = tensors((x, w))
    w.requires_grad_()
    return lambda: torch.autograd.grad((x * w).sum(), [w])[0]
