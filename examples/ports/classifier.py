"""A classifier: two hidden layers tell the three arms of a spiral apart."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn


class Classifier(nn.Module):
    def __init__(self, width=64, classes=3):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.layers(x))


def build():
    model = Classifier()
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)


def batch(random, size=96):
    arm = random.integers(0, 3, size)
    radius = random.uniform(0.1, 1, size)
    angle = 2 * np.pi * arm / 3 + 4 * radius + random.normal(0, 0.1, size)
    x = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return torch.tensor(x, dtype=torch.get_default_dtype()), torch.tensor(arm)


def step(model, optimizer, x, arm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), arm, label_smoothing=0.05)
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
