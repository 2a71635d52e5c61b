"""Six programs, each captured once for all shapes: eager's bytes.

Arguments have sizes from 2 on in the first test. A size of 0 or 1 may take a program of its own, as
it broadcasts or leaves nothing to reduce: the second one counts those. The sizes that data decides
in the NMS loop are whatever they come to in both. SHAPES: how many random shapes.
"""

import os
import random

import pytest

import lathe as lt
from lathe.nn import functional as F

SHAPES = int(os.environ.get("SHAPES", "40"))
D = 8  # features of what has parameters
TREE = 6


MOST_PROGRAMS = 12  # for sizes of 0 and 1 in all places


class Sizes(random.Random):
    """Random numbers for sizes; small: a third of these are 0 or 1, where they may be."""

    def __init__(self, name, small):
        super().__init__(name)
        self.small = small


def size(rng, most, least=0):
    if rng.small and least < 2 and rng.random() < 1 / 3:
        return rng.randint(least, 1)
    return rng.randint(2, most)


def bits(value):
    if isinstance(value, (tuple, list)):
        return [bits(v) for v in value]
    return value.dtype, tuple(value.shape), value.detach().contiguous().numpy().tobytes()


# ── programs: function, how it is captured, and the arguments of one call ───────────────────────


def mlp(x, w, b, v):
    return F.softmax(lt.relu(x @ w + b) @ v, -1)


def mlp_arguments(rng):
    n, d, h, k = size(rng, 30), size(rng, 30), size(rng, 30), size(rng, 10)
    return lt.randn(n, d), lt.randn(d, h), lt.randn(h), lt.randn(h, k)


class Block(lt.nn.Module):
    """Attention over a batch of sequences, with what stands around it."""

    def __init__(self, heads=2):
        super().__init__()
        self.heads = heads
        self.norm, self.other = lt.nn.LayerNorm(D), lt.nn.LayerNorm(D)
        self.project, self.out = lt.nn.Linear(D, 3 * D), lt.nn.Linear(D, D)
        self.wide, self.back = lt.nn.Linear(D, 4 * D), lt.nn.Linear(4 * D, D)

    def forward(self, x):
        b, t, d = x.shape
        parts = self.project(self.norm(x)).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, d))
        return x + self.back(F.gelu(self.wide(self.other(x))))


def block_arguments(rng):
    return (lt.randn(size(rng, 24), size(rng, 40), D),)


