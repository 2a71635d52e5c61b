"""Helpers for training."""

from .. import bfloat16, float16, float32, ops
from .._arguments import default_only
from .._errors import typed
from .._grad_mode import no_grad
from .._lathe import Tensor

_WHOLE = "leave it out: lathe.trace fuses what can be"


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in parameters if p.grad is not None]


def _computed_in(dtype):
    """The dtype that norms of gradients of this one are computed in: squares of f16 overflow."""
    return float32 if dtype in (float16, bfloat16) else dtype


@no_grad()
@default_only(error_if_nonfinite="look at the norm that it gives", foreach=_WHOLE)
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients down so that the norm of them all together is max_norm at most.

    norm_type is the p of the norm, inf included. Gives that norm as it was before, as a tensor;
    that of f16 and bf16 gradients in f32, in which it is computed and the gradients are scaled.
    """
    grads = _gradients(parameters)
    if not grads:
        return ops.zeros(())
    norms = [ops.norm(g, norm_type, dtype=_computed_in(g.dtype)) for g in grads]
    total = ops.norm(ops.stack(norms), norm_type)
    factor = ops.clamp_max(max_norm / (total + 1e-6), 1.0)
    for g in grads:
        wide = _computed_in(g.dtype)
        if wide is g.dtype:
            g.mul_(factor)
        else:
            g.copy_(g.to(wide) * factor)
    return total


@no_grad()
@default_only(foreach=_WHOLE)
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits each element of each gradient to [-clip_value, clip_value]."""
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)


@typed
def parameters_to_vector(parameters):
    """All parameters joined into one vector."""
    return ops.cat([p.reshape(-1) for p in parameters])
