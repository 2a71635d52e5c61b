"""A Gaussian process (Rasmussen and Williams 2006) fitted by its marginal likelihood."""

import math

import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn


class GaussianProcess(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length = nn.Parameter(torch.tensor(0.0))
        self.log_scale = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def kernel(self, a, b):
        apart = (a[:, None] - b[None, :]) / self.log_length.exp()
        return self.log_scale.exp() * torch.exp(-0.5 * apart.pow(2))

    def factor(self, x):
        noise = self.log_noise.exp() + 1e-4
        return torch.linalg.cholesky(self.kernel(x, x) + noise * torch.eye(len(x)))

    def forward(self, x, y):
        """The negative logarithm of the likelihood, for each point."""
        lower = self.factor(x)
        weights = torch.cholesky_solve(y[:, None], lower)[:, 0]
        log_det = 2 * torch.log(torch.diagonal(lower)).sum()
        return 0.5 * (y @ weights + log_det + len(x) * math.log(2 * math.pi)) / len(x)

    def predict(self, x, y, at):
        weights = torch.cholesky_solve(y[:, None], self.factor(x))
        return (self.kernel(at, x) @ weights)[:, 0]


def build():
    model = GaussianProcess()
    return model, torch.optim.Adam(model.parameters(), lr=0.05)


def batch(random, size=24):
    x = np.sort(random.uniform(-3, 3, size))
    y = np.sin(2 * x) + 0.3 * x + random.normal(0, 0.1, size)
    dtype = torch.get_default_dtype()
    return torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = model(x, y)
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
