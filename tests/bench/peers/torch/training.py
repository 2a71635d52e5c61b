"""Rows 16 and 17: its fused Adam."""

from peers.torch import tensors
from rows.training import BETAS, EPS, RATE

import torch
from torch import nn


def fused(parameters):
    return torch.optim.Adam(parameters, lr=RATE, betas=BETAS, eps=EPS, fused=True)


def adam_step(x, w1, b1, w2, b2, classes):
    x, w1, b1, w2, b2, classes = tensors((x, w1, b1, w2, b2, classes))
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    model.load_state_dict({"0.weight": w1, "0.bias": b1, "2.weight": w2, "2.bias": b2})
    optimizer = fused(model.parameters())

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), classes)
        loss.backward()
        optimizer.step()
        return loss

    return step


def adam(*arrays):
    half = len(arrays) // 2
    parameters = [nn.Parameter(t.clone()) for t in tensors(arrays[:half])]
    for parameter, grad in zip(parameters, tensors(arrays[half:])):
        parameter.grad = grad
    optimizer = fused(parameters)

    def step():
        optimizer.step()
        return parameters[0], parameters[-1]

    return step
