"""A variational autoencoder (Kingma and Welling 2014) of small pictures of bars."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

SIDE, CODE = 8, 4


class VAE(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, width), nn.Tanh())
        self.mean = nn.Linear(width, CODE)
        self.log_variance = nn.Linear(width, CODE)
        self.decoder = nn.Sequential(
            nn.Linear(CODE, width), nn.Tanh(), nn.Linear(width, SIDE * SIDE),
            nn.Unflatten(1, (1, SIDE, SIDE)),
        )  # fmt: skip

    def forward(self, x, noise):
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + noise * torch.exp(0.5 * log_variance)
        return self.decoder(code), mean, log_variance


def build():
    model = VAE()
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def batch(random, size=32):
    pictures = np.zeros((size, 1, SIDE, SIDE))
    for picture in pictures:
        row, column = random.integers(0, SIDE, 2)
        picture[0, row], picture[0, :, column] = 1, 1
    dtype = torch.get_default_dtype()
    noise = random.normal(size=(size, CODE))
    return torch.tensor(pictures, dtype=dtype), torch.tensor(noise, dtype=dtype)


def step(model, optimizer, x, noise):
    made, mean, log_variance = model(x, noise)
    likelihood = F.binary_cross_entropy_with_logits(made, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    loss = (likelihood + divergence) / len(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
