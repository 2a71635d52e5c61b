"""A character-level recurrent network that learns to continue a text."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

TEXT = "the quick brown fox jumps over the lazy dog, and the dog does not even look up. "
LETTERS = sorted(set(TEXT))
CODES = np.array([LETTERS.index(letter) for letter in TEXT * 2])


class CharRNN(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), 16)
        self.rnn = nn.GRU(16, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, len(LETTERS))

    def forward(self, codes, hidden=None):
        out, hidden = self.rnn(self.letters(codes), hidden)
        return self.head(out), hidden


def build():
    model = CharRNN()
    return model, torch.optim.RMSprop(model.parameters(), lr=2e-3)


def batch(random, size=16, length=12):
    starts = random.integers(0, len(TEXT), size)
    return (torch.tensor(np.stack([CODES[s : s + length + 1] for s in starts])),)


def step(model, optimizer, codes):
    model.train()
    scores, _ = model(codes[:, :-1])
    loss = F.cross_entropy(scores.reshape(-1, len(LETTERS)), codes[:, 1:].reshape(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.1)
    optimizer.step()
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