class Pictures(lt.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = lt.nn.Conv2d(3, 4, 3, padding=1)
        self.norm = lt.nn.BatchNorm2d(4).eval()
        self.second = lt.nn.Conv2d(4, 6, 3, stride=2, padding=1)
        self.out = lt.nn.Linear(6, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        return self.out(F.relu(self.second(x)).mean((2, 3)))


def picture_arguments(rng):
    least = 2 if rng.small else 4  # half of it is 1
    return (lt.randn(size(rng, 4), 3, rng.randint(least, 17), rng.randint(least, 17)),)


def gates(x, h, c, w, u, b):
    i, f, g, o = lt.chunk(x @ w + h @ u + b, 4, -1)
    c = lt.sigmoid(f) * c + lt.sigmoid(i) * lt.tanh(g)
    return lt.sigmoid(o) * lt.tanh(c), c


def lstm(xs, h, c, w, u, b):
    def step(carry, x):
        carry = gates(x, *carry, w, u, b)
        return carry, carry[0]

    return lt.scan(step, (h, c), xs)


def lstm_arguments(rng):
    n, d, h = size(rng, 5), size(rng, 6), size(rng, 7)
    state = lt.randn(n, h), lt.randn(n, h)
    weights = lt.randn(d, 4 * h), lt.randn(h, 4 * h), lt.randn(4 * h)
    return lt.randn(size(rng, 9, 1), n, d), *state, *weights


def tree_lstm(leaves, left, right, w, u, b):
    """The states of all nodes: leaves first, then each node behind its two children."""
    count = leaves.shape[0]
    h = lt.cat([lt.tanh(leaves @ w), lt.zeros(left.shape[0], TREE)])
    c = lt.zeros_like(h)

    def join(carry, children):
        h, c = carry
        l, r, at = children
        hl, hr = h.index_select(0, l.reshape(1)), h.index_select(0, r.reshape(1))
        cl, cr = c.index_select(0, l.reshape(1)), c.index_select(0, r.reshape(1))
        i, fl, fr, g, o = lt.chunk(lt.cat([hl, hr], 1) @ u + b, 5, -1)
        new = lt.sigmoid(i) * lt.tanh(g) + lt.sigmoid(fl) * cl + lt.sigmoid(fr) * cr
        at = at.reshape(1)
        h = h.index_copy(0, at, lt.sigmoid(o) * lt.tanh(new))
        return (h, c.index_copy(0, at, new)), new[0]

    return lt.scan(join, (h, c), (left, right, lt.arange(left.shape[0]) + count))


def tree_arguments(rng):
    count = rng.randint(2 if rng.small else 3, 16)
    open_nodes, left, right = list(range(count)), [], []
    while len(open_nodes) > 1:
        rng.shuffle(open_nodes)
        left.append(open_nodes.pop())
        right.append(open_nodes.pop())
        open_nodes.append(count + len(left) - 1)
    d = size(rng, 40, 1)
    children = lt.tensor(left), lt.tensor(right)
    return (lt.randn(count, d), *children, lt.randn(d, TREE), lt.randn(2 * TREE, 5 * TREE),
            lt.randn(5 * TREE))  # fmt: skip


def overlap(box, boxes):
    low, high = lt.maximum(box[:, :2], boxes[:, :2]), lt.minimum(box[:, 2:], boxes[:, 2:])
    both = (high - low).clamp(min=0).prod(1)
    area = (box[:, 2:] - box[:, :2]).prod(1), (boxes[:, 2:] - boxes[:, :2]).prod(1)
    return both / (area[0] + area[1] - both)


def nms(boxes, scores):
    """The boxes that are kept, best first: how many, the data decides in each round."""
    likely = scores > 0.2
    boxes = boxes[likely][scores[likely].argsort(descending=True, stable=True)]
    kept = boxes[:0]
    while boxes.shape[0] > 0:
        kept = lt.cat([kept, boxes[:1]])
        rest = boxes[1:]
        boxes = rest[overlap(kept[-1:], rest) <= 0.3]
    return kept


def nms_arguments(rng):
    n = size(rng, 150)
    low = lt.rand(n, 2)
    return lt.cat([low, low + lt.rand(n, 2) + 0.01], 1), lt.rand(n)


def with_modules(kind):
    lt.manual_seed(8)
    return kind()


PROGRAMS = {
    "MLP": (mlp, lt.trace, mlp_arguments),
    "attention block": (with_modules(Block), lt.trace, block_arguments),
    "CNN": (with_modules(Pictures), lt.trace, picture_arguments),
    "LSTM loop": (lstm, lt.trace, lstm_arguments),
    "TreeLSTM": (tree_lstm, lt.trace, tree_arguments),
    "NMS loop": (nms, lt.script, nms_arguments),
}


def called(name, small):
    """The captured program after all calls, and how many shapes they had."""
    function, capture, arguments = PROGRAMS[name]
    captured = capture(function)
    rng = Sizes(name, small)
    lt.manual_seed(3)
    shapes = set()
    before = lt.get_flag("fallback_is_error")
    lt.set_flag("fallback_is_error", True)
    try:
        for _ in range(SHAPES):
            args = arguments(rng)
            shapes.add(tuple(tuple(a.shape) for a in args))
            with lt.no_grad():
                want, got = function(*args), captured(*args)
            assert bits(got) == bits(want), [a.shape for a in args]
    finally:
        lt.set_flag("fallback_is_error", before)
    assert captured.counts["calls"] == SHAPES and captured.counts["node_by_node"] == 0
    return captured, len(shapes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_program_for_all_shapes(name):
    captured, shapes = called(name, small=False)
    counts = captured.counts
    print(f"{name}: {SHAPES} calls, {shapes} different shapes, {counts['traces']} trace")
    assert counts["traces"] == counts["programs"] == 1, captured.reasons()


@pytest.mark.parametrize("name", PROGRAMS)
def test_few_programs_where_sizes_are_0_and_1(name):
    captured, shapes = called(name, small=True)
    traces = captured.counts["traces"]
    print(f"{name} with 0 and 1: {SHAPES} calls, {shapes} different shapes, {traces} traces")
    assert traces <= MOST_PROGRAMS
