"""Limits on gradients."""

from ... import _lathe, bfloat16, float16, float32, ops
from ..._errors import typed
from ..._grad_mode import no_grad
from ..._lathe import Tensor


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in parameters if p.grad is not None]


def _computed_in(dtype):
    """The dtype that norms of gradients of this one are computed in: squares of f16 overflow."""
    return float32 if dtype in (float16, bfloat16) else dtype


def _total_norm(grads, norm_type):
    if not grads:
        return ops.zeros(())
    norms = [ops.norm(g, norm_type, dtype=_computed_in(g.dtype)) for g in grads]
    return ops.norm(ops.stack(norms), norm_type)


def _check_finite(op, total):
    if not bool(ops.isfinite(total)):
        raise _lathe.ValueError(
            "the norm of the gradients is not finite", op=op, got=total.item(),
            expected="a number", next="look for the infinity or NaN, or leave the argument out",
        )  # fmt: skip


def _scale(grads, max_norm, total):
    factor = ops.clamp_max(max_norm / (total + 1e-6), 1.0)
    for g in grads:
        wide = _computed_in(g.dtype)
        if wide is g.dtype:
            g.mul_(factor)
        else:
            g.copy_(g.to(wide) * factor)


@no_grad()
@typed
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients down so that the norm of them all together is max_norm at most.

    norm_type is the p of the norm, inf included. Gives that norm as it was before, as a tensor;
    that of f16 and bf16 gradients in f32, in which it is computed and the gradients are scaled.
    error_if_nonfinite: an infinity or NaN among them is a ValueError. foreach changes nothing.
    """
    grads = _gradients(parameters)
    total = _total_norm(grads, norm_type)
    if error_if_nonfinite:
        _check_finite("clip_grad_norm_", total)
    if grads:
        _scale(grads, max_norm, total)
    return total


@no_grad()
@typed
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all these tensors together; error_if_nonfinite: ValueError where it is none."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    total = _total_norm(tensors, norm_type)
    if error_if_nonfinite:
        _check_finite("get_total_norm", total)
    return total


@no_grad()
@typed
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients as clip_grad_norm_ does, by a norm that is known."""
    _scale(_gradients(parameters), max_norm, total_norm)


@no_grad()
@typed
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits each element of each gradient to [-clip_value, clip_value]."""
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)


clip_grad_norm = clip_grad_norm_
