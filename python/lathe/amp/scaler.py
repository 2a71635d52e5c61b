"""GradScaler: losses scaled up, so that gradients in f16 do not vanish."""

from .. import _lathe, ops
from .._grad_mode import no_grad


class GradScaler:
    """Scales a loss, takes the scale out of the gradients, and leaves steps out that overflowed.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    A step is left out where a gradient is infinite or NaN, in a trace by taking back what it has
    written; then the scale becomes backoff_factor times itself. After growth_interval steps in a
    row it grows by growth_factor. With enabled=False, or for a device that is not there, it scales
    nothing. ValueError for factors that do not shrink or grow.
    """

    def __init__(
        self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5,
        growth_interval=2000, enabled=True,
    ):  # fmt: skip
        if not (growth_factor > 1.0 and 0.0 < backoff_factor < 1.0):
            raise _lathe.ValueError(
                "a scale grows by more than 1 and backs off by less", op="GradScaler",
                got=f"growth_factor={growth_factor}, backoff_factor={backoff_factor}",
                expected="growth_factor > 1 and 0 < backoff_factor < 1",
            )  # fmt: skip
        self._enabled = enabled and str(device).partition(":")[0] == "cpu"
        if enabled and not self._enabled:
            import warnings

            warnings.warn(f"there is no device {device!r}: nothing is scaled", stacklevel=2)
        self._scale = _lathe.tensor(float(init_scale), dtype=_lathe.float32)
        self._growth_tracker = _lathe.tensor(0, dtype=_lathe.int32)  # good steps in a row
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._found = {}  # by the optimizer's id: whether a gradient overflowed; kept from unscale_

    def is_enabled(self):
        return self._enabled

    def get_scale(self):
        return self._scale.item() if self._enabled else 1.0

    def scale(self, outputs):
        """The tensor, or those of a list or tuple, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, _lathe.Tensor):
            return outputs * self._scale
        return type(outputs)(map(self.scale, outputs))

    @no_grad()
    def unscale_(self, optimizer):
        """Divides the gradients of the optimizer's parameters by the scale, once before its step;
        RuntimeError at a second time. For what looks at gradients, as clip_grad_norm_()."""
        if not self._enabled:
            return
        if id(optimizer) in self._found:
            raise _lathe.AutogradError(
                "the gradients are unscaled already", op="GradScaler.unscale_",
                got="a second call before update()", expected="one call for each step",
            )  # fmt: skip
        overflowed = _lathe.tensor(False)
        inverse = (1.0 / self._scale.to(_lathe.float64)).to(_lathe.float32)
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.grad.mul_(inverse)
                finite = ops.all(ops.isfinite(p.grad))
                overflowed = ops.logical_or(overflowed, ops.logical_not(finite))
        self._found[id(optimizer)] = overflowed

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step() on unscaled gradients, unless one of them overflowed; what it gives."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        overflowed = self._found[id(optimizer)]
        if _lathe._symbolic(overflowed):
            return _step_unless(overflowed, optimizer, args, kwargs)
        return None if bool(overflowed) else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """The scale of the next step: new_scale, or what the last steps ask for."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale.copy_(_lathe.tensor(new_scale, dtype=_lathe.float32))
        elif self._found:
            self._follow(self._found.values())
        else:
            raise _lathe.AutogradError(
                "there was no step", op="GradScaler.update", got="no call of step() or unscale_()",
                expected="step(optimizer) before it",
            )  # fmt: skip
        self._found = {}

    @no_grad()
    def _follow(self, found):
        """The scale after steps, of which some may have overflowed."""
        bad, scale = _lathe.tensor(False), self._scale.to(_lathe.float64)
        for overflowed in found:
            bad = ops.logical_or(bad, overflowed)
        good_steps = ops.where(bad, 0, self._growth_tracker + 1)
        grows = ops.eq(good_steps, self._growth_interval)
        grown = (scale * self._growth_factor).to(_lathe.float32)
        grown = ops.where(ops.logical_and(grows, ops.isfinite(grown)), grown, self._scale)
        less = (scale * self._backoff_factor).to(_lathe.float32)
        self._scale.copy_(ops.where(bad, less, grown))
        self._growth_tracker.copy_(ops.where(grows, 0, good_steps))

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def state_dict(self):
        if not self._enabled:
            return {}
        return {
            "scale": self._scale.item(), "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker.item(),
        }  # fmt: skip

    def load_state_dict(self, state_dict):
        """What state_dict() gave. AutogradError for the empty one of a scaler that was switched
        off."""
        if not self._enabled:
            return
        if not state_dict:
            raise _lathe.AutogradError(
                "the state is that of a scaler which is switched off",
                op="GradScaler.load_state_dict", got="{}", expected="the state of one that scales",
            )  # fmt: skip
        for name, value in state_dict.items():
            now = getattr(self, "_" + name.removeprefix("_"), None)
            if isinstance(now, _lathe.Tensor):
                now.fill_(value)
            else:
                setattr(self, "_" + name.removeprefix("_"), value)


@no_grad()
def _step_unless(overflowed, optimizer, args, kwargs):
    """A step in a trace, which no data of tensors leaves out: it is taken, and what it writes is as
    before where a gradient overflowed."""
    plain = type(optimizer).__module__.startswith("lathe.optim.") and not args and not kwargs
    if not plain or optimizer._pre_hooks or optimizer._post_hooks:
        _refuse(type(optimizer).__name__)
    before = [(t, t.clone()) for t in _written(optimizer)]
    result = optimizer.step()
    if len(_written(optimizer)) != len(before):
        _refuse(type(optimizer).__name__)
    for tensor, old in before:
        tensor.copy_(ops.where(overflowed, old, tensor))
    return result


def _written(optimizer):
    """What a step writes: the parameters, and what is remembered for them."""
    found = []
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                found.append(p)
                found += optimizer.state.get(p, {}).values()
    return [t for t in found if isinstance(t, _lathe.Tensor)]


def _refuse(name):
    raise _lathe.TraceError(
        "whether there is a step depends on the data of the gradients, and this one may do more "
        "than write tensors", op="GradScaler", got=f"a step of {name} inside of a traced function",
        expected="an optimizer of lathe.optim without hooks or closure, or the step outside",
        next="trace the model and the loss: scaler.scale(traced(x)).backward(), "
        "scaler.step(optimizer), scaler.update()",
    )  # fmt: skip
