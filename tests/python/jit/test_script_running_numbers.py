"""Numbers that a script reads from outside and that meet numbers which data decides: running sums
and counts, in one program for all their values."""

import pytest

import lathe as lt


class Meter:
    def __init__(self):
        self.total, self.count, self.best, self.rate = 0.5, 3, -1e30, 0.9


def sums(m, x):
    m.total += x.sum().item()
    m.count += (x > 0).sum().item()
    return x * 2


def averages(m, x):
    m.total = m.rate * m.total + (1 - m.rate) * x.mean().item()
    m.count = m.count * 2 - int(x.argmax().item())
    return x * m.total


def extremes(m, x):
    now = x.amax().item()
    if now > m.best:
        m.best = now
        m.count = m.count + 1
    if m.count >= x.argmin().item():
        m.total -= now
    return x + 1


def quotients(m, x):
    m.total = x.sum().item() / m.count + m.total
    m.count += 1
    return x


@pytest.mark.parametrize("f", [sums, averages, extremes, quotients], ids=lambda f: f.__name__)
def test_values_are_pythons(f):
    ours, theirs = Meter(), Meter()

    @lt.script
    def step(x):
        return f(ours, x)

    for k in range(9):
        x = lt.randn(5).double() * (k + 1)
        assert step(x).tolist() == f(theirs, x).tolist()
        assert vars(ours) == vars(theirs), k
        assert all(type(a) is type(b) for a, b in zip(vars(ours).values(), vars(theirs).values()))
    if f in (sums, averages):  # a divisor is guarded, and what a branch that data decides leaves
        assert step.counts["traces"] <= 4, step.reasons()


def test_numbers_that_are_none():
    m = Meter()

    @lt.script
    def step(x):
        m.total += x.sum().item()
        return m.total > x.amax().item()

    for value in (1.0, 2.0, 3.0, float("inf"), 5.0):
        step(lt.tensor([value]))
    assert m.total == float("inf")
    step(lt.tensor([-float("inf")]))
    assert m.total != m.total
    assert step.counts["traces"] <= 4
