"""Connectionist temporal classification (Graves and others 2006): tones are read out of noise."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

BLANK, TONES, BANDS, FRAMES, MOST = 0, 4, 8, 24, 5


class Reader(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.conv = nn.Conv1d(BANDS, width, 5, padding=2)
        self.norm = nn.BatchNorm1d(width)
        self.rnn = nn.LSTM(width, width, bidirectional=True)
        self.head = nn.Linear(2 * width, TONES + 1)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x))).permute(2, 0, 1)
        x, _ = self.rnn(x)
        return self.head(x).log_softmax(2)


def build():
    model = Reader()
    criterion = nn.CTCLoss(blank=BLANK, zero_infinity=True)
    return model, criterion, torch.optim.Adam(model.parameters(), lr=3e-3)


def batch(random, size=8):
    x = random.normal(0, 0.3, (size, BANDS, FRAMES))
    tones = random.integers(1, TONES + 1, (size, MOST))
    lengths = random.integers(2, MOST + 1, size)
    for sound, row, length in zip(x, tones, lengths):
        for place, tone in zip(np.sort(random.choice(11, length, replace=False)), row):
            sound[2 * tone - 2 : 2 * tone, 2 * place + 1 : 2 * place + 3] += 1
    x = torch.tensor(x, dtype=torch.get_default_dtype())
    return x, torch.tensor(tones), torch.tensor(lengths)


def step(model, criterion, optimizer, x, tones, lengths):
    scores = model(x)
    frames = torch.full((x.size(0),), scores.size(0), dtype=torch.long)
    loss = criterion(scores, tones, frames, lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
