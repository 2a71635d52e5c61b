"""Attention between sequences (Bahdanau, Cho and Bengio 2015): numbers are turned around."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

DIGITS, START, LENGTH, WIDTH = 8, 8, 6, 32


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.digits = nn.Embedding(DIGITS, WIDTH)
        self.rnn = nn.GRU(WIDTH, WIDTH, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, codes):
        states, last = self.rnn(self.digits(codes))
        return states, torch.tanh(self.bridge(torch.cat([last[0], last[1]], dim=1)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(2 * WIDTH, WIDTH)
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, hidden, states):
        mixed = torch.tanh(self.query(hidden).unsqueeze(1) + self.key(states))
        weights = F.softmax(self.score(mixed).squeeze(2), dim=-1)
        return torch.bmm(weights.unsqueeze(1), states).squeeze(1)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.digits = nn.Embedding(DIGITS + 1, WIDTH)
        self.attention = Attention()
        self.cell = nn.GRUCell(3 * WIDTH, WIDTH)
        self.head = nn.Linear(3 * WIDTH, DIGITS)

    def forward(self, code, hidden, states):
        context = self.attention(hidden, states)
        hidden = self.cell(torch.cat([self.digits(code), context], dim=1), hidden)
        return self.head(torch.cat([hidden, context], dim=1)), hidden


def build():
    encoder, decoder = Encoder(), Decoder()
    parameters = list(encoder.parameters()) + list(decoder.parameters())
    return encoder, decoder, torch.optim.Adam(parameters, lr=3e-3)


def batch(random, size=32):
    codes = random.integers(0, DIGITS, (size, LENGTH))
    return torch.tensor(codes), torch.tensor(random.random(LENGTH) < 0.5)


def step(encoder, decoder, optimizer, codes, forced):
    states, hidden = encoder(codes)
    wanted = torch.flip(codes, dims=[1])
    code = torch.full((codes.size(0),), START, dtype=torch.long)
    loss = 0
    for t in range(LENGTH):
        scores, hidden = decoder(code, hidden, states)
        loss = loss + F.cross_entropy(scores, wanted[:, t])
        code = torch.where(forced[t], wanted[:, t], scores.argmax(dim=1))
    loss = loss / LENGTH
    optimizer.zero_grad()
    loss.backward()
    for part in (encoder, decoder):
        nn.utils.clip_grad_norm_(part.parameters(), max_norm=1.0)
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
