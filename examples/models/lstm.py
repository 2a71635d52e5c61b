"""A long short-term memory (Hochreiter and Schmidhuber 1997) as a loop, and a model of words of it.

The loop is written out; `lathe.nn.LSTM` is the same as one module (examples/ports/word_lstm.py).
"""

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


class Cell(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.ih, self.hh = nn.Linear(inputs, 4 * width), nn.Linear(width, 4 * width, bias=False)

    def forward(self, x, hidden, cell):
        i, f, g, o = (self.ih(x) + self.hh(hidden)).chunk(4, dim=-1)
        cell = lt.sigmoid(f) * cell + lt.sigmoid(i) * lt.tanh(g)
        return lt.sigmoid(o) * lt.tanh(cell), cell


class LSTM(nn.Module):
    """x: [time, batch, number]. Gives the states of all times, and both of the last one."""

    def __init__(self, inputs, width):
        super().__init__()
        self.width = width
        self.cell = Cell(inputs, width)

    def forward(self, x):
        hidden = cell = lt.zeros([x.shape[1], self.width])
        states = []
        for now in x:
            hidden, cell = self.cell(now, hidden, cell)
            states.append(hidden)
        return lt.stack(states), hidden, cell


class WordModel(nn.Module):
    """The scores of the next word after every word of tokens, [time, batch]."""

    def __init__(self, words=10000, width=128):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.lstm = LSTM(width, width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        states, _, _ = self.lstm(self.words(tokens))
        return self.head(states)


# name: (settings of the model, texts of a batch, words of a text)
SIZES = {
    "lstm": ({}, 16, 64),
    "small_lstm": ({"words": 20, "width": 12}, 3, 7),
}


def build(name="lstm"):
    settings, _, _ = SIZES[name]
    return WordModel(**settings)


def batch(random, name="lstm"):
    """(tokens, the next token of each), drawn by a NumPy generator."""
    settings, size, length = SIZES[name]
    codes = random.integers(0, settings.get("words", 10000), (length + 1, size))
    return lt.tensor(codes[:-1]), lt.tensor(codes[1:])


def loss(model, tokens, wanted):
    return F.cross_entropy(model(tokens).flatten(0, 1), wanted.flatten())
