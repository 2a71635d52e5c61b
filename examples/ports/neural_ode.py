"""A neural ordinary differential equation (Chen and others 2018) that learns a spiral."""

import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

TRUE = np.array([[-0.1, 2.0], [-2.0, -0.1]])
STEPS, LENGTH = 10, 0.05


class Field(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


def solve(field, y, steps=STEPS, h=LENGTH):
    """The classical method of Runge and Kutta; the states at all times."""
    path = [y]
    for n in range(steps):
        t = n * h
        k1 = field(t, y)
        k2 = field(t + h / 2, y + h / 2 * k1)
        k3 = field(t + h / 2, y + h / 2 * k2)
        k4 = field(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return torch.stack(path)


def build():
    field = Field()
    return field, torch.optim.RMSprop(field.parameters(), lr=1e-3)


def batch(random, size=20):
    y = random.uniform(-1.5, 1.5, (size, 2))
    path = [y]
    for _ in range(STEPS):
        for _ in range(10):
            y = y + LENGTH / 10 * y**3 @ TRUE
        path.append(y)
    dtype = torch.get_default_dtype()
    return torch.tensor(path[0], dtype=dtype), torch.tensor(np.stack(path), dtype=dtype)


def step(field, optimizer, start, path):
    optimizer.zero_grad()
    loss = torch.mean(torch.abs(solve(field, start) - path))
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
