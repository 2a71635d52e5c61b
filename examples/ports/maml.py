"""Learning to learn (Finn, Abbeel and Levine 2017): sine waves from five points each."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

RATE = 0.05


class Regressor(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.layers(x)


def build():
    model = Regressor()
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def batch(random, tasks=4, points=5):
    height, phase = random.uniform(0.5, 3, (tasks, 1, 1)), random.uniform(0, np.pi, (tasks, 1, 1))
    dtype = torch.get_default_dtype()
    x = random.uniform(-3, 3, (2, tasks, points, 1))
    y = height * np.sin(x + phase)
    return torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)


def adapt(model, x, y, steps=2):
    """The parameters after a few steps of descent, which can be differentiated in turn."""
    parameters = dict(model.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(torch.func.functional_call(model, parameters, (x,)), y)
        gradients = torch.autograd.grad(loss, list(parameters.values()), create_graph=True)
        parameters = {name: p - RATE * g for (name, p), g in zip(parameters.items(), gradients)}
    return parameters


def step(model, optimizer, x, y):
    loss = 0.0
    for seen_x, seen_y, new_x, new_y in zip(x[0], y[0], x[1], y[1]):
        adapted = adapt(model, seen_x, seen_y)
        loss = loss + F.mse_loss(torch.func.functional_call(model, adapted, (new_x,)), new_y)
    loss = loss / x.shape[1]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
