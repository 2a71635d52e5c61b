"""Rows 12 to 14: plain, and by oneDNN with a weight that was packed before."""

from peers.torch import called, tensors

import torch
from torch.nn.functional import linear as plain_linear


def packed_linear(w, rows):
    """A function of x and what is fused after it; w: (out, in), as nn.Linear keeps it."""
    packed = torch.ops.mkldnn._reorder_linear_weight(w, rows)
    run = torch.ops.mkldnn._linear_pointwise
    return lambda x, bias=None, after="none": run(x, packed, bias, after, [], "none")


def gemm(x, w):
    ways = {"plain": called(torch.mm, x, w)}
    if w.shape[0] >= 64:  # smaller ones are all call
        x, w = tensors((x, w))
        packed = packed_linear(w.t().contiguous(), x.shape[0])
        ways["packed"] = lambda: packed(x)
    return ways


def linear(x, w):
    x, w = tensors((x, w))
    packed = packed_linear(w, x.shape[0])
    return {"packed": lambda: packed(x), "plain": lambda: plain_linear(x, w)}


def linear_gelu_residual(x, w, b, r):
    x, w, b, r = tensors((x, w, b, r))
    w = w.t().contiguous()  # out, in: as nn.Linear keeps it
    packed = packed_linear(w, x.shape[0])

    def plain():
        return torch.nn.functional.gelu(plain_linear(x, w, b)) + r

    return {"packed": lambda: packed(x, b, "gelu").add_(r), "plain": plain}
