"""Writes of some elements of what a program has made itself happen where it lies; the elements are
eager's."""

import numpy as np
import pytest

import lathe as lt
from lathe.nn import functional as F


def same(f, *inputs):
    """Eager's bytes, of two calls in a row, so that nothing of the first is left in the second."""
    traced = lt.trace(f)
    for shift in (0, 1, 2):
        given = [x + shift for x in inputs]
        expected, got = f(*given), traced(*given)
        expected = expected if isinstance(expected, tuple) else (expected,)
        got = got if isinstance(got, tuple) else (got,)
        for e, g in zip(expected, got, strict=True):
            np.testing.assert_array_equal(g.numpy(), e.numpy())
    return traced


def padded(x):
    return F.pad(x * 2, (1, 2, 3, 4), value=-1.0) * 2


def pieces(x):
    return lt.cat([x * 2, x + 1, x - 1], 1) * x.sum()


def rows_by_index(x):
    y = x * 2
    y[lt.tensor([2, 0])] = x[:2] + 1
    return y.exp()


def read_before(x):
    """The old elements have a reader of their own."""
    y = x * 2
    before = y.sum(1)
    y[0] = x[1]
    return y * 2, before * 2


def read_after(x):
    """A view of the old elements is read behind the write."""
    y = x * 2
    old = y.detach().clone()[1:]
    y[1] = 7.0
    return y + 1, old + 1


def from_itself(x):
    y = x * 2
    y[1:3] = y[0:2].clone()
    return y + 1


def overlapping(x):
    """What is written is a view of what is written to."""
    y = x * 2
    y[1:3] = y[0:2]
    return y + 1


def result_too(x):
    """The old tensor is a result."""
    y = x * 2
    z = lt.slice_scatter(y, x[:1], 0, 0, 1)
    return y, z * 2


def chain(x):
    y = x * 2
    for i in range(4):
        y[i] = x[3 - i] + i
    return y.cumsum(0)


def result_itself(x):
    y = lt.zeros(6, 5)
    y[1:5] = x
    return y


def by_sizes(x):
    """Nothing of it depends on data."""
    mask = lt.zeros(4, 5)
    mask[1] = 1.0
    mask[:, 2] = 2.0
    return x * mask


OF_ANY_SIZE = [padded, pieces, read_before, read_after, from_itself, overlapping, result_too]
PROGRAMS = [*OF_ANY_SIZE, rows_by_index, chain, result_itself, by_sizes]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_elements_are_those_of_eager_code(f):
    same(f, lt.arange(20).reshape(4, 5).float())


@pytest.mark.parametrize("f", OF_ANY_SIZE, ids=lambda f: f.__name__)
def test_large_ones_too(f):
    same(f, lt.arange(40 * 2000).reshape(40, 2000).float() / 64)


def plan_of(f, *inputs):
    program = lt.jit.capture(f, inputs)
    return [line for line in program.instructions.splitlines() if "_put " in line]


def test_a_write_has_its_operands_place(flag):
    flag("rewrites_off", "read_in_pieces")  # by which nothing is written
    line = plan_of(padded, lt.ones(64, 64))[-1]
    assert " over b" in line and " at a" in line
    lines = plan_of(pieces, lt.ones(64, 64))[-3:]
    assert len(lines) == 3 and len({line.split(" at ")[1].split()[0] for line in lines}) == 1


def test_what_is_read_later_stays():
    x = lt.arange(20).reshape(4, 5).float()
    assert not any(" over b" in line for line in plan_of(result_too, x))


def test_the_largest_of_windows_is_not_picked_again():
    pool = lt.nn.MaxPool2d(3, 2, 1)
    frozen = lt.freeze(pool, lt.ones(1, 2, 9, 9))
    assert "gather" not in str(frozen.explain(verbose=True))
    x = lt.randn(2, 3, 9, 9, requires_grad=True)
    np.testing.assert_array_equal(frozen(x).detach().numpy(), pool(x).detach().numpy())
    frozen(x).sum().backward()
    got, x.grad = x.grad, None
    pool(x).sum().backward()
    np.testing.assert_array_equal(got.numpy(), x.grad.numpy())
