"""Gradients of slices whose whole has a size that a trace knows by a guard: added to the slice
alone, as eager code does, with eager's bits."""

import pytest

import lathe as lt


def by_rows(x):
    rows = x.unbind(0)
    return sum((r * r).sin().sum() * (k + 1) for k, r in enumerate(rows))


def by_parts(x):
    a, b, c, d = (x * 2).chunk(4, 1)
    return (a.tanh() * b.sigmoid() + c.exp() * d).sum() + (a * -0.0).sum()


def by_index(x):
    h = x[0] * 0
    for k in range(x.shape[0]):
        h = (h + x[k] * x[-k]).tanh()
    return h.sum()


def by_ends(x):
    return (x[1:] * x[:-1]).sum() + (x[:2].exp() * x[-2:]).sum()


@pytest.mark.parametrize("f", [by_rows, by_parts, by_index, by_ends], ids=lambda f: f.__name__)
def test_bits_are_eagers(f):
    def gradient(x):
        x = x.detach().requires_grad_()
        f(x * 1).backward()
        return x.grad

    traced = lt.trace(gradient)
    for shape in ((5, 8), (5, 8), (3, 8), (6, 12)):
        x = lt.randn(*shape) * (lt.rand(*shape) > 0.3)  # with zeros of both signs
        assert traced(x).numpy().tobytes() == gradient(x).numpy().tobytes(), shape


def test_no_row_costs_a_whole():
    @lt.trace
    def gradient(x, w):
        x = x.detach().requires_grad_()
        by_rows(x @ w).backward()
        return x.grad

    gradient(lt.randn(9, 4, 3), lt.randn(3, 3))
    lines = gradient.optimised.splitlines()
    zeros = [line.split(":")[0].strip() for line in lines if "= full(" in line]
    puts = [line for line in lines if "= slice_put(" in line]
    assert len(puts) == 9
    assert sum(any(f"slice_put({z}," in line for z in zeros) for line in puts) == 1
