"""Stochastic gradient descent."""

from .. import _lathe, ops
from .._arguments import default_only
from .optimizer import ELSEWHERE, Optimizer, check_positive


class SGD(Optimizer):
    """p -= lr * g, with momentum (Polyak 1964) or Nesterov's (Sutskever et al. 2013).

    The velocity is v = momentum * v + (1 - dampening) * g, and v = g at the first step.
    """

    @default_only(**ELSEWHERE)
    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0.0,
        dampening=0.0,
        weight_decay=0.0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        check_positive("SGD", lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise _lathe.ValueError("nesterov needs a momentum, and no dampening", op="SGD")
        settings = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, settings)

    def _start(self, p, group):
        if group["momentum"] == 0:
            return {}
        state = {"momentum_buffer": ops.zeros_like(p)}
        if group["dampening"] != 0:
            state["step"] = ops.zeros((), device=p.device)
        return state

    def _update(self, p, g, state, group):
        if group["weight_decay"] != 0:
            g = g + p * group["weight_decay"]
        if group["momentum"] != 0:
            velocity = state["momentum_buffer"]
            fresh = g
            if group["dampening"] != 0:
                # The first velocity is g itself. The buffer is zero then: only g's factor differs.
                first = ops.eq(state["step"], 0).to(p.dtype)
                fresh = g * (first * group["dampening"] + (1 - group["dampening"]))
                state["step"].add_(1)
            velocity.copy_(velocity * group["momentum"] + fresh)
            g = g + velocity * group["momentum"] if group["nesterov"] else velocity
        p.sub_(g * group["lr"])
