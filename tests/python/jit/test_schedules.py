"""Schedules of learning rates that move on inside of what is captured: those that count alone by
calls that are made when the program has run, as long as nothing there reads or writes what they
change; the others, and those, as they are written."""

import math

import pytest
from script_checks import same

import lathe as lt
from lathe import nn, optim
from lathe.nn import functional as F

S = optim.lr_scheduler
TOLD = {"n": 0}
n = 0


class Mine(S.LRScheduler):
    share = 1.0

    def get_lr(self):
        if self._is_initial:
            return self._rates()
        return [base * self.share * math.cos(self.last_epoch / 20) for base in self.base_lrs]


def of_the_trainer(optimizer, trainer):
    return S.LambdaLR(optimizer, lambda k: math.cos(k / 10) + 0.01 * getattr(trainer, "n", 0))


def of_globals(optimizer, trainer):
    return S.LambdaLR(optimizer, lambda k: 1 / (1 + k) + 0.01 * n + 0.001 * TOLD["n"])


def in_sequence(optimizer, trainer):
    parts = [S.LinearLR(optimizer, total_iters=3), S.CosineAnnealingLR(optimizer, 10)]
    return S.SequentialLR(optimizer, parts, [3])


SCHEDULES = {
    "cosine": lambda o, t: S.CosineAnnealingLR(o, 7),
    "milestones": lambda o, t: S.MultiStepLR(o, [2, 4]),
    "one cycle": lambda o, t: S.OneCycleLR(o, 0.2, total_steps=40),
    "too short": lambda o, t: S.OneCycleLR(o, 0.2, total_steps=5),
    "cycles": lambda o, t: S.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "warm restarts": lambda o, t: S.CosineAnnealingWarmRestarts(o, 3),
    "in sequence": in_sequence,
    "at once": lambda o, t: S.ChainedScheduler([S.StepLR(o, 2), S.PolynomialLR(o, 9)]),
    "of the trainer": of_the_trainer,
    "of globals": of_globals,
    "mine": lambda o, t: Mine(o),
}  # fmt: skip


def epoch_of(schedule):
    return getattr(schedule, "last_epoch", None)


COUNT_ALONE = [SCHEDULES[k] for k in ("cosine", "milestones", "warm restarts", "at once")]
COUNT_ALONE += [in_sequence]


