"""Adam and AdamW."""

import math

from .. import _lathe, ops
from .._arguments import default_only
from .optimizer import ELSEWHERE, Optimizer, check_positive


class Adam(Optimizer):
    """Adaptive moments (Kingma and Ba 2015); weight_decay is added to the gradient.

    m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2, both divided by 1 - beta^step, and
    p -= lr * m / (sqrt(v) + eps). amsgrad: the largest v so far instead (Reddi et al. 2018).
    """

    _decoupled = False

    @default_only(decoupled_weight_decay="take AdamW", **ELSEWHERE)
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        check_positive(type(self).__name__, lr=lr, eps=eps, weight_decay=weight_decay)
        if not all(0 <= b < 1 for b in betas):
            raise _lathe.ValueError("a beta outside [0, 1)", op=type(self).__name__, got=betas)
        settings = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, settings)

    def _start(self, p, group):
        state = {
            "step": ops.zeros((), dtype=_lathe.float32, device=p.device),
            "exp_avg": ops.zeros_like(p),
            "exp_avg_sq": ops.zeros_like(p),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = ops.zeros_like(p)
        return state

    def _update(self, p, g, state, group):
        beta1, beta2 = group["betas"]
        lr = group["lr"]
        step, mean, square = state["step"], state["exp_avg"], state["exp_avg_sq"]
        if group["weight_decay"] != 0:
            if self._decoupled:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                g = g + p * group["weight_decay"]
        step.add_(1)
        mean.lerp_(g, 1 - beta1)
        square.lerp_(ops.square(g), 1 - beta2)
        largest = square
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            largest.copy_(ops.maximum(largest, square))
        if p.dtype == _lathe.float64:  # else the steps' own float32 has all digits that count
            step = step.to(p.dtype)
        spread = ops.sqrt(largest / _rest(beta2, step)) + group["eps"]
        p.sub_(mean * (lr / _rest(beta1, step)) / spread)


def _rest(beta, step):
    """1 - beta^step, without losing digits while beta^step is near 1."""
    return 1.0 if beta == 0 else -ops.expm1(step * math.log(beta))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters themselves (Loshchilov and Hutter 2019)."""

    _decoupled = True

    @default_only(**ELSEWHERE)
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
