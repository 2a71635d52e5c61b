"""Adam and what came of it: AdamW, Adamax, NAdam, RAdam."""

import math

from .. import _lathe, ops
from .._errors import typed
from .optimizer import (
    Optimizer,
    as_wide,
    check_betas,
    check_positive,
    count_steps,
    only_plain,
    rest,
    settings_of,
)


def _check(optimizer, arguments):
    names = ("lr", "eps", "weight_decay", "momentum_decay")
    check_positive(optimizer, **{n: arguments[n] for n in names if n in arguments})
    check_betas(optimizer, arguments["betas"])


class _Moments(Optimizer):
    """What they have in common: a counter, and means of the gradient and of its square."""

    _second = "exp_avg_sq"

    def _start(self, p, group):
        return {
            "step": count_steps(p), "exp_avg": ops.zeros_like(p), self._second: ops.zeros_like(p)
        }  # fmt: skip

    def _count(self, p, state):
        state["step"].add_(1)
        return as_wide(state["step"], p)

    def _moments(self, g, state, group):
        """Both means, with g in them."""
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(g, 1 - beta1)
        square.lerp_(ops.square(g), 1 - beta2)
        return mean, square


class Adam(_Moments):
    """Adaptive moments (Kingma and Ba 2015); weight_decay is added to the gradient.

    m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2, both divided by 1 - beta^step, and
    p -= lr * m / (sqrt(v) + eps). amsgrad: the largest v so far instead (Reddi et al. 2018).
    """

    @only_plain
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
        betas = tuple(betas)
        _check(type(self).__name__, locals())
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        state = super()._start(p, group)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = ops.zeros_like(p)
        return state

    def _update(self, p, g, state, group):
        beta1, beta2 = group["betas"]
        step = self._count(p, state)
        mean, largest = self._moments(g, state, group)
        if group["amsgrad"]:
            square, largest = largest, state["max_exp_avg_sq"]
            largest.copy_(ops.maximum(largest, square))
        spread = ops.sqrt(largest / rest(beta2, step)) + group["eps"]
        p.sub_(mean * (group["lr"] / rest(beta1, step)) / spread)


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters themselves (Loshchilov and Hutter 2019)."""

    @only_plain
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
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, foreach=foreach,
            capturable=capturable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip


class Adamax(_Moments):
    """Adam by the largest gradient, which decays, in place of the mean square."""

    _second = "exp_inf"

    @only_plain
    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        betas = tuple(betas)
        _check("Adamax", locals())
        super().__init__(params, settings_of(locals()))

    def _update(self, p, g, state, group):
        beta1, beta2 = group["betas"]
        step = self._count(p, state)
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(g, 1 - beta1)
        largest.copy_(ops.maximum(largest * beta2, ops.abs(g) + group["eps"]))
        p.sub_(mean * (group["lr"] / rest(beta1, step)) / largest)


class NAdam(_Moments):
    """Adam with Nesterov's momentum, which grows towards beta1 (Dozat 2016)."""

    @only_plain
    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        betas = tuple(betas)
        _check("NAdam", locals())
        super().__init__(params, settings_of(locals()))

    def _start(self, p, group):
        return {**super()._start(p, group), "mu_product": ops.ones_like(count_steps(p))}

    def _update(self, p, g, state, group):
        beta1, beta2 = group["betas"]
        step = self._count(p, state)

        def momentum(step):
            return beta1 * (1 - 0.5 * ops.exp(step * group["momentum_decay"] * math.log(0.96)))

        now, following = momentum(step), momentum(step + 1)
        product = state["mu_product"]
        product.mul_(now.to(product.dtype))
        product = as_wide(product, p)
        mean, square = self._moments(g, state, group)
        spread = ops.sqrt(square / rest(beta2, step)) + group["eps"]
        lr = group["lr"]
        p.sub_(g / spread * (lr * (1 - now) / (1 - product)))
        p.sub_(mean / spread * (lr * following / (1 - product * following)))


class RAdam(_Moments):
    """Adam that is momentum alone until the variance of its divisor is small (Liu et al. 2020)."""

    @only_plain
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        betas = tuple(betas)
        _check("RAdam", locals())
        super().__init__(params, settings_of(locals()))

    def _update(self, p, g, state, group):
        beta1, beta2 = group["betas"]
        step = self._count(p, state)
        mean, square = self._moments(g, state, group)
        change = mean / rest(beta1, step)
        left = rest(beta2, step)
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * (1 - left) / left
        enough = ops.gt(length, 5.0)
        known = ops.where(enough, length, 6.0)
        rectified = ops.sqrt(
            (known - 4) * (known - 2) * limit / ((limit - 4) * (limit - 2) * known)
        )
        adaptive = rectified * ops.sqrt(left) / (ops.sqrt(square) + group["eps"])
        p.sub_(change * group["lr"] * ops.where(enough, adaptive, 1.0))


class SparseAdam(Optimizer):
    """Not here: there are no sparse gradients. UnsupportedError says what to take."""

    @typed
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        raise _lathe.UnsupportedError(
            "there are no sparse gradients", op="SparseAdam", got="SparseAdam(...)",
            expected="an optimizer of dense gradients", next="take Adam",
        )  # fmt: skip
