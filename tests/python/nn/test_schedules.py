"""Schedules of learning rates: PyTorch's numbers, alone, several at once, and after a restart."""

import math

import pytest

import lathe as lt
from lathe import nn, optim
from lathe.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LRScheduler, StepLR


def sgd(*rates):
    groups = [{"params": [nn.Parameter(lt.ones(1))], "lr": lr} for lr in rates]
    return optim.SGD(groups, lr=1.0)


def rates(optimizer, *schedules, steps):
    seen = []
    for _ in range(steps):
        optimizer.step()
        for schedule in schedules:
            schedule.step()
        seen.append([group["lr"] for group in optimizer.param_groups])
    return seen


def near(got, want):
    assert got == [pytest.approx(w, rel=1e-12) for w in want], got


def test_each_alone():
    o = sgd(1.0, 8.0)
    near(rates(o, StepLR(o, 2, gamma=0.5), steps=4), [[1, 8], [0.5, 4], [0.5, 4], [0.25, 2]])
    o = sgd(1.0, 2.0)
    near(rates(o, LambdaLR(o, lambda epoch: epoch + 1), steps=2), [[2, 4], [3, 6]])
    o = sgd(1.0, 2.0)
    pair = [lambda epoch: 1 / (epoch + 1), lambda epoch: 3]
    near(rates(o, LambdaLR(o, pair), steps=2), [[1 / 2, 6], [1 / 3, 6]])


def test_a_cosine_and_up_again():
    o = sgd(2.0, 5.0)
    low = 0.5
    curve = [(1 + math.cos(math.pi * i / 4)) / 2 for i in range(1, 13)]
    want = [[low + (first - low) * c for first in (2.0, 5.0)] for c in curve]
    near(rates(o, CosineAnnealingLR(o, 4, eta_min=low), steps=12), want)


def test_several_multiply():
    o = sgd(1.0)
    a, b = StepLR(o, 1, gamma=0.5), StepLR(o, 1, gamma=0.1)
    near(rates(o, a, b, steps=3), [[0.05], [0.0025], [0.000125]])
    assert b.get_last_lr() == [o.param_groups[0]["lr"]] != a.get_last_lr()
    o = sgd(1.0)  # the cosine's factor from a step to the next, on what the other made of the rate
    near(
        rates(o, CosineAnnealingLR(o, 2), StepLR(o, 1, gamma=0.1), steps=1),
        [[(1 + math.cos(math.pi / 2)) / 2 * 0.1]],
    )


@pytest.mark.parametrize(
    "make", [lambda o: StepLR(o, 3, gamma=0.5), lambda o: CosineAnnealingLR(o, 1000)]
)
def test_a_rate_set_by_hand_stays(make):
    o = sgd(1.0)
    schedule = make(o)
    o.param_groups[0]["lr"] = 7.0
    o.step()
    schedule.step()
    assert o.param_groups[0]["lr"] == pytest.approx(7.0, rel=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda o, last=-1: StepLR(o, 2, 0.5, last),
        lambda o, last=-1: CosineAnnealingLR(o, 4, 0.1, last),
        lambda o, last=-1: LambdaLR(o, lambda epoch: 0.9**epoch, last),
    ],
    ids=["step", "cosine", "lambda"],
)
def test_it_goes_on_where_it_ended(make):
    o = sgd(2.0)
    whole = make(o)
    want = rates(o, whole, steps=9)
    o = sgd(2.0)
    first = make(o)
    rates(o, first, steps=4)
    state, schedule_state = o.state_dict(), first.state_dict()
    assert "optimizer" not in schedule_state and schedule_state["base_lrs"] == [2.0]
    again = sgd(2.0)
    second = make(again)
    again.load_state_dict(state), second.load_state_dict(schedule_state)
    near(rates(again, second, steps=5), want[4:])
    again = sgd(2.0)
    again.load_state_dict(state)
    third = make(again, last=3)  # step 4 is made anew
    if isinstance(third, StepLR):
        again.param_groups[0]["lr"] = want[3][0]  # as PyTorch's, which multiplies at it once more
    near(rates(again, third, steps=5), want[4:])


def test_a_schedule_of_ones_own():
    class Halved(LRScheduler):
        def get_lr(self):
            return [lr / 2**self.last_epoch for lr in self.base_lrs]

    o = sgd(4.0)
    near(rates(o, Halved(o), steps=2), [[2.0], [1.0]])


def test_refused():
    with pytest.raises(lt.ValueError, match="initial_lr"):
        StepLR(sgd(1.0), 2, last_epoch=3)
    with pytest.raises(lt.ValueError, match="functions"):
        LambdaLR(sgd(1.0), [abs, abs])
    with pytest.raises(lt.TypeError, match=r"^StepLR: .*'verbose'"):
        StepLR(sgd(1.0), 2, verbose=True)


def test_schedules_cost_no_trace():
    def run(traced):
        lt.manual_seed(3)
        model = nn.Linear(3, 2)
        o = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        schedules = [StepLR(o, 3, gamma=0.9), CosineAnnealingLR(o, 10, eta_min=0.001)]
        x = lt.randn(4, 3)

        def step(x):
            o.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            o.step()
            return loss

        call = lt.trace(step) if traced else step
        losses = []
        for _ in range(30):
            losses.append(call(x).item().hex())
            for schedule in schedules:
                schedule.step()
        return losses, call

    losses, call = run(True)
    assert losses == run(False)[0]
    assert call.counts["traces"] <= 3, call.counts
