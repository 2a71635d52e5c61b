"""Loops whose first round makes something of another kind of what they begin with: it is recorded
apart, and a call in which the loop runs no round runs as eager code."""

import pytest
from script_checks import check, f32

import lathe as lt

CALLS = [(f32(*v),) for v in ((1, 2, 3), (0.3, 0.2, 0.1), (5, -2, 4), (-1, -2, -3), (9, 8, 16))]


def adds_numbers(x):
    total = 0
    while x.sum() > 1:
        x = x * 0.5
        total += x.sum().item()
    return total


def adds_tensors(x):
    loss = 0
    for i in range(int(x.abs().max())):
        loss = loss + (x * i).sum()
    return loss


def breaks(x):
    a = 0
    for _ in range(int(x.abs().max())):
        a = a + x
        if a.sum() > 6:
            break
    return a


def returns(x):
    a = 0
    while x.abs().sum() > 1:
        x = x * 0.5
        a = a + x
        if a.sum() > 6:
            return a * 2
    return a


def goes_on(x):
    total, n = 0, 0
    while n < x.abs().max():
        n += 1
        if n % 2 == 0:
            continue
        total += x[0]
    return total


def promotes(x):
    y = lt.zeros(3, dtype=lt.int64)
    while y.sum() < x.sum():
        y = y + 0.5 * (x > 0)
    return y


def gets_an_axis(x):
    y = x.sum()
    while y.sum() < 9:
        y = y + x.abs() + 1
    return y


def goes_through_a_list(x):
    found, total = [], 0
    while x.sum() > 1:
        x = x * 0.5
        found.append(x)
    for v in found:
        total = total + v
    return total


def in_a_function(x):
    def mean(y, n):
        total = 0
        while n > 0:
            total = total + y / n
            n = n - 1
        return total

    return mean(x, x.abs().max()) if x[0] > 0 else x


ALL = [adds_numbers, adds_tensors, breaks, returns, goes_on, promotes, gets_an_axis,
       goes_through_a_list, in_a_function]  # fmt: skip


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_a_first_round_of_another_kind(f):
    assert check(f, *CALLS).counts["traces"] == 1


def test_calls_without_a_round_are_counted():
    scripted = check(adds_numbers, *CALLS)
    assert scripted.explain().startswith("2 calls ran as they are")


def test_random_numbers_and_prints_of_the_first_round(capsys):
    def f(x):
        total = 0
        while lt.rand(()) < 0.8:
            total = total + x * lt.rand(3)
            print("round", total[0].item())
        return total

    scripted = lt.script(f)
    for seed in range(8):
        told = []
        for g in (scripted, f):
            lt.manual_seed(seed)
            result = g(f32(1, 2, 3))
            told.append((capsys.readouterr().out, str(result), lt.rand(2).tolist()))
        assert told[0] == told[1], seed


def neither(x):
    total, k = 0, 1
    while k < x.max():
        k = k * 1.5
        if k > 2:
            total = total + k
    return total


def test_kinds_that_data_decides_are_refused():
    with pytest.raises(lt.ScriptError, match="another kind of thing after each branch"):
        lt.script(neither)(f32(1, 2, 3))
