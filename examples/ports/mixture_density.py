"""A mixture density network (Bishop 1994) for a curve that has several values at a place."""

import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

MODES = 4


class MixtureDensity(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.Softplus(), nn.Linear(width, width))
        self.chances = nn.Linear(width, MODES)
        self.means = nn.Linear(width, MODES)
        self.log_scales = nn.Linear(width, MODES)

    def forward(self, x):
        hidden = torch.tanh(self.body(x))
        return self.chances(hidden), self.means(hidden), self.log_scales(hidden).clamp(-4, 4)


def negative_log_likelihood(chances, means, log_scales, y):
    apart = (y - means) / log_scales.exp()
    each = torch.log_softmax(chances, dim=1) - log_scales - 0.5 * apart**2
    return -torch.logsumexp(each, dim=1).mean()


def build():
    model = MixtureDensity()
    return model, torch.optim.Adadelta(model.parameters(), lr=1.0)


def batch(random, size=64):
    y = random.uniform(-1, 1, (size, 1))
    x = y + 0.3 * np.sin(6 * y) + random.normal(0, 0.03, (size, 1))
    dtype = torch.get_default_dtype()
    return torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = negative_log_likelihood(*model(x), y)
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
