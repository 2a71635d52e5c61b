"""A filter that is learnt where signals are frequencies: noise is taken from sums of waves."""

import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

LENGTH = 64


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(LENGTH // 2 + 1))
        self.shift = nn.Parameter(torch.zeros(LENGTH // 2 + 1))

    def forward(self, x):
        spectrum = torch.fft.rfft(x, dim=-1)
        response = torch.complex(self.gain * self.shift.cos(), self.gain * self.shift.sin())
        return torch.fft.irfft(spectrum * response, n=LENGTH, dim=-1)


def build():
    model = Filter()
    return model, torch.optim.Adam(model.parameters(), lr=0.05)


def batch(random, size=32):
    t = 2 * np.pi * np.arange(LENGTH) / LENGTH
    rate, phase = random.integers(1, 8, (2, size, 1)), random.uniform(0, 6, (2, size, 1))
    clean = np.sin(rate * t + phase).sum(0)
    noisy = np.roll(clean, 2, axis=1) + random.normal(0, 0.5, clean.shape)
    dtype = torch.get_default_dtype()
    return torch.tensor(noisy, dtype=dtype), torch.tensor(clean, dtype=dtype)


def step(model, optimizer, noisy, clean):
    optimizer.zero_grad()
    difference = torch.fft.rfft(model(noisy) - clean, norm="ortho")
    loss = difference.abs().square().mean()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
