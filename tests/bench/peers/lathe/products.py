"""Rows 12 to 14. A frozen product has its weights as constants, as ONNX models have."""

import operator
from functools import partial

from peers.lathe import tensors

import lathe as lt
from lathe import nn


class Product(nn.Module):
    """x @ w with a weight of its own."""

    def __init__(self, w):
        super().__init__()
        self.w = nn.Parameter(w)

    def forward(self, x):
        return x @ self.w


def gemm(x, w):
    x, w = tensors((x, w))
    frozen = lt.freeze(Product(w), x)
    return {
        "eager": partial(operator.matmul, x, w),
        "traced": partial(lt.trace(lambda x, w: x @ w), x, w),
        "frozen": partial(frozen, x),
    }


def linear(x, w):
    x, w = tensors((x, w))
    layer = nn.Linear(w.shape[1], w.shape[0], bias=False)
    layer.load_state_dict({"weight": w})
    frozen = lt.freeze(layer, x)
    return {
        "eager": partial(nn.functional.linear, x, w),
        "traced": partial(lt.trace(nn.functional.linear), x, w),
        "frozen": partial(frozen, x),
    }


class Block(nn.Module):
    """gelu(x @ w + b) + r with weights of its own, as a model has them."""

    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = nn.Parameter(w), nn.Parameter(b)

    def forward(self, x, r):
        return lt.gelu(x @ self.w + self.b) + r


def linear_gelu_residual(x, w, b, r):
    x, w, b, r = tensors((x, w, b, r))
    traced = lt.trace(lambda x, w, b, r: lt.gelu(x @ w + b) + r)
    frozen = lt.freeze(Block(w, b), x, r)  # what ONNX Runtime and OpenVINO compile is frozen too
    return {"traced": lambda: traced(x, w, b, r), "frozen": lambda: frozen(x, r)}
