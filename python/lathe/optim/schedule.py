"""What all schedules of learning rates have in common."""

from .. import _lathe
from .._errors import typed
from .._lathe import Tensor
from .first_steps import await_step, is_first


def number(rate):
    """A rate as a number, in whatever form the group has it."""
    return rate.item() if isinstance(rate, Tensor) else rate


def put_rate(group, rate):
    """Sets a group's rate: one that is a tensor keeps to be that tensor."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(rate)
    else:
        group["lr"] = rate


def refuse(scheduler, problem, got, expected, advice):
    raise _lathe.ValueError(problem, op=scheduler, got=got, expected=expected, next=advice)


def check_epochs(scheduler, name, epochs, whole=False):
    if not epochs >= 1 or (whole and not isinstance(epochs, int)):
        must = "must be a positive integer" if whole else "must be positive"
        refuse(
            scheduler, f"{name} {must}", epochs, "at least 1",
            "give the number of epochs of one stretch",
        )  # fmt: skip


def check_optimizer(scheduler, optimizer):
    if not hasattr(optimizer, "param_groups"):
        raise _lathe.TypeError(
            "a schedule is of an optimizer", op=type(scheduler).__name__,
            got=type(optimizer).__name__, expected="an optimizer of lathe.optim",
            next="pass the optimizer first",
        )  # fmt: skip


def per_group(scheduler, optimizer, name, value):
    """A setting as a list with one for each group."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        refuse(
            scheduler, f"{name} has not as many items as there are groups", len(value), groups,
            "give one for all groups, or one for each",
        )  # fmt: skip
    return list(value)


def changes(schedule):
    """The dicts that step() of a schedule changes, [(schedule, its own)] and [those of groups];
    None if it may read anything else than these, raise, or write to a rate that is a tensor."""
    state, kind = vars(schedule), type(schedule)
    if not kind._counts_alone or not kind.__module__.startswith("lathe.optim."):
        return None
    groups = state["optimizer"].param_groups
    for group in groups:
        if isinstance(group["lr"], Tensor):
            return None
    owned, all_groups = [(schedule, state)], list(groups)
    for part in state.get("_schedulers", ()):
        found = changes(part)
        if found is None:
            return None
        owned += found[0]
        all_groups += found[1]
    return owned, all_groups


def may_be_put_off(step):
    """For a step() that a capture may leave to be called when the program has run."""
    step.changes = changes
    return step


class LRScheduler:
    """The base: a subclass defines get_lr(), the groups' rates at the step `last_epoch`.

    last_epoch: the step that an earlier run ended with; the groups then have an "initial_lr".
    base_lrs: the groups' first rates.
    """

    _not_state = ("optimizer",)
    _is_initial = False  # while it is made: many leave the rates then as they are
    _counts_alone = True  # step() needs neither arguments nor functions, and never ends

    @typed
    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(self, optimizer)
        self.optimizer = optimizer
        await_step(optimizer)
        for group in optimizer.param_groups:
            if last_epoch == -1:
                lr = group["lr"]  # the tensor itself would move with the rate
                group.setdefault("initial_lr", lr.clone() if isinstance(lr, Tensor) else lr)
            elif "initial_lr" not in group:
                raise _lathe.ValueError(
                    "a group has no initial_lr to go on from",
                    op=type(self).__name__,
                    got=f"last_epoch={last_epoch}",
                    expected="last_epoch=-1, or groups with an initial_lr",
                    next="load the optimizer's state_dict first, or leave last_epoch out",
                )
        self.base_lrs = [number(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self):
        """The step that makes the first rates, and counts as the first."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self):
        """The rate of each group at the step `last_epoch`, from what it is now."""
        raise NotImplementedError

    @may_be_put_off
    @typed
    def step(self, epoch=None):
        """Moves on by one, or to an epoch: then by the rate's formula, where there is one."""
        if self._step_count == 1 and not _lathe._tracing() and is_first(self.optimizer):
            from warnings import warn

            warn("the schedule's step() comes before the optimizer's: the first rate is never used",
                 stacklevel=3)  # fmt: skip
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        """step() without counting."""
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if closed is None else closed()
        self._set(rates)

    def _set(self, rates):
        for group, lr in zip(self.optimizer.param_groups, rates):
            put_rate(group, lr)
        self._last_lr = self._rates()

    def _rates(self):
        return [number(group["lr"]) for group in self.optimizer.param_groups]

    def _each(self, rate):
        """rate(the first rate) for each group."""
        return [rate(base) for base in self.base_lrs]

    def get_last_lr(self):
        """The rates that the last step() set."""
        return list(self._last_lr)

    def state_dict(self):
        """Everything but the optimizer, and functions."""
        return {k: v for k, v in vars(self).items() if k not in self._not_state}

    @typed
    def load_state_dict(self, state_dict):
        """Takes the state over; the rates themselves are the optimizer's state."""
        self.last_epoch = state_dict["last_epoch"]
        self.__dict__.update(state_dict)
