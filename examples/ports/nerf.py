"""A neural radiance field (Mildenhall and others 2020) of a coloured ball, from rays through it."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

OCTAVES, SAMPLES, NEAR, FAR = 4, 16, 1.0, 5.0


def encode(x):
    """Sines and cosines of the coordinates, an octave after the other."""
    parts = [x]
    for n in range(OCTAVES):
        parts += [torch.sin(2.0**n * x), torch.cos(2.0**n * x)]
    return torch.cat(parts, -1)


class Field(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        inputs = 3 * (1 + 2 * OCTAVES)
        self.first = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width))
        self.second = nn.Sequential(nn.Linear(width + inputs, width), nn.ReLU())
        self.density = nn.Linear(width, 1)
        self.colour = nn.Linear(width, 3)

    def forward(self, x):
        code = encode(x)
        hidden = self.second(torch.cat([F.relu(self.first(code)), code], -1))
        return torch.sigmoid(self.colour(hidden)), F.softplus(self.density(hidden)).squeeze(-1)


def render(field, origin, direction, jitter):
    edges = torch.linspace(NEAR, FAR, SAMPLES + 1)
    depth = edges[:-1] + (edges[1:] - edges[:-1]) * jitter
    points = origin[:, None] + direction[:, None] * depth[..., None]
    colour, density = field(points)
    gap = torch.cat([depth[:, 1:] - depth[:, :-1], torch.full_like(depth[:, :1], 1e10)], -1)
    opacity = 1 - torch.exp(-density * gap)
    left = torch.cumprod(1 - opacity + 1e-10, -1)
    reaching = torch.cat([torch.ones_like(left[:, :1]), left[:, :-1]], -1)
    return ((opacity * reaching)[..., None] * colour).sum(-2)


def build():
    field = Field()
    return field, torch.optim.Adam(field.parameters(), lr=5e-3)


def batch(random, size=48):
    origin = random.normal(size=(size, 3))
    origin *= 3 / np.linalg.norm(origin, axis=1, keepdims=True)
    direction = random.normal(0, 0.6, (size, 3)) - origin
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    along = -(origin * direction).sum(1)
    inside = 1 - ((origin + along[:, None] * direction) ** 2).sum(1)
    hit = origin + (along - np.sqrt(inside.clip(0)))[:, None] * direction
    colour = np.where(inside[:, None] > 0, 0.5 + 0.5 * hit, 1.0)
    jitter = random.random((size, SAMPLES))
    dtype = torch.get_default_dtype()
    return tuple(torch.tensor(a, dtype=dtype) for a in (origin, direction, jitter, colour))


def step(field, optimizer, origin, direction, jitter, colour):
    loss = F.mse_loss(render(field, origin, direction, jitter), colour)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
