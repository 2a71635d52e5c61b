"""PyTorch, eager, in inference mode where no gradient is asked for.

torch.compile is left out: in no row here was it the fastest of the peers, and it needs a compiler.
"""

import operator
from functools import partial

import torch

torch.set_num_threads(1)


def tensors(arrays):
    return [torch.from_numpy(a) for a in arrays]


def tracked_add(a, b):
    a, b = (t.requires_grad_() for t in tensors((a, b)))
    return partial(operator.add, a, b)


def tanh_gelu(x):
    (x,) = tensors((x,))

    def composed():
        return 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))

    return composed


def softmax(x):
    (x,) = tensors((x,))
    return lambda: torch.softmax(x, 1)


def linear_gelu_residual(x, w, b, r):
    x, w, b, r = tensors((x, w, b, r))
    w = w.t().contiguous()  # out, in: as nn.Linear keeps it
    packed = torch.ops.mkldnn._reorder_linear_weight(w, x.shape[0])
    linear = torch.ops.mkldnn._linear_pointwise

    def with_packed_weight():
        return linear(x, packed, b, "gelu", [], "none").add_(r)

    def plain():
        return torch.nn.functional.gelu(torch.nn.functional.linear(x, w, b)) + r

    return {"packed": with_packed_weight, "plain": plain}


def to_numpy(result):
    return result.detach().numpy()


def surround(kind):
    """What a case runs in."""
    return torch.enable_grad() if kind.startswith("tracked") else torch.inference_mode()
