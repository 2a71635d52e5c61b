"""Row 24: a child-sum TreeLSTM over random binary trees, one node at a time.

z = x W + b with the parts i, o, u, f. A leaf has c = sigmoid(i) tanh(u); an inner node adds the sum
of its children's h times U to i, o and u, and sigmoid(f + h V) c of each child to c. Of every node
h = sigmoid(o) tanh(c).
"""

import random

import numpy as np

from .case import DIFFERENTIATE, Case, sigmoid

TREES, NODES, WIDTH = 8, 51, 150


def make_trees():
    """Each tree: (number, children); the numbers of all trees count the rows of x."""
    choose, numbers = random.Random(7), iter(range(TREES * NODES))

    def tree(leaves):
        if leaves == 1:
            return next(numbers), ()
        left = choose.randint(1, leaves - 1)
        return next(numbers), (tree(left), tree(leaves - left))

    return [tree((NODES + 1) // 2) for _ in range(TREES)]


FOREST = make_trees()


def words(rng):
    """x of every node, W, b, U, V, and the cotangents of the roots' h."""
    h = WIDTH
    shapes = ((TREES * NODES, h), (h, 4 * h), (4 * h,), (h, 3 * h), (h, h), (TREES, h))
    scales = (1, 0.08, 0.08, 0.08, 0.08, 1)
    return [(rng.standard_normal(s) * scale).astype(np.float32) for s, scale in zip(shapes, scales)]


class Node:
    """One node in float64: what it computes, and its part of the gradients."""

    def __init__(self, tree, x, w, b, u, v):
        number, children = tree
        self.x, self.w, self.u, self.v = x[number], w, u, v
        self.children = [Node(child, x, w, b, u, v) for child in children]
        z = np.split(self.x @ w + b, 4)
        self.h_sum = sum((child.h for child in self.children), np.zeros(WIDTH))
        i, o, t = np.split(np.concatenate(z[:3]) + self.h_sum @ u, 3)
        self.i, self.o, self.t = sigmoid(i), sigmoid(o), np.tanh(t)
        self.forget = [sigmoid(z[3] + child.h @ v) for child in self.children]
        self.c = self.i * self.t + sum(f * n.c for f, n in zip(self.forget, self.children))
        self.h = self.o * np.tanh(self.c)

    def backward(self, dh, dc, dw, db, du, dv):
        dc = dc + dh * self.o * (1 - np.tanh(self.c) ** 2)
        gates = np.concatenate(
            [
                dc * self.t * self.i * (1 - self.i),
                dh * np.tanh(self.c) * self.o * (1 - self.o),
                dc * self.i * (1 - self.t**2),
            ]
        )
        forget = [dc * n.c * f * (1 - f) for f, n in zip(self.forget, self.children)]
        dz = np.concatenate([gates, sum(forget, np.zeros(WIDTH))])
        dw += np.outer(self.x, dz)
        db += dz
        du += np.outer(self.h_sum, gates)
        for df, f, child in zip(forget, self.forget, self.children):
            dv += np.outer(child.h, df)
            child.backward(self.u @ gates + self.v @ df, dc * f, dw, db, du, dv)


def roots(x, w, b, u, v, _):
    return np.stack([Node(tree, x, w, b, u, v).h for tree in FOREST])


def gradient(x, w, b, u, v, cotangents):
    """The gradients of W, b, U and V."""
    found = [np.zeros_like(a) for a in (w, b, u, v)]
    for tree, dh in zip(FOREST, cotangents):
        Node(tree, x, w, b, u, v).backward(dh, np.zeros(WIDTH), *found)
    return tuple(found)


TREE = {"row": "24", "group": "scans and trees", "inputs": words, "peers": DIFFERENTIATE}

CASES = (
    Case(
        name="TreeLSTM of 150, 8 trees, 408 nodes",
        kind="trees.roots",
        truth=roots,
        tolerance=1e-5,
        **TREE,
    ),
    Case(
        name="TreeLSTM of 150, 8 trees, 408 nodes, fwd + bwd",
        kind="trees.gradient",
        truth=gradient,
        tolerance=2e-5,
        tracked=True,
        **TREE,
    ),
)
