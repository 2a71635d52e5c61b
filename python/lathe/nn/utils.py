"""Helpers for training."""

import math

from .. import _lathe, ops
from .._grad_mode import no_grad
from .._lathe import Tensor


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in parameters if p.grad is not None]


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, eps=1e-6):
    """Scales all gradients down so that the norm of them all together is max_norm at most.

    Gives that norm as it was before, as a tensor.
    """
    grads = _gradients(parameters)
    if not grads:
        return ops.zeros(())
    if norm_type == math.inf:
        total = ops.amax(ops.stack([ops.amax(ops.abs(g)) for g in grads]))
    elif norm_type == 2:
        total = ops.sqrt(ops.sum(ops.stack([ops.sum(ops.square(g)) for g in grads])))
    else:
        raise _lathe.ValueError(
            "an unknown norm", op="clip_grad_norm_", got=norm_type, expected="2 or inf"
        )
    factor = ops.clamp_max(max_norm / (total + eps), 1.0)
    for g in grads:
        g.mul_(factor)
    return total


@no_grad()
def clip_grad_value_(parameters, clip_value):
    """Limits each element of each gradient to [-clip_value, clip_value]."""
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters):
    """All parameters joined into one vector."""
    return ops.cat([p.reshape(-1) for p in parameters])
