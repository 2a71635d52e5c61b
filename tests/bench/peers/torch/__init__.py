"""PyTorch, eager, in inference mode where no gradient is asked for.

torch.compile is left out: it needs a compiler, and minutes for these rows.
"""

from functools import partial

from peers.find import find as found
from peers.threads import COUNT

import torch

torch.set_num_threads(COUNT)
find = partial(found, "peers.torch")


def tensors(arrays):
    return [torch.from_numpy(a) for a in arrays]


def called(function, *arrays):
    return partial(function, *tensors(arrays))


def pulled(function, *arrays):
    """The function of all arrays but the last, and its gradients by them; the last is the
    cotangent."""
    *args, cotangent = tensors(arrays)
    for t in args:
        t.requires_grad_()

    def run():
        y = function(*args)
        return (y, *torch.autograd.grad(y, args, cotangent))

    return run


def to_numpy(result):
    return result.detach().numpy()


def surround(tracked):
    """What a case runs in."""
    return torch.enable_grad() if tracked else torch.inference_mode()
