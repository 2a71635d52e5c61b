"""Averages of a model along its training (Izmailov et al. 2018), and the rates that go with
them."""

import math
from copy import deepcopy

from .. import _lathe, ops
from .._errors import typed
from .._grad_mode import no_grad
from ..nn.module import Module
from ..nn.norms import _BatchNorm
from .lr_scheduler import LRScheduler
from .schedule import per_group, refuse

_COS = "cos"  # not an op: a setting

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def _check_decay(decay):
    if not 0 <= decay <= 1:
        refuse("get_ema_avg_fn", "the decay is outside of [0, 1]", decay, "0 to 1",
               "leave it out for 0.999")  # fmt: skip


@typed
def get_ema_avg_fn(decay=0.999):
    """The function of an average that forgets: decay times it, and 1 - decay times the new
    value."""
    _check_decay(decay)

    def average(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return average


@typed
def get_swa_avg_fn():
    """The function of a plain average."""

    def average(averaged_model_parameter, model_parameter, num_averaged):
        if model_parameter.dtype == _lathe.bool:  # of which there is no average
            return model_parameter
        return averaged_model_parameter + (model_parameter - averaged_model_parameter) / (
            num_averaged + 1
        )

    return average


def _of_all(average):
    def update(averaged, current, num_averaged):
        for mean, value in zip(averaged, current):
            mean.copy_(average(mean, value, num_averaged))

    return update


@typed
def get_ema_multi_avg_fn(decay=0.999):
    """As get_ema_avg_fn, of lists of tensors, in place."""
    return _of_all(get_ema_avg_fn(decay))


@typed
def get_swa_multi_avg_fn():
    """As get_swa_avg_fn, of lists of tensors, in place."""
    return _of_all(get_swa_avg_fn())


def _unless_first(update):
    """The same with the first values themselves where none was counted before."""

    def either(averaged, current, num_averaged):
        made = [mean.clone() for mean in averaged]
        update(made, current, num_averaged)
        for mean, value, other in zip(averaged, current, made):
            mean.copy_(ops.where(num_averaged == 0, value.to(mean.dtype), other))

    return either


class AveragedModel(Module):
    """A copy of a model whose parameters are the average of those that update_parameters() has
    seen.

    avg_fn(mean, value, count): the next mean; multi_avg_fn: the same of lists of one dtype, in
    place. use_buffers: of the buffers too; else they are copied.
    """

    @typed
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            refuse("AveragedModel", "both avg_fn and multi_avg_fn are given", "two functions",
            "one",
                   "leave one of them out")  # fmt: skip
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", ops.zeros((), dtype=_lathe.int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _tensors(self, module):
        found = list(module.parameters())
        return found + (list(module.buffers()) if self.use_buffers else [])

    @no_grad()
    def update_parameters(self, model):
        """Takes the model's values as they are now into the average."""
        means, values = self._tensors(self.module), self._tensors(model)
        update = self.multi_avg_fn or _of_all(self.avg_fn or get_swa_avg_fn())
        traced = _lathe._tracing()
        if traced:  # the program of the first call serves the others too
            update = _unless_first(update)
        first = not traced and int(self.n_averaged) == 0
        kinds = {}
        for mean, value in zip(means, values):
            if first:
                mean.copy_(value)
            else:
                kinds.setdefault((mean.dtype, mean.device), []).append((mean, value))
        for pairs in kinds.values():
            update([m for m, _ in pairs], [v for _, v in pairs], self.n_averaged)
        if not self.use_buffers:
            for mean, value in zip(self.module.buffers(), model.buffers()):
                mean.copy_(value)
        self.n_averaged.add_(1)


@no_grad()
@typed
def update_bn(loader, model, device=None):
    """Measures what batch norms need anew, by one pass over the loader's batches (their first
    items)."""
    norms = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not norms:
        return
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for norm, momentum in norms.items():
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rates that there are to swa_lr over anneal_epochs, by a cosine or a line; then
    that."""

    @typed
    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy=_COS, last_epoch=-1):
        rates = per_group("SWALR", optimizer, "swa_lr", swa_lr)
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):  # not an op: a name
            refuse("SWALR", "an unknown strategy", repr(anneal_strategy), "'cos' or 'linear'",
                   "leave it out for 'cos'")  # fmt: skip
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            refuse("SWALR", "anneal_epochs is no number of epochs", anneal_epochs, "0 or more",
                   "leave it out for 10")  # fmt: skip
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, epoch):
        """How much of the way is behind at an epoch."""
        t = max(0, min(1, epoch / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t  # not an op

    def get_lr(self):
        step = self._step_count - 1 if self.anneal_epochs else max(1, self._step_count - 1)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group, lr in zip(self.optimizer.param_groups, self._rates()):
            # The rate that the way began at, from the one that there is.
            first = (
                group["swa_lr"] if before == 1 else (lr - group["swa_lr"] * before) / (1 - before)
            )
            rates.append(group["swa_lr"] * now + first * (1 - now))
        return rates
