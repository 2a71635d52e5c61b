"""Stochastic gradient descent, its average, and descent by signs alone."""

from .. import _lathe, ops
from .optimizer import (
    Optimizer,
    as_wide,
    check_positive,
    count_steps,
    only_plain,
    scalar_dtype,
    settings_of,
)

_COUNTED = "step"


class SGD(Optimizer):
    """p -= lr * g, with momentum (Polyak 1964) or Nesterov's (Sutskever et al. 2013).

    The velocity is v = momentum * v + (1 - dampening) * g, and v = g at the first step.
    """

    @only_plain
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
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        if group["momentum"] == 0:
            return {}
        state = {"momentum_buffer": ops.zeros_like(p)}
        if group["dampening"] != 0:
            state[_COUNTED] = count_steps(p)
        return state

    def _remembers(self, group):
        return group["momentum"] != 0

    def _update(self, p, g, state, group):
        if group["momentum"] != 0:
            velocity = state["momentum_buffer"]
            fresh = g
            if group["dampening"] != 0 and _COUNTED not in state:  # it was begun without
                fresh = g * (1 - group["dampening"])
            elif group["dampening"] != 0:
                # The first velocity is g itself. The buffer is zero then: only g's factor differs.
                first = ops.eq(state[_COUNTED], 0).to(p.dtype)
                fresh = g * (first * group["dampening"] + (1 - group["dampening"]))
                state[_COUNTED].add_(1)
            velocity.copy_(velocity * group["momentum"] + fresh)
            g = g + velocity * group["momentum"] if group["nesterov"] else velocity
        p.sub_(g * group["lr"])

    def _load_state(self, p, given, group):
        super()._load_state(p, given, group)
        begun = given.get("momentum_buffer") is not None
        if begun and _COUNTED in self.state[p] and _COUNTED not in given:
            self.state[p][_COUNTED].fill_(1)  # PyTorch keeps a velocity only after the first step


class ASGD(Optimizer):
    """SGD whose rate falls, and `ax`, the average of the parameters from step t0 on (Polyak and
    Juditsky 1992)."""

    @only_plain
    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0.0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check_positive("ASGD", lr=lr, lambd=lambd, alpha=alpha, weight_decay=weight_decay)
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        kind = {"dtype": scalar_dtype(), "device": p.device}
        return {
            "step": count_steps(p),
            "eta": ops.zeros((), **kind),  # from the first step on
            "mu": ops.ones((), **kind),
            "ax": ops.zeros_like(p),
        }

    def _update(self, p, g, state, group):
        eta, mu, mean = as_wide(state["eta"], p), as_wide(state["mu"], p), state["ax"]
        state["step"].add_(1)
        step, lr = as_wide(state["step"], p), group["lr"]
        eta = ops.where(ops.eq(step, 1), lr, eta)
        p.mul_(1 - eta * group["lambd"])
        p.sub_(g * eta)
        mean.copy_(ops.where(ops.eq(mu, 1), p, mean + (p - mean) * mu))
        state["eta"].copy_(lr / ops.pow(1 + group["lambd"] * lr * step, group["alpha"]))
        state["mu"].copy_(1 / ops.clamp_min(step - group["t0"], 1.0))


class Rprop(Optimizer):
    """A step of its own for each element, longer while its gradient keeps the sign and shorter
    where it turns (Riedmiller and Braun 1993)."""

    _decays = False

    @only_plain
    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_positive("Rprop", lr=lr)
        if not 0 < etas[0] < 1 < etas[1]:
            raise _lathe.ValueError(
                "the factors are not on both sides of 1", op="Rprop", got=etas,
                expected="0 < etas[0] < 1 < etas[1]", next="leave them out for (0.5, 1.2)",
            )  # fmt: skip
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        return {
            "step": count_steps(p),
            "prev": ops.zeros_like(p),
            "step_size": ops.zeros_like(p),  # from the first step on
        }

    def _update(self, p, g, state, group):
        (shorter, longer), (least, most) = group["etas"], group["step_sizes"]
        state["step"].add_(1)
        previous, size = state["prev"], state["step_size"]
        step = as_wide(state["step"], p)
        size.copy_(ops.where(ops.eq(step, 1), group["lr"], size))
        turn = ops.sign(g * previous)
        fresh = ops.where(ops.lt(turn, 0), size * shorter, size)
        fresh = ops.where(ops.gt(turn, 0), size * longer, fresh)
        size.copy_(ops.clamp(fresh, least, most))
        g = ops.where(ops.lt(turn, 0), ops.zeros_like(g), g)
        p.sub_(ops.sign(g) * size)
        previous.copy_(g)
