"""The next word by an LSTM, over sentences of a small grammar."""

import lathe.compat.torch.nn.functional as F
import numpy as np

import lathe.compat.torch as torch
from lathe.compat.torch import nn

SUBJECTS, VERBS, OBJECTS = ["the cat", "a dog", "my friend"], ["sees", "likes"], ["fish", "music"]
WORDS = sorted({w for part in (*SUBJECTS, *VERBS, *OBJECTS, "and .") for w in part.split()})


class WordLSTM(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.words = nn.Embedding(len(WORDS), width)
        self.lstm = nn.LSTM(width, width, num_layers=2)
        self.head = nn.Linear(width, len(WORDS))
        self.head.weight = self.words.weight
        self.start()

    def start(self):
        nn.init.uniform_(self.words.weight, -0.1, 0.1)
        nn.init.zeros_(self.head.bias)

    def forward(self, codes, hidden):
        out, hidden = self.lstm(self.words(codes), hidden)
        return F.log_softmax(self.head(out).view(-1, len(WORDS)), dim=1), hidden


def build(size=8, width=32):
    model = WordLSTM(width)
    hidden = (torch.zeros(2, size, width), torch.zeros(2, size, width))
    return model, *hidden, torch.optim.SGD(model.parameters(), lr=2.0)


def batch(random, size=8, length=10):
    columns = []
    for _ in range(size):
        text = ""
        while len(text.split()) <= length:
            parts = [random.choice(kind) for kind in (SUBJECTS, VERBS, OBJECTS, ["and", "."])]
            text += " ".join(parts) + " "
        columns.append([WORDS.index(word) for word in text.split()[: length + 1]])
    return (torch.tensor(np.array(columns).T),)


def step(model, hidden, cell, optimizer, codes):
    model.train()
    scores, (h, c) = model(codes[:-1], (hidden, cell))
    loss = F.nll_loss(scores, codes[1:].reshape(-1))
    model.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
    hidden.copy_(h.detach())
    cell.copy_(c.detach())
    return loss


if __name__ == "__main__":
    random = np.random.default_rng(0)
    state = build()
    for i in range(20):
        print(f"{i:2d} {step(*state, *batch(random)).item():.6f}")
