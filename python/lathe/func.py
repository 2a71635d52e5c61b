"""Derivatives of functions: grad(f) and value_and_grad(f) are functions again.

They stand on autograd.grad, so they may be traced, and nested for higher derivatives.
"""

import functools
import threading

from . import _lathe, ops
from ._functions import as_tensor
from ._grad_mode import enable_grad
from ._lathe import Tensor
from ._lathe import grad as grad_of

__all__ = ["grad", "value_and_grad"]

_here = threading.local()  # how many functions of grad() are under way on this thread


def value_and_grad(function, argnums=0):
    """A function that gives (function's value, its gradient by the argument number argnums).

    argnums: a number, or several; then the gradient is a tuple. The value is one element. An
    argument that the value does not depend on has a gradient of zeros. To be differentiated again
    (grad(grad(f))), or where an argument requires grad, the gradient has a history.
    """
    several = not isinstance(argnums, int)
    numbers = tuple(argnums) if several else (argnums,)

    @functools.wraps(function)
    def wrapped(*args, **named):
        given = list(args)
        depth = getattr(_here, "depth", 0)
        inside = depth > 0
        for n in numbers:
            x = as_tensor(given[n])
            inside = inside or x.requires_grad
            # Of its own in the history: what else the function may know of x does not count.
            given[n] = x.clone() if x.requires_grad else x.detach().requires_grad_()
        _here.depth = depth + 1
        try:
            with enable_grad():
                value = function(*given, **named)
        finally:
            if depth:
                _here.depth = depth
            else:
                del _here.depth  # as it was: a trace compares
        if not isinstance(value, Tensor) or value.numel() != 1:
            raise _lathe.ValueError(
                "the gradient of what is not one element",
                op="grad",  # not an op: the function of this name
                got=f"a result of shape {list(value.shape)}"
                if isinstance(value, Tensor)
                else type(value).__name__,
                expected="a tensor of one element",
                next="sum() the result",
            )
        wanted = [given[n] for n in numbers]
        found = [None] * len(wanted)
        if value.requires_grad:
            found = grad_of(value, wanted, create_graph=inside, allow_unused=True)
        found = [ops.zeros_like(x) if g is None else g for g, x in zip(found, wanted)]
        if not inside:
            value = value.detach()
        return value, tuple(found) if several else found[0]

    return wrapped


def grad(function, argnums=0):
    """The function that gives function's gradient; see value_and_grad."""
    both = value_and_grad(function, argnums)

    @functools.wraps(function)
    def wrapped(*args, **named):
        return both(*args, **named)[1]

    return wrapped
