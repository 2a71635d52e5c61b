"""L-BFGS (Liu and Nocedal 1989), by itself or with a line search for the strong Wolfe conditions.

What it does next depends on the loss, so it runs eagerly: a trace refuses to look at a loss.
"""

import math

from .. import _lathe, ops
from .._errors import typed
from .optimizer import Optimizer, as_reals, check_positive, settings_of


class LBFGS(Optimizer):
    """Newton's steps by an inverse Hessian that is made of the last history_size changes.

    step(closure) takes up to max_iter of them, which need max_eval gradients at most.
    line_search_fn: None for steps of lr, or "strong_wolfe". maximize: towards a higher loss. One
    group of parameters only.
    """

    @typed
    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
        *,
        maximize=False,
    ):
        check_positive("LBFGS", lr=lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        if line_search_fn not in (None, "strong_wolfe"):
            raise _lathe.ValueError(
                "an unknown line search", op="LBFGS", got=repr(line_search_fn),
                expected="None or 'strong_wolfe'", next="leave it out",
            )  # fmt: skip
        super().__init__(params, settings_of(locals()))
        if len(self.param_groups) != 1:
            raise _lathe.ValueError(
                "there is more than one group of parameters", op="LBFGS",
                got=len(self.param_groups), expected="one", next="put them into one group",
            )  # fmt: skip
        self._params = self.param_groups[0]["params"]

    def _falling(self, number):
        """A loss or gradient, turned round where the loss is to rise."""
        return -number if self.param_groups[0].get("maximize") else number

    # ── parameters as one vector ────────────────────────────────────────────────────────────────

    def _gradient(self):
        parts = [
            as_reals(ops.zeros_like(p) if p.grad is None else p.grad).reshape(-1)
            for p in self._params
        ]
        return self._falling(ops.cat(parts))

    def _move(self, t, direction):
        at = 0
        for p in map(as_reals, self._params):
            p.add_(direction[at : at + p.numel()].reshape(p.shape) * t)
            at += p.numel()

    def _at(self, closure, start, t, direction):
        """(loss, gradient) at start + t * direction; the parameters are at start again."""
        self._move(t, direction)
        loss, gradient = self._falling(float(self._loss(closure))), self._gradient()
        for p, value in zip(self._params, start):
            p.copy_(value)
        return loss, gradient

    # ── one step ────────────────────────────────────────────────────────────────────────────────

    def step(self, closure=None):
        """Up to max_iter steps; closure computes the loss anew, with gradients. Gives the first
        loss."""
        if closure is None:
            raise _lathe.TypeError(
                "L-BFGS computes the loss several times", op="LBFGS", got="step()",
                expected="step(closure)",
                next="pass a function that clears the gradients, computes "
                "the loss, calls backward() and returns the loss",
            )  # fmt: skip
        for hook in self._pre_hooks:
            hook(self, (closure,), {})
        before = _lathe._set_grad_enabled(False)
        try:
            loss = self._loss(closure)
            state = self._begun(self._params[0], self.param_groups[0])
            self._iterate(closure, self._falling(float(loss)), state)
        finally:
            _lathe._set_grad_enabled(before)
        for hook in self._post_hooks:
            hook(self, (closure,), {})
        return loss

    def _iterate(self, closure, loss, state):
        group = self.param_groups[0]
        lr, small = group["lr"], group["tolerance_grad"]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        evaluations, gradient = 1, self._gradient()
        state["func_evals"] += 1
        if _largest(gradient) <= small:
            return
        d, t = state.get("d"), state.get("t")  # not an op: a name
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            d = self._direction(state, gradient, d, t, group["history_size"])
            previous, previous_loss = gradient.clone(), loss
            state["prev_flat_grad"], state["prev_loss"] = previous, previous_loss
            t = lr
            if state["n_iter"] == 1:
                total = ops.sum(ops.abs(gradient)).item()
                t = (1.0 / total if total > 1.0 else 1.0) * lr
            slope = _dot(gradient, d)
            state["d"], state["t"] = d, t  # not an op: a name
            if slope > -group["tolerance_change"]:
                break
            more = 0
            if group["line_search_fn"] is not None:
                start = [p.detach().clone() for p in self._params]
                loss, gradient, t, more = _strong_wolfe(
                    lambda t, d=d, start=start: self._at(closure, start, t, d),
                    t, d, loss, gradient, slope, group["max_eval"] - evaluations,
                )  # fmt: skip
                self._move(t, d)
            else:
                self._move(t, d)
                if n != group["max_iter"]:
                    loss = self._falling(float(self._loss(closure)))
                    gradient, more = self._gradient(), 1
            state["t"] = t  # not an op: a name
            evaluations += more
            state["func_evals"] += more
            if (
                n == group["max_iter"]
                or evaluations >= group["max_eval"]
                or (more and _largest(gradient) <= small)
                or _largest(d) * abs(t) <= group["tolerance_change"]
                or abs(loss - previous_loss) < group["tolerance_change"]
            ):
                break

    def _direction(self, state, gradient, d, t, most):
        """Down the gradient at first; then by the inverse Hessian of the changes so far."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -gradient
        dirs, steps, inverse = state["old_dirs"], state["old_stps"], state["ro"]
        change, moved = gradient - state["prev_flat_grad"], d * t
        curvature = _dot(change, moved)
        if curvature > 1e-10:
            if len(dirs) == most:
                for kept in (dirs, steps, inverse):
                    kept.pop(0)
            dirs.append(change)
            steps.append(moved)
            inverse.append(1.0 / curvature)
            state["H_diag"] = curvature / _dot(change, change)
        q, shares = -gradient, []
        for change, moved, ro in reversed(list(zip(dirs, steps, inverse))):
            shares.append(_dot(moved, q) * ro)
            q = q - change * shares[-1]
        q = q * state["H_diag"]
        for change, moved, ro, share in zip(dirs, steps, inverse, reversed(shares)):
            q = q + moved * (share - _dot(change, q) * ro)
        return q


def _largest(x):
    return ops.amax(ops.abs(x)).item()


def _dot(x, y):
    return ops.sum(x * y).item()


def _cubic(x1, f1, g1, x2, f2, g2, bounds=None):
    """The lowest point of the cubic through two points with these values and slopes, within
    bounds."""
    low, high = bounds or (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


class _Point:
    """A point on the line: how far, loss, gradient, slope."""

    def __init__(self, t, f, g, slope):
        self.t, self.f, self.g, self.slope = t, f, g, slope


def _strong_wolfe(at, t, d, f, g, slope, most, c1=1e-4, c2=0.9, least=1e-9):
    """(loss, gradient, t, evaluations) of a point where the loss has fallen enough and its slope is
    flat enough (Nocedal and Wright 2006, algorithms 3.5 and 3.6), or of the best looked at.

    at(t): loss and gradient there. f, g, slope: of t = 0. most: points after the first.
    """

    def look(t):
        loss, gradient = at(t)
        return _Point(t, loss, gradient, _dot(gradient, d))

    def is_high(p):
        return p.f > f + c1 * p.t * slope

    size, count = _largest(d), 1
    start = previous = _Point(0, f, g, slope)
    now, done, bracket, n = look(t), False, None, 0
    while n < most:
        if is_high(now) or (n > 1 and now.f >= previous.f):
            bracket = [previous, now]
        elif abs(now.slope) <= -c2 * slope:
            bracket, done = [now], True
        elif now.slope >= 0:
            bracket = [previous, now]
        if bracket:
            break
        bounds = now.t + 0.01 * (now.t - previous.t), now.t * 10
        t = _cubic(previous.t, previous.f, previous.slope, now.t, now.f, now.slope, bounds)
        previous, now = now, look(t)
        count, n = count + 1, n + 1
    bracket = bracket or [start, now]
    low, high = (0, 1) if bracket[0].f <= bracket[-1].f else (1, 0)
    stalled = False
    while not done and n < most:
        a, b = bracket
        if abs(b.t - a.t) * size < least:
            break
        t = _cubic(a.t, a.f, a.slope, b.t, b.f, b.slope)
        left, right = min(a.t, b.t), max(a.t, b.t)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:
            if stalled or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        now = look(t)
        count, n = count + 1, n + 1
        if is_high(now) or now.f >= bracket[low].f:
            bracket[high] = now
            low, high = (0, 1) if bracket[0].f <= bracket[1].f else (1, 0)
        else:
            if abs(now.slope) <= -c2 * slope:
                done = True
            elif now.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = now
    best = bracket[low if len(bracket) > 1 else 0]
    return best.f, best.g, best.t, count
