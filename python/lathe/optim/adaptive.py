"""Optimizers that divide by how large gradients have been: RMSprop, Adagrad, Adadelta,
Adafactor."""

import math

from .. import _lathe, ops
from .optimizer import (
    Optimizer,
    as_wide,
    both_parts,
    check_positive,
    count_steps,
    only_plain,
    refuse_complex,
    settings_of,
)

_TOTAL = "sum"  # not an op: the name in a state_dict


class RMSprop(Optimizer):
    """p -= lr * g / (sqrt(v) + eps) with v = alpha v + (1 - alpha) g^2 (Tieleman and Hinton 2012).

    centered: v less the square of the mean gradient. momentum: of the quotient.
    """

    @only_plain
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
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        state = {"step": count_steps(p), "square_avg": ops.zeros_like(p)}
        if group["momentum"] != 0:
            state["momentum_buffer"] = ops.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = ops.zeros_like(p)
        return state

    def _update(self, p, g, state, group):
        state["step"].add_(1)
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

    @only_plain
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
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        start = both_parts(group["initial_accumulator_value"], p)
        return {"step": count_steps(p), _TOTAL: ops.full_like(p, start)}

    def _update(self, p, g, state, group):
        state[_TOTAL].add_(ops.square(g))
        step = g / (ops.sqrt(state[_TOTAL]) + group["eps"])
        if group["lr_decay"] != 0:
            step = step / (as_wide(state["step"], p) * group["lr_decay"] + 1)
        state["step"].add_(1)
        p.sub_(step * group["lr"])


class Adadelta(Optimizer):
    """p -= lr * sqrt(d + eps) / sqrt(v + eps) * g, with v and d the decaying means of the squares
    of gradients and of changes (Zeiler 2012)."""

    @only_plain
    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0.0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        check_positive("Adadelta", lr=lr, rho=rho, eps=eps, weight_decay=weight_decay)
        if rho > 1:
            raise _lathe.ValueError(
                "rho is above 1", op="Adadelta", got=rho, expected="0 <= rho <= 1",
                next="leave it out for 0.9",
            )  # fmt: skip
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        return {
            "step": count_steps(p),
            "square_avg": ops.zeros_like(p),
            "acc_delta": ops.zeros_like(p),
        }

    def _update(self, p, g, state, group):
        state["step"].add_(1)
        rho, eps = group["rho"], group["eps"]
        square, changes = state["square_avg"], state["acc_delta"]
        square.copy_(square * rho + ops.square(g) * (1 - rho))
        change = ops.sqrt(changes + eps) / ops.sqrt(square + eps) * g
        changes.copy_(changes * rho + ops.square(change) * (1 - rho))
        p.sub_(change * group["lr"])


class Adafactor(Optimizer):
    """Adam's divisor from means of rows and columns alone, and a step in proportion to the size of
    the parameter (Shazeer and Stern 2018)."""

    _decays = False

    @only_plain
    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        check_positive("Adafactor", lr=lr, eps=eps[1], weight_decay=weight_decay)
        if not beta2_decay <= 0 or not d >= 1 or (eps[0] is not None and eps[0] < 0):
            raise _lathe.ValueError(
                "a setting is outside of its domain", op="Adafactor",
                got=f"beta2_decay={beta2_decay}, eps={eps}, d={d}",
                expected="beta2_decay <= 0, eps >= 0, d >= 1", next="leave them out",
            )  # fmt: skip
        eps = tuple(eps)
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        refuse_complex("Adafactor", p)
        state = {"step": count_steps(p)}
        if p.ndim < 2:
            return {**state, "variance": ops.zeros_like(p)}
        kind = {"dtype": p.dtype, "device": p.device}
        rows, columns = [*p.shape[:-1], 1], [*p.shape[:-2], 1, p.shape[-1]]
        return {**state, "row_var": ops.zeros(rows, **kind), "col_var": ops.zeros(columns, **kind)}

    def _update(self, p, g, state, group):
        state["step"].add_(1)
        step = as_wide(state["step"], p)
        least, scale = group["eps"]
        least = _EPSILONS[p.dtype.name] if least is None else least
        share = ops.pow(step, group["beta2_decay"])
        rate = ops.clamp_max(ops.rsqrt(step), group["lr"])
        size = ops.norm(p) / math.sqrt(p.numel())
        if group["weight_decay"] != 0:
            p.mul_(1 - group["lr"] * group["weight_decay"])
        if p.ndim > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(ops.mean(ops.square(g), -1, True), share)
            columns.lerp_(ops.mean(ops.square(g), -2, True), share)
            square = ops.matmul(rows, columns) / ops.clamp_min(ops.mean(rows, -2, True), least)
        else:
            square = state["variance"]
            square.lerp_(ops.square(g), share)
        change = g * ops.rsqrt(ops.clamp_min(square, least * least))
        length = ops.norm(change) / (math.sqrt(p.numel()) * group["d"])
        # A NaN is passed over here, so that elements without one go on.
        p.sub_(change * (ops.pmax(size, scale) * rate / ops.pmax(length, 1.0)))


# The distance from 1 to the next number of each dtype.
_EPSILONS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
