"""Contrastive learning (Chen and others 2020): two views of a signal are found among many."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

LENGTH = 32


class Encoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, width, 5, stride=2, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        )  # fmt: skip
        self.projection = nn.Sequential(
            nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        return F.normalize(self.projection(self.body(x)), dim=1)


def nt_xent(first, second, temperature=0.5):
    """The normalised, temperature-scaled cross entropy of pairs."""
    z = torch.cat([first, second])
    n = len(first)
    similar = z @ z.T / temperature
    similar = similar.masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    partner = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similar, partner)


def build():
    model = Encoder()
    return model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def batch(random, size=24):
    t = np.arange(LENGTH)
    rate, phase = random.uniform(0.2, 1.5, (size, 1)), random.uniform(0, 6, (2, size, 1))
    views = np.sin(rate * t + phase) * random.uniform(0.5, 1.5, (2, size, 1))
    views = (views + random.normal(0, 0.1, views.shape))[:, :, None]
    return tuple(torch.tensor(v, dtype=torch.get_default_dtype()) for v in views)


def step(model, optimizer, first, second):
    loss = nt_xent(model(first), model(second))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
