"""Schedules that go round: warm restarts, and rates and momenta in cycles."""

import math

from .._errors import typed
from .schedule import (
    LRScheduler,
    check_epochs,
    check_optimizer,
    may_be_put_off,
    per_group,
    put_rate,
    refuse,
)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to eta_min over T_0 epochs, then again from the top over T_mult times as
    many (Loshchilov and Hutter 2017)."""

    @typed
    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        check_epochs("CosineAnnealingWarmRestarts", "T_0", T_0, whole=True)
        check_epochs("CosineAnnealingWarmRestarts", "T_mult", T_mult, whole=True)
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min, self.T_cur = eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        low, share = self.eta_min, self.T_cur / self.T_i
        return self._each(lambda base: low + (base - low) * (1 + math.cos(math.pi * share)) / 2)

    @may_be_put_off
    @typed
    def step(self, epoch=None):
        """Moves on by one, or to an epoch, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                refuse("CosineAnnealingWarmRestarts", "a negative epoch", epoch, "0 or more",
                        "leave it out for the next one")  # fmt: skip
            self._start_at(epoch)
        self._step_count += 1
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())

    def _start_at(self, epoch):
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            done = self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i, self.T_cur = self.T_0 * self.T_mult**n, epoch - done


class _Momentum(LRScheduler):
    """A schedule that moves a momentum against the rate: "momentum", or the first of "betas"."""

    cycle_momentum = False

    def _has_momentum(self, optimizer):
        for group in optimizer.param_groups:
            if "momentum" not in group and "betas" not in group:
                refuse(
                    type(self).__name__, "the optimizer has no momentum to cycle",
                    type(optimizer).__name__, "momentum or betas", "pass cycle_momentum=False",
                )  # fmt: skip
        self.use_beta1 = "betas" in optimizer.param_groups[0]

    def _put_momentum(self, group, value):
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_Momentum):
    """Up from base_lr to max_lr and down again, over and over (Smith 2017).

    mode: "triangular", "triangular2" (half as high each time) or "exp_range" (times
    gamma^iteration); scale_fn, of the cycle or the iteration (scale_mode), instead of them.
    """

    _not_state = ("optimizer", "scale_fn")
    _counts_alone = False

    @typed
    def __init__(
        self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None,
        mode="triangular", gamma=1.0, scale_fn=None, scale_mode="cycle", cycle_momentum=True,
        base_momentum=0.8, max_momentum=0.9, last_epoch=-1,
    ):  # fmt: skip
        check_optimizer(self, optimizer)
        name = "CyclicLR"
        lows = per_group(name, optimizer, "base_lr", base_lr)
        self.max_lrs = per_group(name, optimizer, "max_lr", max_lr)
        if last_epoch == -1:
            for low, group in zip(lows, optimizer.param_groups):
                put_rate(group, low)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        scales = {
            "triangular": (lambda cycle: 1.0, "cycle"),
            "triangular2": (lambda cycle: 1 / (2.0 ** (cycle - 1)), "cycle"),
            "exp_range": (lambda iterations: gamma**iterations, "iterations"),
        }
        if scale_fn is None and mode not in scales:
            refuse(name, "an unknown mode", repr(mode), ", ".join(scales), "or pass scale_fn")
        self.mode, self.gamma = mode, gamma
        self.scale_fn, self.scale_mode = (
            scales[mode] if scale_fn is None else (scale_fn, scale_mode)
        )
        self._scale_fn_custom = None  # PyTorch's state_dicts keep what a scale_fn remembers there
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._has_momentum(optimizer)
            self.base_momentums = per_group(name, optimizer, "base_momentum", base_momentum)
            self.max_momentums = per_group(name, optimizer, "max_momentum", max_momentum)
            for m, group in zip(self.max_momentums, optimizer.param_groups):
                self._put_momentum(group, m)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            spans = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups)
            for low, high, group in spans:
                self._put_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]


def _by_cosine(start, end, share):
    return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)


def _by_line(start, end, share):
    return (end - start) * share + start


# What a state_dict says of a stretch: where it ends, and the settings that it goes between.
_PHASE = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")


class OneCycleLR(_Momentum):
    """Up to max_lr and down to almost nothing, once, while the momentum goes the other way (Smith
    and Topin 2019). three_phase: down to the start first, then to the end."""

    _not_state = ("optimizer",)
    _counts_alone = False

    @typed
    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None,
        pct_start=0.3, anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85,  # not an op
        max_momentum=0.95, div_factor=25.0, final_div_factor=1e4, three_phase=False, last_epoch=-1,
    ):  # fmt: skip
        check_optimizer(self, optimizer)
        name = "OneCycleLR"
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                refuse(name, "the number of steps is not given", "neither",
                        "total_steps, or epochs and steps_per_epoch",
                        "give one of them")  # fmt: skip
            total_steps = epochs * steps_per_epoch
        check_epochs(name, "total_steps", total_steps, whole=True)
        if not 0 <= pct_start <= 1:
            refuse(name, "pct_start is outside of [0, 1]", pct_start, "a share of the steps",
                    "leave it out for 0.3")  # fmt: skip
        if anneal_strategy not in ("cos", "linear"):  # not an op: a name
            refuse(name, "an unknown strategy", repr(anneal_strategy), "'cos' or 'linear'",
                    "leave it out for 'cos'")  # fmt: skip
        self.total_steps = total_steps
        last, top = total_steps - 1, float(pct_start * total_steps) - 1
        phases = [(top, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            middle = float(2 * pct_start * total_steps) - 2
            phases += [
                (middle, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                (last, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
            ]
        else:
            phases += [(last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        self._schedule_phases = [dict(zip(_PHASE, p)) for p in phases]
        self._anneal_func_type = anneal_strategy
        if last_epoch == -1:
            highs = per_group(name, optimizer, "max_lr", max_lr)
            for high, group in zip(highs, optimizer.param_groups):
                group["initial_lr"], group["max_lr"] = high / div_factor, high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._has_momentum(optimizer)
            lows = per_group(name, optimizer, "base_momentum", base_momentum)
            highs = per_group(name, optimizer, "max_momentum", max_momentum)
            if last_epoch == -1:
                for low, high, group in zip(lows, highs, optimizer.param_groups):
                    self._put_momentum(group, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        step, rates = self.last_epoch, []
        if step > self.total_steps:
            refuse("OneCycleLR", "the cycle is over", f"step {step + 1}",
                    f"{self.total_steps} steps", "give more total_steps")  # fmt: skip
        anneal = _by_cosine if self._anneal_func_type == "cos" else _by_line  # not an op: a name
        start = 0.0
        for i, phase in enumerate(self._schedule_phases):
            end = phase["end_step"]
            if step <= end or i == len(self._schedule_phases) - 1:
                share = (step - start) / (end - start)
                break
            start = end

        def moved(group, what):
            ends = phase["start_" + what], phase["end_" + what]
            return anneal(group[ends[0]], group[ends[1]], share)

        for group in self.optimizer.param_groups:
            rates.append(moved(group, "lr"))
            if self.cycle_momentum:
                self._put_momentum(group, moved(group, "momentum"))
        return rates
