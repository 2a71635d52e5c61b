"""RNN, LSTM, GRU and their cells against PyTorch's: all combinations of their settings, forward and
gradients; batched or not, padded and packed.

Run by hand, in an environment that has both: ENV/bin/python tests/against_pytorch/recurrent.py
"""

import itertools

import torch
from compare import near, ours
from torch.nn.utils import rnn as their_rnn

import lathe as lt
from lathe import nn
from lathe.nn.utils import rnn

BATCH, TIME, LENGTHS = 3, 6, [3, 6, 2]


def packed_both(theirs, mine, first):
    settings = {"batch_first": first, "enforce_sorted": False}
    a = their_rnn.pack_padded_sequence(theirs, LENGTHS, **settings)
    return a, rnn.pack_padded_sequence(mine, LENGTHS, **settings)


def compare(kind, settings, alone, packed, with_state):
    theirs = getattr(torch.nn, kind)(4, 5, dtype=torch.float64, **settings)
    mine = getattr(nn, kind)(4, 5, dtype=lt.float64, **settings)
    assert list(theirs.state_dict()) == list(mine.state_dict()) and repr(theirs) == repr(mine)
    mine.load_state_dict(ours(theirs.state_dict()))
    first = settings["batch_first"]
    shape = (TIME, 4) if alone else (BATCH, TIME, 4) if first else (TIME, BATCH, 4)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    y = ours(x.detach()).requires_grad_()
    rows = settings["num_layers"] * (1 + settings["bidirectional"])
    batch = () if alone else (BATCH,)
    widths = [settings.get("proj_size") or 5, 5][: 1 + (kind == "LSTM")]
    state = [torch.randn(rows, *batch, w, dtype=torch.float64) for w in widths]
    a, b = packed_both(x, y, first) if packed else (x, y)
    given = [], []
    if with_state:
        given = [tuple(state) if len(state) > 1 else state[0]], [tuple(map(ours, state))]
        given[1][0] = given[1][0] if len(state) > 1 else given[1][0][0]
    (a, ends), (b, my_ends) = theirs(a, *given[0]), mine(b, *given[1])
    if packed:
        (a, n), (b, m) = (r.pad_packed_sequence(s, first) for r, s in ((their_rnn, a), (rnn, b)))
        assert n.tolist() == m.tolist()
    ends, my_ends = (e if kind == "LSTM" else (e,) for e in (ends, my_ends))
    for p, q in zip((b, *my_ends), (a, *ends)):
        near(p, q)
    (a.sin().sum() + sum(e.cos().sum() for e in ends)).backward()
    (b.sin().sum() + sum(e.cos().sum() for e in my_ends)).backward()
    near(y.grad, x.grad)
    for p, q in zip(mine.parameters(), theirs.parameters()):
        near(p.grad, q.grad)


def cells():
    for kind in ("RNNCell", "LSTMCell", "GRUCell"):
        theirs = getattr(torch.nn, kind)(4, 5, dtype=torch.float64)
        mine = getattr(nn, kind)(4, 5, dtype=lt.float64)
        mine.load_state_dict(ours(theirs.state_dict()))
        for shape in ((4,), (3, 4)):
            x = torch.randn(shape, dtype=torch.float64)
            a, b = theirs(x), mine(ours(x))
            a, b = theirs(x, a), mine(ours(x), b)
            for p, q in zip(*((s if kind == "LSTMCell" else (s,)) for s in (b, a))):
                near(p, q)


def main():
    torch.manual_seed(0)
    both, count = (False, True), 0
    for kind in ("RNN", "LSTM", "GRU"):
        for layers, *flags, proj, alone, packed, state in itertools.product(
            (1, 2), both, both, both, (0, 3), both, both, both
        ):
            if (proj and kind != "LSTM") or (alone and packed):
                continue
            settings = dict(zip(("bidirectional", "batch_first", "bias"), flags), num_layers=layers)
            settings |= {"proj_size": proj} if proj else {}
            compare(kind, settings, alone, packed, state)
            count += 1
    cells()
    print(f"{count} forms of layers, and the cells: as PyTorch's")


if __name__ == "__main__":
    main()
