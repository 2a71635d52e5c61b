"""A denoising diffusion model (Ho, Jain and Abbeel 2020) of points on two moons."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

STEPS = 50


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.times = nn.Embedding(STEPS, width)
        self.enter = nn.Linear(2, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.leave = nn.Linear(width, 2)
        beta = torch.linspace(1e-4, 0.05, STEPS)
        self.register_buffer("kept", torch.cumprod(1 - beta, dim=0))

    def forward(self, x, t):
        x = self.enter(x) + self.times(t)
        for layer in self.hidden:
            x = x + layer(F.silu(x))
        return self.leave(F.silu(x))

    def noised(self, x, t, noise):
        kept = self.kept[t].unsqueeze(-1)
        return kept.sqrt() * x + (1 - kept).sqrt() * noise


def build():
    model = Denoiser()
    average = Denoiser().requires_grad_(False)
    average.load_state_dict(model.state_dict())
    return model, average, torch.optim.Adam(model.parameters(), lr=2e-3)


def batch(random, size=64):
    angle, moon = random.uniform(0, np.pi, size), random.integers(0, 2, size)
    x = np.stack([np.cos(angle) + moon, np.sin(angle) * (1 - 2 * moon) + 0.5 * moon], 1)
    x += random.normal(0, 0.05, (size, 2))
    t, noise = random.integers(0, STEPS, size), random.normal(size=(size, 2))
    dtype = torch.get_default_dtype()
    return torch.tensor(x, dtype=dtype), torch.tensor(t), torch.tensor(noise, dtype=dtype)


def step(model, average, optimizer, x, t, noise):
    loss = F.mse_loss(model(model.noised(x, t, noise), t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mean, p in zip(average.parameters(), model.parameters()):
            mean.lerp_(p, 0.05)
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
