"""The method of k means (Lloyd 1982), a batch at a time."""

import numpy as np

import lathe.compat.torch as torch

GROUPS = 5


def build():
    return torch.randn(GROUPS, 2), torch.zeros(GROUPS)


def batch(random, size=200):
    centre = np.stack([np.cos(np.arange(GROUPS) * 1.3), np.sin(np.arange(GROUPS) * 1.3)], 1)
    x = 3 * centre[random.integers(0, GROUPS, size)] + random.normal(0, 0.4, (size, 2))
    return (torch.tensor(x, dtype=torch.get_default_dtype()),)


def step(centres, members, x):
    """The mean squared distance to the nearest centre, which then moves."""
    distance, nearest = torch.cdist(x, centres).min(dim=1)
    count = torch.bincount(nearest, minlength=GROUPS).to(x.dtype)
    total = torch.zeros_like(centres).index_add_(0, nearest, x)
    members += count
    rate = count / members.clamp(min=1)
    means = total / count.clamp(min=1).unsqueeze(1)
    centres += rate.unsqueeze(1) * (means - centres)
    return distance.square().mean()


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
