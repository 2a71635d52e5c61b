"""Rows 5 to 7."""

from functools import partial

from peers.torch import called, tensors

import torch


def kept_add(a, b):
    a, b = tensors((a, b))
    out = torch.empty_like(a)
    return lambda: torch.add(a, b, out=out)


def tanh_gelu(x):
    def composed(x):
        return 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))

    return called(composed, x)


exp = partial(called, torch.exp)
log = partial(called, torch.log)
tanh = partial(called, torch.tanh)
sin = partial(called, torch.sin)
sigmoid = partial(called, torch.sigmoid)
erf = partial(called, torch.erf)
pow = partial(called, torch.pow)
