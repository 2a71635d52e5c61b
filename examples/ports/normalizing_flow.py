"""A flow of invertible layers (Dinh, Sohl-Dickstein and Bengio 2017): the density of a banana."""

import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn


class Coupling(nn.Module):
    """One coordinate is scaled and moved by what the other says."""

    def __init__(self, flip, width=24):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, x):
        if self.flip:
            x = x.flip(-1)
        kept, moved = x.chunk(2, dim=-1)
        scale, shift = self.net(kept).chunk(2, dim=-1)
        scale = torch.tanh(scale)
        return torch.cat([kept, moved * scale.exp() + shift], dim=-1), scale.sum(-1)


class Flow(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(n % 2 == 1) for n in range(depth)])
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("deviation", torch.ones(2))

    def log_prob(self, x):
        logarithm = 0
        for layer in self.layers:
            x, change = layer(x)
            logarithm = logarithm + change
        base = torch.distributions.Normal(self.mean, self.deviation)
        return base.log_prob(x).sum(-1) + logarithm


def build():
    flow = Flow()
    return flow, torch.optim.RAdam(flow.parameters(), lr=5e-3)


def batch(random, size=64):
    x = random.normal(size=(size, 2))
    x[:, 1] = 0.5 * x[:, 1] + x[:, 0] ** 2 - 1
    return (torch.tensor(x, dtype=torch.get_default_dtype()),)


def step(flow, optimizer, x):
    optimizer.zero_grad(set_to_none=True)
    loss = -flow.log_prob(x).mean()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
