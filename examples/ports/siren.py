"""A network of sines (Sitzmann and others 2020) that learns a picture and its gradient."""

import math

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn


class Sine(nn.Module):
    def __init__(self, inputs, outputs, first=False, omega=30.0):
        super().__init__()
        self.omega = omega
        self.linear = nn.Linear(inputs, outputs)
        bound = 1 / inputs if first else math.sqrt(6 / inputs) / omega
        with torch.no_grad():
            self.linear.weight.uniform_(-bound, bound)

    def forward(self, x):
        return torch.sin(self.omega * self.linear(x))


def build(width=48):
    model = nn.Sequential(
        Sine(2, width, first=True), Sine(width, width), Sine(width, width), nn.Linear(width, 1)
    )
    return model, torch.optim.Adam(model.parameters(), lr=1e-4)


def batch(random, size=64):
    x = random.uniform(-1, 1, (size, 2))
    wave = np.sin(6 * x[:, :1]) * np.cos(4 * x[:, 1:])
    slope = np.concatenate(
        [
            6 * np.cos(6 * x[:, :1]) * np.cos(4 * x[:, 1:]),
            -4 * np.sin(6 * x[:, :1]) * np.sin(4 * x[:, 1:]),
        ],
        axis=1,
    )
    dtype = torch.get_default_dtype()
    return tuple(torch.tensor(a, dtype=dtype) for a in (x, wave, slope))


def step(model, optimizer, x, wave, slope):
    x = x.clone().detach().requires_grad_(True)
    out = model(x)
    (found,) = torch.autograd.grad(out, x, torch.ones_like(out), create_graph=True)
    loss = F.mse_loss(out, wave) + 0.01 * F.mse_loss(found, slope)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
