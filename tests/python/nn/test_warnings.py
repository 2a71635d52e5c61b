"""Warnings of what is allowed and seldom meant, where PyTorch warns, with the caller's line."""

import warnings

import pytest

import lathe as lt
from lathe import nn, optim
from lathe.optim import lr_scheduler

COLUMN, ROW = lt.ones(3, 1), lt.zeros(3)
KINDS = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("capture", [lambda f: f, lt.trace, lt.script])
def test_sizes_that_differ(kind, capture):
    loss = kind()
    called = capture(lambda x, y: loss(x, y))
    want = f"{kind.__name__}: the target's size .* is not the input's .*: they broadcast"
    for _ in range(2):
        with pytest.warns(UserWarning, match=want) as caught:
            called(COLUMN, ROW)
        assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        called(COLUMN, COLUMN)


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_dropout_between_layers_of_which_there_is_one(kind):
    with pytest.warns(UserWarning, match=f"{kind.__name__}: dropout=0.5 drops nothing") as caught:
        kind(2, 3, dropout=0.5)
    assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(2, 3, dropout=0.5, num_layers=2), kind(2, 3)


def test_the_mean_of_a_divergence():
    with pytest.warns(UserWarning, match="KLDivLoss: reduction='mean' divides by") as caught:
        nn.KLDivLoss()
    assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.KLDivLoss(reduction="batchmean")


def schedule_and_step(capture):
    p = nn.Parameter(lt.ones(2))
    optimizer = optim.SGD([p], 0.1)

    def step():
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()

    return lr_scheduler.StepLR(optimizer, 1), capture(step)


@pytest.mark.parametrize("capture", [lambda f: f, lt.trace])
def test_a_schedule_before_the_first_step(capture):
    schedule, step = schedule_and_step(capture)
    with pytest.warns(UserWarning, match="before the optimizer's: the first rate") as caught:
        schedule.step()
    assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(), schedule.step()
        schedule, step = schedule_and_step(capture)
        for _ in range(3):
            step(), schedule.step()


def test_steps_without_gradients_are_steps():
    schedule, _ = schedule_and_step(lambda f: f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.optimizer.step()
        schedule.step()
