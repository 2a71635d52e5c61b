"""MultiheadAttention and the Transformer against PyTorch's: settings, masks, forward and gradients.

Run by hand, in an environment that has both: ENV/bin/python tests/against_pytorch/attention.py
"""

import itertools

import torch
from compare import near, ours

from lathe import float64, nn

QUERIES, KEYS, BATCH, WIDTH, HEADS = 5, 7, 3, 8, 2


def both(kind, *args, **settings):
    theirs = getattr(torch.nn, kind)(*args, dtype=torch.float64, **settings)
    mine = getattr(nn, kind)(*args, dtype=float64, **settings)
    for p in theirs.parameters():  # biases are zeros at first
        torch.nn.init.normal_(p, 0, 0.5)
    assert sorted(theirs.state_dict()) == sorted(mine.state_dict())
    mine.load_state_dict(ours(theirs.state_dict()))
    return theirs, mine


def agree(theirs, mine, args, named):
    """Results, and gradients of arguments and parameters."""
    leaves = [a.clone().requires_grad_() for a in args]
    copies = [ours(a).requires_grad_() for a in args]
    a, b = theirs(*leaves, **named), mine(*copies, **ours(named))
    for p, q in zip(b if isinstance(b, tuple) else (b,), a if isinstance(a, tuple) else (a,)):
        assert (p is None) == (q is None)
        if p is not None:
            near(p, q)
    first, mine_first = (r[0] if isinstance(r, tuple) else r for r in (a, b))
    first.sin().sum().backward()
    mine_first.sin().sum().backward()
    for p, q in zip(copies, leaves):
        near(p.grad, q.grad)
    names = dict(mine.named_parameters())
    for name, q in theirs.named_parameters():
        if q.grad is not None:
            near(names[name].grad, q.grad)


def random(*shape):
    return torch.randn(shape, dtype=torch.float64)


def attention():
    flags = list(itertools.product((False, True), repeat=6))
    for bias, bias_kv, zero, widths, first, alone in flags:
        settings = {
            "bias": bias,
            "add_bias_kv": bias_kv,
            "add_zero_attn": zero,
            "batch_first": first,
        }
        settings |= {"kdim": 3, "vdim": 6} if widths else {}
        theirs, mine = both("MultiheadAttention", WIDTH, HEADS, **settings)
        sizes = [(QUERIES, WIDTH), (KEYS, 3 if widths else WIDTH), (KEYS, 6 if widths else WIDTH)]
        args = [random(n, w) if alone else random(BATCH, n, w) if first else random(n, BATCH, w)
                for n, w in sizes]  # fmt: skip
        hidden = torch.rand(QUERIES, KEYS) < 0.3
        hidden[:, 0] = False
        padding = torch.zeros(KEYS, dtype=torch.bool) if alone else torch.rand(BATCH, KEYS) < 0.3
        padding[..., 0] = False
        heads = random(HEADS if alone else BATCH * HEADS, QUERIES, KEYS)
        for mask, pad, weights, average in (
            (None, None, True, True), (hidden, None, True, False), (hidden, padding, False, True),
            (heads, None, True, True), (hidden.double() * -3, padding.double() * -2, False, True),
        ):  # fmt: skip
            named = {"attn_mask": mask, "key_padding_mask": pad, "need_weights": weights}
            agree(theirs, mine, args, named | {"average_attn_weights": average})


def transformer():
    for first, norm_first, bias, act in itertools.product(
        (False, True), (False, True), (False, True), ("relu", "gelu")
    ):
        settings = {"batch_first": first, "norm_first": norm_first, "bias": bias, "activation": act}
        theirs, mine = both("Transformer", WIDTH, HEADS, 2, 2, 16, 0.0, **settings)
        args = [random(*((BATCH, n) if first else (n, BATCH)), WIDTH) for n in (KEYS, QUERIES)]
        mask = torch.nn.Transformer.generate_square_subsequent_mask(QUERIES, dtype=torch.float64)
        padding = torch.zeros(BATCH, KEYS, dtype=torch.bool)
        padding[1, 4:] = True
        named = {
            "tgt_mask": mask,
            "src_key_padding_mask": padding,
            "memory_key_padding_mask": padding,
        }
        agree(theirs, mine, args, {})
        agree(theirs, mine, args, named)
        agree(theirs, mine, args, named | {"tgt_is_causal": True})


if __name__ == "__main__":
    torch.manual_seed(0)
    attention()
    transformer()
    print("attention and the Transformer: as PyTorch's")
