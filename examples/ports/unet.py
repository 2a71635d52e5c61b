"""A U-Net (Ronneberger, Fischer and Brox 2015) that cuts discs out of noise."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

SIDE = 16


class DoubleConv(nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(2, outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1), nn.GroupNorm(2, outputs), nn.ReLU(),
        )  # fmt: skip


class UNet(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.down1, self.down2 = DoubleConv(1, width), DoubleConv(width, 2 * width)
        self.bottom = DoubleConv(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.merge2 = DoubleConv(4 * width, 2 * width)
        self.up1 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.merge1 = DoubleConv(3 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        x = self.bottom(F.max_pool2d(second, 2))
        x = self.merge2(torch.cat([self.up2(x), second], dim=1))
        x = self.merge1(torch.cat([self.up1(x), first], dim=1))
        return self.head(x)


def dice_loss(scores, mask):
    found = torch.sigmoid(scores)
    both = (found * mask).sum(dim=(1, 2, 3))
    return 1 - (2 * both / (found.sum(dim=(1, 2, 3)) + mask.sum(dim=(1, 2, 3)))).mean()


def build():
    model = UNet()
    return model, torch.optim.Adam(model.parameters(), lr=2e-3)


def batch(random, size=8):
    rows, columns = np.mgrid[:SIDE, :SIDE]
    mask = np.zeros((size, 1, SIDE, SIDE))
    for picture in mask:
        row, column, radius = random.uniform(4, SIDE - 4, 2).tolist() + [random.uniform(2, 5)]
        picture[0] = (rows - row) ** 2 + (columns - column) ** 2 < radius**2
    x = mask + random.normal(0, 0.5, mask.shape)
    dtype = torch.get_default_dtype()
    return torch.tensor(x, dtype=dtype), torch.tensor(mask, dtype=dtype)


def step(model, optimizer, x, mask):
    scores = model(x)
    loss = F.binary_cross_entropy_with_logits(scores, mask) + dice_loss(scores, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
