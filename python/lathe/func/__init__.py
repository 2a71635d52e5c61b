"""Transforms of functions: derivatives, functions of many examples, and of modules' tensors. What
they give are functions again, which may be traced and transformed further."""

from .batching import vmap, vmap_fallbacks
from .derivatives import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from .modules import functional_call, stack_module_state

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "stack_module_state", "value_and_grad", "vjp", "vmap", "vmap_fallbacks",
]  # fmt: skip
