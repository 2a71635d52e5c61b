"""Logistic regression by L-BFGS (Liu and Nocedal 1989) with a line search."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

FEATURES = 8
TRUE = np.linspace(-2, 2, FEATURES)


def build():
    model = nn.Linear(FEATURES, 1)
    optimizer = torch.optim.LBFGS(
        model.parameters(), lr=1, max_iter=4, line_search_fn="strong_wolfe"
    )
    return model, optimizer


def batch(_, size=64):
    """All data at each step: the method measures how gradients change, which noise would hide."""
    random = np.random.default_rng(1)
    x = random.normal(size=(size, FEATURES))
    y = random.random(size) < 1 / (1 + np.exp(-x @ TRUE))
    dtype = torch.get_default_dtype()
    return torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)


def step(model, optimizer, x, y):
    def closure():
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
        loss = loss + 0.01 * model.weight.square().sum()
        loss.backward()
        return loss

    return optimizer.step(closure)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
