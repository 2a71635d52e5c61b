"""Row 24: recursion in Python over a cell, which is eager or traced."""

from peers.lathe import tensors
from rows.trees import FOREST, WIDTH

import lathe as lt


def leaf(x, w, b):
    i, o, u, _ = (x @ w + b).chunk(4, 1)
    c = lt.sigmoid(i) * lt.tanh(u)
    return lt.sigmoid(o) * lt.tanh(c), c


def inner(x, h1, c1, h2, c2, w, b, wh, wf):
    z = x @ w + b
    i, o, u = (z[:, : 3 * WIDTH] + (h1 + h2) @ wh).chunk(3, 1)
    zf = z[:, 3 * WIDTH :]
    f1, f2 = lt.sigmoid(zf + h1 @ wf), lt.sigmoid(zf + h2 @ wf)
    c = lt.sigmoid(i) * lt.tanh(u) + f1 * c1 + f2 * c2
    return lt.sigmoid(o) * lt.tanh(c), c


def states(cells, tree, rows, w, b, wh, wf):
    """h and c of a tree's root."""
    number, children = tree
    if not children:
        return cells[0](rows[number], w, b)
    (h1, c1), (h2, c2) = (states(cells, child, rows, w, b, wh, wf) for child in children)
    return cells[1](rows[number], h1, c1, h2, c2, w, b, wh, wf)


CELLS = {"eager": (leaf, inner), "traced": (lt.trace(leaf), lt.trace(inner))}


def heads(cells, rows, *weights):
    return lt.cat([states(cells, tree, rows, *weights)[0] for tree in FOREST])


def roots(x, w, b, u, v, _):
    x, *weights = tensors((x, w, b, u, v))
    rows = x.split(1)
    return {n: lambda cells=cells: heads(cells, rows, *weights) for n, cells in CELLS.items()}


def gradient(x, w, b, u, v, cotangents):
    x, *weights, cotangents = tensors((x, w, b, u, v, cotangents))
    rows = x.split(1)
    for t in weights:
        t.requires_grad_()

    def run(cells):
        return lt.autograd.grad(heads(cells, rows, *weights), weights, cotangents)

    return {n: lambda cells=cells: run(cells) for n, cells in CELLS.items()}
