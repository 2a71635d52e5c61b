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

__all__ = ["functional_call", "grad", "value_and_grad"]

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


def functional_call(
    module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """module(*args, **kwargs) with these tensors in place of its parameters and buffers, by path.

    parameter_and_buffer_dicts: a dict, or several that are joined. tie_weights: a tensor that the
    module has under several names is replaced under all. strict: every name is given.
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        names = [n for d in given for n in d]
        if len(set(names)) != len(names):
            raise _lathe.ValueError(
                "a name is given twice", op="functional_call", got=sorted(names),
                expected="each name in one dict", next="leave it out of one of them",
            )  # fmt: skip
        given = {n: t for d in given for n, t in d.items()}
    places = _places(module, given, tie_weights, strict)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    before = [(owner, name, owner.__dict__[name]) for owner, name, _ in places]
    try:
        for owner, name, tensor in places:
            owner.__dict__[name] = tensor
        return module(*args, **(kwargs or {}))
    finally:
        for owner, name, tensor in before:
            owner.__dict__[name] = tensor


def _places(module, given, tie_weights, strict):
    """(module, attribute, the tensor to stand there) of each tensor that is given by path."""
    own = {}
    for path, owner in module.named_modules(remove_duplicate=False):
        for name, tensor in (*owner._direct_parameters(), *owner._direct_buffers()):
            own[f"{path}.{name}" if path else name] = (owner, name, tensor)
    unknown = [n for n in given if n not in own]
    missing = [n for n in own if n not in given] if strict else []
    if unknown or missing:
        raise _lathe.ValueError(
            "the names are not those of the module's tensors", op="functional_call",
            got=f"unknown: {', '.join(unknown) or 'none'}; missing: {', '.join(missing) or 'none'}",
            expected="names as named_parameters() and named_buffers() give them",
            next="check the names",
        )  # fmt: skip
    instead = {id(own[n][2]): tensor for n, tensor in given.items()}
    return [
        (owner, name, given[path] if path in given else instead[id(tensor)])
        for path, (owner, name, tensor) in own.items()
        if path in given or (tie_weights and id(tensor) in instead)
    ]
