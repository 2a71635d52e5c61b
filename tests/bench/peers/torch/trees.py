"""Row 24: recursion in Python, one product for the parts of each node that share an operand."""

from peers.torch import tensors
from rows.trees import FOREST, WIDTH

import torch


def states(tree, rows, w, b, u, v):
    """h and c of a tree's root."""
    number, children = tree
    z = torch.addmm(b, rows[number], w)
    if not children:
        i, o, t, _ = z.chunk(4, 1)
        c = torch.sigmoid(i) * torch.tanh(t)
        return torch.sigmoid(o) * torch.tanh(c), c
    (h1, c1), (h2, c2) = (states(child, rows, w, b, u, v) for child in children)
    i, o, t = torch.addmm(z[:, : 3 * WIDTH], h1 + h2, u).chunk(3, 1)
    zf = z[:, 3 * WIDTH :]
    f1, f2 = torch.sigmoid(torch.addmm(zf, h1, v)), torch.sigmoid(torch.addmm(zf, h2, v))
    c = torch.sigmoid(i) * torch.tanh(t) + f1 * c1 + f2 * c2
    return torch.sigmoid(o) * torch.tanh(c), c


def heads(rows, *weights):
    return torch.cat([states(tree, rows, *weights)[0] for tree in FOREST])


def roots(x, w, b, u, v, _):
    x, *weights = tensors((x, w, b, u, v))
    rows = x.split(1)
    return lambda: heads(rows, *weights)


def gradient(x, w, b, u, v, cotangents):
    x, *weights, cotangents = tensors((x, w, b, u, v, cotangents))
    rows = x.split(1)
    for t in weights:
        t.requires_grad_()
    return lambda: torch.autograd.grad(heads(rows, *weights), weights, cotangents)
