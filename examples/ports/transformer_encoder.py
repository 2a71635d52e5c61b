"""A transformer encoder: which of two tokens does a sequence of some length have more of?"""

import math

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

TOKENS, LENGTH, WIDTH = 6, 10, 32


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(TOKENS + 1, WIDTH, padding_idx=TOKENS)
        position = torch.arange(LENGTH).unsqueeze(1)
        rate = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        waves = torch.zeros(LENGTH, WIDTH)
        waves[:, 0::2] = torch.sin(position * rate)
        waves[:, 1::2] = torch.cos(position * rate)
        self.register_buffer("waves", waves)
        layer = nn.TransformerEncoderLayer(
            WIDTH, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, codes):
        padding = codes == TOKENS
        x = self.tokens(codes) * WIDTH**0.5 + self.waves
        x = self.encoder(x, src_key_padding_mask=padding)
        weight = (~padding).unsqueeze(-1).to(x.dtype)
        return self.head((x * weight).sum(1) / weight.sum(1))


def build():
    model = Encoder()
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def batch(random, size=24):
    codes = random.integers(0, TOKENS, (size, LENGTH))
    codes[np.arange(LENGTH) >= random.integers(3, LENGTH + 1, size)[:, None]] = TOKENS
    more = (codes == 0).sum(1) > (codes == 1).sum(1)
    return torch.tensor(codes), torch.tensor(more.astype(np.int64))


def step(model, optimizer, codes, more):
    model.train()
    loss = F.cross_entropy(model(codes), more)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
