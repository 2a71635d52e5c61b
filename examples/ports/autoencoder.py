"""A convolutional autoencoder that takes noise out of stripes."""

import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

SIDE = 16


class Autoencoder(nn.Module):
    def __init__(self, width=8, code=10):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ELU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ELU(),
            nn.Flatten(), nn.Linear(2 * width * (SIDE // 4) ** 2, code),
        )  # fmt: skip
        self.decoder = nn.Sequential(
            nn.Linear(code, 2 * width * (SIDE // 4) ** 2), nn.ELU(),
            nn.Unflatten(1, (2 * width, SIDE // 4, SIDE // 4)),
            nn.ConvTranspose2d(2 * width, width, 3, stride=2, padding=1, output_padding=1),
            nn.ELU(),
            nn.ConvTranspose2d(width, 1, 3, stride=2, padding=1, output_padding=1), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, x):
        return self.decoder(self.encoder(x))


def build():
    model = Autoencoder()
    return model, torch.optim.Adamax(model.parameters(), lr=4e-3), nn.MSELoss()


def batch(random, size=16):
    rows, columns = np.mgrid[:SIDE, :SIDE]
    angle, phase = random.uniform(0, np.pi, (2, size, 1, 1, 1))
    x = 0.5 + 0.5 * np.sin(np.cos(angle) * rows + np.sin(angle) * columns + phase)
    noisy = x + random.normal(0, 0.2, x.shape)
    dtype = torch.get_default_dtype()
    return torch.tensor(noisy, dtype=dtype), torch.tensor(x, dtype=dtype)


def step(model, optimizer, criterion, noisy, x):
    optimizer.zero_grad()
    loss = criterion(model(noisy), x)
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
