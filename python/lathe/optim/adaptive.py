"""Optimizers that divide by how large gradients have been: RMSprop and Adagrad."""

from .. import ops
from .._arguments import default_only
from .optimizer import ELSEWHERE, Optimizer, check_positive

_TOTAL = "sum"  # not an op: the name in a state_dict


class RMSprop(Optimizer):
    """p -= lr * g / (sqrt(v) + eps) with v = alpha v + (1 - alpha) g^2 (Tieleman and Hinton 2012).

    centered: v less the square of the mean gradient. momentum: of the quotient.
    """

    @default_only(**ELSEWHERE)
    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0.0,
        momentum=0.0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_positive(
            "RMSprop", lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum
        )
        settings = {
            "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay,
            "momentum": momentum, "centered": centered, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, settings)

    def _start(self, p, group):
        state = {"square_avg": ops.zeros_like(p)}
        if group["momentum"] != 0:
            state["momentum_buffer"] = ops.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = ops.zeros_like(p)
        return state

    def _update(self, p, g, state, group):
        if group["weight_decay"] != 0:
            g = g + p * group["weight_decay"]
        square = state["square_avg"]
        square.lerp_(ops.square(g), 1 - group["alpha"])
        spread = square
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(g, 1 - group["alpha"])
            spread = square - ops.square(mean)
        step = g / (ops.sqrt(spread) + group["eps"])
        if group["momentum"] != 0:
            velocity = state["momentum_buffer"]
            velocity.copy_(velocity * group["momentum"] + step)
            step = velocity
        p.sub_(step * group["lr"])


class Adagrad(Optimizer):
    """p -= lr / (1 + (step - 1) lr_decay) * g / (sqrt(s) + eps), s the sum of all g^2 so far (Duchi
    et al. 2011)."""

    @default_only(**ELSEWHERE)
    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0.0,
        weight_decay=0.0,
        initial_accumulator_value=0.0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        check_positive("Adagrad", lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, eps=eps)
        settings = {
            "lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps,
            "initial_accumulator_value": initial_accumulator_value, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, settings)

    def _start(self, p, group):
        return {
            "step": ops.zeros((), device=p.device),
            _TOTAL: ops.full_like(p, group["initial_accumulator_value"]),
        }

    def _update(self, p, g, state, group):
        if group["weight_decay"] != 0:
            g = g + p * group["weight_decay"]
        state[_TOTAL].add_(ops.square(g))
        step = g / (ops.sqrt(state[_TOTAL]) + group["eps"])
        if group["lr_decay"] != 0:
            step = step / (state["step"] * group["lr_decay"] + 1)
        state["step"].add_(1)
        p.sub_(step * group["lr"])
