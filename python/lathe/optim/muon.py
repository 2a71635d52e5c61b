"""Muon: momentum whose matrix is made orthogonal (Jordan et al. 2024)."""

import math

from .. import _lathe, ops
from .._errors import typed
from .optimizer import Optimizer, check_positive, refuse_complex, settings_of


def _orthogonal(g, coefficients, eps, steps):
    """Near the closest orthogonal matrix to g, by Newton and Schulz' iteration in bfloat16."""
    a, b, c = coefficients
    x = g.to(_lathe.bfloat16)
    tall = int(x.shape[0]) > int(x.shape[1])
    x = x.T if tall else x
    x = x / ops.clamp_min(ops.norm(x), eps)
    for _ in range(steps):
        gram = ops.matmul(x, x.T)
        more = gram * b + ops.matmul(gram, gram) * c
        x = x * a + ops.matmul(more, x)
    return x.T if tall else x


class Muon(Optimizer):
    """Of matrices: p -= lr * orthogonal(momentum), scaled by their shape.

    adjust_lr_fn: "original" (the default), by the square root of rows to columns where there are
    more; "spectral_unclamped", also where there are fewer; "match_rms_adamw", to steps as large as
    AdamW's.
    """

    _decoupled = True

    @typed
    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.775, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        check_positive("Muon", lr=lr, weight_decay=weight_decay, momentum=momentum)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw", "spectral_unclamped"):
            raise _lathe.ValueError(
                "an unknown way to adjust the rate", op="Muon", got=repr(adjust_lr_fn),
                expected="None, 'original', 'match_rms_adamw' or 'spectral_unclamped'",
                next="leave it out",
            )  # fmt: skip
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        if p.ndim != 2:
            raise _lathe.ValueError(
                "only matrices can be made orthogonal", op="Muon", got=list(p.shape),
                expected="two axes", next="give the others to AdamW",
            )  # fmt: skip
        refuse_complex("Muon", p)
        return {"momentum_buffer": ops.zeros_like(p)}

    def _update(self, p, g, state, group):
        momentum, mean = group["momentum"], state["momentum_buffer"]
        mean.lerp_(g, 1 - momentum)
        g = ops.lerp(g, mean, momentum) if group["nesterov"] else mean
        change = _orthogonal(g, group["ns_coefficients"], group["eps"], group["ns_steps"])
        rows, columns = int(p.shape[0]), int(p.shape[1])
        if group["adjust_lr_fn"] == "match_rms_adamw":
            factor = 0.2 * math.sqrt(max(rows, columns))
        else:
            least = 0 if group["adjust_lr_fn"] == "spectral_unclamped" else 1
            factor = math.sqrt(max(least, rows / columns))
        p.sub_(change.to(p.dtype) * (group["lr"] * factor))