class Trainer:
    def __init__(self, schedule, rate=0.1):
        lt.manual_seed(0)
        self.model = nn.Linear(4, 3)
        self.opt = optim.SGD(self.model.parameters(), lr=rate, momentum=0.9)
        self.schedule = schedule(self.opt, self)
        self.other = S.ExponentialLR(self.opt, 0.97)
        self.n, self.log = 0, []

    def loss(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        return loss.detach()

    def comes_last(self, x, y):
        self.opt.zero_grad()
        loss = self.loss(x, y)
        self.opt.step()
        self.schedule.step()
        return loss

    def clears_afterwards(self, x, y):
        loss = self.loss(x, y)
        self.opt.step()
        self.schedule.step()
        self.opt.zero_grad()
        return loss

    def counts_before(self, x, y):
        self.n += 1
        return self.comes_last(x, y)

    def computes_afterwards(self, x, y):
        return self.comes_last(x, y), self.model(x).sum().detach()

    def notes_the_rate_before(self, x, y):
        self.log.append(self.opt.param_groups[0]["lr"])
        return self.comes_last(x, y)

    def moves_two(self, x, y):
        loss = self.comes_last(x, y)
        self.other.step()
        return loss

    def at_times(self, x, y):
        self.n += 1
        self.opt.zero_grad()
        loss = self.loss(x, y)
        self.opt.step()
        if self.n % 2 == 0:
            self.schedule.step()
        return loss

    # What follows reads or writes what the schedule changes, or what it may read.

    def counts_afterwards(self, x, y):
        loss = self.comes_last(x, y)
        self.n += 1
        return loss

    def sets_a_global_afterwards(self, x, y):
        global n
        loss = self.comes_last(x, y)
        n += 1
        return loss

    def fills_a_dict_afterwards(self, x, y):
        loss = self.comes_last(x, y)
        TOLD["n"] += 1
        return loss

    def tells_the_rate(self, x, y):
        return self.comes_last(x, y), self.schedule.get_last_lr()

    def notes_the_rate(self, x, y):
        loss = self.comes_last(x, y)
        self.log.append(dict(self.opt.param_groups[0])["lr"])
        return loss

    def halves_the_rate(self, x, y):
        loss = self.comes_last(x, y)
        for group in self.opt.param_groups:
            group["lr"] = group["lr"] * 0.5
        return loss

    def comes_first(self, x, y):
        self.schedule.step()
        self.opt.zero_grad()
        loss = self.loss(x, y)
        self.opt.step()
        return loss

    def tells_the_epoch(self, x, y):
        return self.comes_last(x, y), epoch_of(self.schedule)

    def moves_twice(self, x, y):
        loss = self.comes_last(x, y)
        self.schedule.step()
        return loss

    def state(self):
        group, parameters = self.opt.param_groups[0], self.model.parameters()
        counts = epoch_of(self.schedule), self.n, n, TOLD["n"], list(self.log)
        return group["lr"], group["momentum"], counts, [p.detach() for p in parameters]


METHODS = [m for m in vars(Trainer) if not m.startswith("_") and m not in ("loss", "state")]
FEW = METHODS[: METHODS.index("counts_afterwards")]


def history(trainer, step):
    global n
    n = TOLD["n"] = 0
    found = []
    for k in range(6):
        lt.manual_seed(k)
        x, y = lt.randn(12, 4), lt.randint(0, 3, (12,))
        try:
            found.append(step(x, y))
        except ValueError as problem:
            found.append(str(problem).split("\n")[0])
        found.append(trainer.state())
    return found


@pytest.mark.filterwarnings("ignore:the schedule's step")
@pytest.mark.parametrize("way", [lt.trace, lt.script])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_as_in_eager_code(schedule, method, way):
    mine, theirs = Trainer(schedule), Trainer(schedule)
    captured = way(getattr(mine, method))
    same(history(mine, captured), history(theirs, getattr(theirs, method)))
    assert captured.counts["traces"] <= 6
    if method in FEW and schedule in COUNT_ALONE:
        assert captured.counts["traces"] <= 3


@pytest.mark.parametrize("way", [lt.trace, lt.script])
def test_a_rate_that_is_a_tensor_is_read(way):
    mine = Trainer(SCHEDULES["cosine"], lt.tensor(0.1))
    with pytest.raises(lt.TraceError, match="reads the elements of a tensor"):
        history(mine, way(mine.comes_last))


def looks_at_items(t):
    items = t.opt.param_groups[0].items()
    t.schedule.step()
    return [b for a, b in items if a == "lr"]


def adds_a_group(t):
    t.schedule.step()
    t.opt.add_param_group(
        {"params": [lt.ones(1, requires_grad=True)], "lr": 0.5, "initial_lr": 0.5}
    )


def replaces_the_groups(t):
    t.schedule.step()
    t.opt.param_groups = [{**t.opt.param_groups[0], "lr": 9.0}]


def reads_a_tensor(t):
    t.opt.param_groups[0]["lr"] = t.rate
    t.schedule.step()
    return t.rate * 1


def ends_in_a_try(t):
    t.weight.grad = None
    (t.weight * 3).sum().backward()
    t.opt.step()
    try:  # noqa: SIM105, as programs have it
        t.ends.step()
    except ValueError:
        pass


def own_rates(t):
    t.schedule.get_lr = lambda: [0.1 + t.n * 0.01]
    t.schedule.step()
    t.n += 1


def steps(t):
    t.schedule.step()
    t.n += 1


class Few:
    """A weight, its optimizer and a schedule."""

    def __init__(self):
        self.weight, self.rate, self.n = lt.ones(1, requires_grad=True), lt.tensor(0.1), 0
        self.opt = optim.SGD([self.weight], lr=0.1)
        self.schedule = S.ChainedScheduler([S.CosineAnnealingLR(self.opt, 7)])
        self.ends = S.OneCycleLR(optim.SGD([self.weight], lr=1.0), 1.0, total_steps=2)

    def state(self):
        return (
            [g["lr"] for g in self.opt.param_groups],
            self.schedule.get_last_lr(),
            self.weight.detach(),
        )


@pytest.mark.filterwarnings("ignore:the schedule's step")
@pytest.mark.parametrize("way", [lt.trace, lt.script])
@pytest.mark.parametrize(
    "f",
    [looks_at_items, adds_a_group, replaces_the_groups, reads_a_tensor, ends_in_a_try, own_rates],
)
def test_equal_or_refused(f, way):
    mine, theirs = Few(), Few()
    captured = way(f)
    for _ in range(4):
        try:
            found = captured(mine)
        except (lt.TraceError, lt.ScriptError):
            return
        same(found, f(theirs))
        same(mine.state(), theirs.state())


@pytest.mark.filterwarnings("ignore:the schedule's step")
@pytest.mark.parametrize("way", [lt.trace, lt.script])
def test_what_becomes_of_a_schedule_is_seen(way):
    mine, theirs = Few(), Few()
    captured = way(steps)
    for k in range(6):
        for t in (mine, theirs):
            if k == 3:
                t.schedule._schedulers.append(S.LambdaLR(t.opt, lambda _, t=t: 0.1 + t.n))
        captured(mine), steps(theirs)
        same(mine.state(), theirs.state())


def test_where_data_decides_it_is_no_later_call():
    mine = Trainer(SCHEDULES["cosine"])

    def step(x, y):
        loss = mine.loss(x, y)
        if loss > 0.9:
            mine.schedule.step()
        return loss

    with pytest.raises(lt.ScriptError, match="in one branch"):
        lt.script(step)(lt.randn(12, 4), lt.randint(0, 3, (12,)))
    assert mine.schedule.last_epoch == 0
