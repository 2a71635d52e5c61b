"""Row 23 by its LSTM, row 25 as a loop of Python over vectors (over scalars it takes seconds)."""

from peers.torch import tensors
from rows.loops import ROUNDS, WIDTH

import torch


def layer(wi, wh, b):
    module = torch.nn.LSTM(WIDTH, WIDTH)
    wi, wh, b = tensors((wi, wh, b))
    state = {"weight_ih_l0": wi, "weight_hh_l0": wh, "bias_ih_l0": b}
    module.load_state_dict(state | {"bias_hh_l0": torch.zeros_like(b)})
    return module


def lstm(x, wi, wh, b, _):
    module = layer(wi, wh, b)
    (x,) = tensors((x,))
    return lambda: module(x)[0]


def lstm_gradient(x, wi, wh, b, cotangent):
    module = layer(wi, wh, b)
    x, cotangent = tensors((x, cotangent))
    x.requires_grad_()
    leaves = [x, module.weight_ih_l0, module.weight_hh_l0, module.bias_ih_l0]

    def run():
        y = module(x)[0]
        return (y, *torch.autograd.grad(y, leaves, cotangent))

    return run


def vector_scan_gradient(c, a, b):
    c, a, b = leaves = [t.requires_grad_() for t in tensors((c, a, b))]

    def run():
        state = c
        for _ in range(ROUNDS):
            state = a * state + b * torch.roll(state, -1)
        return torch.autograd.grad((state * state).sum(), leaves)

    return run
