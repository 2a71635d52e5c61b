"""A binary TreeLSTM (Tai and others 2015): a state for every node of a tree, from its children's.

A tree is a word, as a tensor without axes, or a pair of trees. The model calls itself for each part
of a tree, so a trace of the whole model is of one tree; a trace of its `join`, which is where the
time goes, is of all: `model.join = lt.trace(model.join)`.
"""

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


class Join(nn.Module):
    """The state of a node from the states of its children, each (hidden, cell)."""

    def __init__(self, width):
        super().__init__()
        self.left = nn.Linear(width, 5 * width)
        self.right = nn.Linear(width, 5 * width, bias=False)

    def forward(self, left, right):
        (lh, lc), (rh, rc) = left, right
        i, o, g, lf, rf = (self.left(lh) + self.right(rh)).chunk(5, dim=-1)
        cell = lt.sigmoid(i) * lt.tanh(g) + lt.sigmoid(lf) * lc + lt.sigmoid(rf) * rc
        return lt.sigmoid(o) * lt.tanh(cell), cell


class TreeLSTM(nn.Module):
    """Scores of the kinds of a tree."""

    def __init__(self, words=2000, width=150, kinds=5):
        super().__init__()
        self.words = nn.Embedding(words, 2 * width)
        self.join = Join(width)
        self.head = nn.Linear(width, kinds)

    def state(self, tree):
        if isinstance(tree, tuple):
            left, right = tree
            return self.join(self.state(left), self.state(right))
        hidden, cell = self.words(tree).unsqueeze(0).chunk(2, dim=-1)
        return lt.tanh(hidden), lt.tanh(cell)

    def forward(self, tree):
        hidden, _ = self.state(tree)
        return self.head(hidden)


# name: (settings of the model, words of a tree)
SIZES = {
    "tree_lstm": ({}, 26),
    "small_tree_lstm": ({"words": 20, "width": 6, "kinds": 3}, 5),
}


def build(name="tree_lstm"):
    settings, _ = SIZES[name]
    return TreeLSTM(**settings)


def grow(random, words, leaves):
    if leaves == 1:
        return lt.tensor(random.integers(0, words))
    first = int(random.integers(1, leaves))
    return grow(random, words, first), grow(random, words, leaves - first)


def batch(random, name="tree_lstm"):
    """(tree, its kind), drawn by a NumPy generator."""
    settings, leaves = SIZES[name]
    kind = lt.tensor(random.integers(0, settings.get("kinds", 5), 1))
    return grow(random, settings.get("words", 2000), leaves), kind


def loss(model, tree, kind):
    return F.cross_entropy(model(tree), kind)
