"""Schedules that go on, that follow others, and of rates that are tensors: PyTorch's numbers.

They are written with twelve digits at most, to which 1e-11 compares them; 1e-15 is for a rate of 0.
"""

import pytest

import lathe as lt
from lathe import nn, optim
from lathe.optim import lr_scheduler as kinds
from lathe.optim.swa_utils import SWALR


def sgd(lr=0.5):
    return optim.SGD([nn.Parameter(lt.ones(1))], lr=lr)


def rates(optimizer, schedule, steps):
    """The rate that there is, and after each of some steps."""
    group = optimizer.param_groups[0]
    seen = [float(group["lr"])]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        seen.append(float(group["lr"]))
    return seen


def down(epoch):
    return 0.9 - 0.01 * epoch


@pytest.mark.parametrize(
    "make, want",
    [
        (lambda o: kinds.ExponentialLR(o, 0.9, last_epoch=3), [0.3, 0.27, 0.243, 0.2187]),
        (lambda o: kinds.LinearLR(o, 0.5, 1.0, 6, last_epoch=3), [0.3, 0.33, 0.36, 0.36]),
        (lambda o: kinds.PolynomialLR(o, 6, 2.0, last_epoch=3), [0.3, 0.075, 0.0, 0.0]),
        (lambda o: kinds.CosineAnnealingLR(o, 4, 0.1, last_epoch=3),
         [0.3, 0.358578643763, 0.982842712475, 1.607106781187]),
        (lambda o: kinds.MultiplicativeLR(o, down, last_epoch=3), [0.3, 0.255, 0.2142, 0.177786]),
    ],
    ids=["exponential", "linear", "polynomial", "cosine", "multiplicative"],
)  # fmt: skip
def test_the_rate_that_there_is_stays_at_first(make, want):
    o = sgd(0.3)
    o.param_groups[0]["initial_lr"] = 0.5
    assert rates(o, make(o), 3) == pytest.approx(want, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize(
    "make, want",
    [
        (lambda o: kinds.MultiplicativeLR(o, down),
         [0.5, 0.25, 0.225, 0.20025, 0.17622, 0.1533114]),
        (lambda o: SWALR(o, 0.05, 0), [0.5, 0.25, 0.05, 0.05, 0.05, 0.05]),
        (lambda o: SWALR(o, 0.05, 4), [0.5, 0.25, 0.25, 0.220710678119, 0.15, 0.079289321881]),
    ],
    ids=["multiplicative", "swa at once", "swa"],
)  # fmt: skip
def test_the_second_begins_at_its_milestone(make, want):
    o = sgd()
    schedule = kinds.SequentialLR(o, [kinds.StepLR(o, 1, 0.5), make(o)], [2])
    assert rates(o, schedule, 5) == pytest.approx(want, rel=1e-11)


def test_several_at_once_come_first():
    o = sgd()
    first = kinds.ChainedScheduler([kinds.ExponentialLR(o, 0.5), kinds.StepLR(o, 1, 0.9)])
    schedule = kinds.SequentialLR(o, [first, kinds.StepLR(o, 1, 0.1)], [2])
    # As PyTorch's: what the parts of a chain do at the first step is no first step to them.
    assert rates(o, schedule, 4) == pytest.approx([0.25, 0.1125, 0.5, 0.05, 0.005], rel=1e-11)


def test_no_epochs_between_the_rates():
    o = sgd()
    assert rates(o, SWALR(o, 0.05, 0), 2) == [0.05, 0.05, 0.05]


def test_the_first_rate_is_no_tensor_that_moves():
    rate = lt.tensor(0.5)
    o = sgd(rate)
    first = kinds.ExponentialLR(o, 0.5)
    rates(o, first, 2)
    group = o.param_groups[0]
    assert group["lr"] is rate and group["initial_lr"] is not rate
    assert group["initial_lr"].item() == 0.5 and kinds.ExponentialLR(o, 0.5).base_lrs == [0.5]
    kinds.SequentialLR(o, [kinds.ConstantLR(o, 1.0), kinds.ConstantLR(o, 1.0)], [2])
    assert group["lr"] is rate and rate.item() == 0.5
    o = sgd(rate)
    kinds.CyclicLR(o, 0.25, 1.0, cycle_momentum=False)
    assert o.param_groups[0]["lr"] is rate and rate.item() == 0.25


def test_groups_added_later_are_reduced():
    o = sgd()
    schedule = kinds.ReduceLROnPlateau(o, patience=0, factor=0.5)
    o.add_param_group({"params": nn.Parameter(lt.ones(1)), "lr": 2.0})
    for _ in range(3):
        schedule.step(1.0)
    assert [g["lr"] for g in o.param_groups] == [0.125, 0.5]
    o = sgd()
    schedule = kinds.ReduceLROnPlateau(o, patience=0, min_lr=[0.1])
    o.add_param_group({"params": nn.Parameter(lt.ones(1)), "lr": 2.0})
    schedule.step(1.0)
    with pytest.raises(lt.ValueError, match="^ReduceLROnPlateau: groups were added"):
        schedule.step(1.0)
    schedule.min_lrs.append(0.5)
    schedule.step(1.0)
    assert [g["lr"] for g in o.param_groups] == pytest.approx([0.1, 0.5])


def test_a_sequence_takes_no_schedule_that_wants_a_metric():
    o = lt.optim.SGD([lt.zeros(1, requires_grad=True)], lr=0.1)
    parts = [kinds.ExponentialLR(o, 0.5), kinds.ReduceLROnPlateau(o)]
    with pytest.raises(lt.ValueError, match="wants a metric at each step"):
        kinds.SequentialLR(o, parts, milestones=[2])


def test_states_have_pytorchs_names():
    def state(kind, *args, **settings):
        return kind(optim.SGD([nn.Parameter(lt.ones(1))], 0.1, 0.9), *args, **settings).state_dict()

    once = state(kinds.OneCycleLR, 0.3, 30, three_phase=True)
    assert once["_schedule_phases"][1] == {
        "end_step": 16.0,
        "start_lr": "max_lr",
        "end_lr": "initial_lr",
        "start_momentum": "base_momentum",
        "end_momentum": "max_momentum",
    }
    assert not once["use_beta1"] and "scale_fn" not in once
    assert state(kinds.CyclicLR, 0.1, 0.3)["_scale_fn_custom"] is None
    assert state(SWALR, 0.05)["_anneal_strategy"] == "cos"  # not an op
    with pytest.raises(lt.ValueError, match="a positive integer"):
        state(kinds.CosineAnnealingWarmRestarts, 1.5)
