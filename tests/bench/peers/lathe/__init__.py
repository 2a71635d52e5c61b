"""Lathe itself: eager, traced and frozen, whatever fits; the fastest counts."""

from functools import partial

from peers.find import find as found

import lathe as lt

find = partial(found, "peers.lathe")


def tensors(arrays):
    return [lt.tensor(a) for a in arrays]


def ways(function, *arrays):
    """The function of these arrays, eager and traced."""
    args = tensors(arrays)
    return {"eager": partial(function, *args), "traced": partial(lt.trace(function), *args)}


def gradient_ways(function, *arrays):
    """The function of all arrays but the last, and its gradients by them; the last is the
    cotangent. Eager, with only the function traced, and traced as a whole."""
    *args, cotangent = tensors(arrays)
    leaves = [t.clone().requires_grad_() for t in args]
    inner = lt.trace(function)

    def pulled(function, leaves, cotangent):
        y = function(*leaves)
        return (y, *lt.autograd.grad(y, leaves, cotangent))

    @lt.trace
    def whole(cotangent, *args):
        return pulled(function, [t.detach().requires_grad_() for t in args], cotangent)

    return {
        "eager": lambda: pulled(function, leaves, cotangent),
        "traced": lambda: whole(cotangent, *args),
        "function traced": lambda: pulled(inner, leaves, cotangent),
    }


def to_numpy(result):
    return result.detach().numpy()
