"""A vision transformer (Dosovitskiy and others 2021): where in the picture is the bright blob?"""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

SIDE, PATCH, WIDTH = 12, 3, 32


class Block(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, heads, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)
        )

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    def __init__(self, depth=2, classes=4):
        super().__init__()
        self.patches = nn.Conv2d(1, WIDTH, kernel_size=PATCH, stride=PATCH)
        self.token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.positions = nn.Parameter(0.02 * torch.randn(1, 1 + (SIDE // PATCH) ** 2, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(depth)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1)
        x = self.blocks(x + self.positions)
        return self.head(self.norm(x[:, 0]))


def build():
    model = VisionTransformer()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)


def batch(random, size=32):
    x = random.normal(0, 0.3, (size, 1, SIDE, SIDE))
    quarter = random.integers(0, 4, size)
    half = SIDE // 2
    for picture, q in zip(x, quarter):
        row, column = random.integers(0, half - 2, 2) + half * np.array([q // 2, q % 2])
        picture[0, row : row + 3, column : column + 3] += 1
    return torch.tensor(x, dtype=torch.get_default_dtype()), torch.tensor(quarter)


def step(model, optimizer, x, quarter):
    loss = F.cross_entropy(model(x), quarter)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
