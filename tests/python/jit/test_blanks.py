"""Fills that nobody would see are not run: eager's bits, whatever memory held before."""

import re

import pytest

import lathe as lt


@pytest.fixture(autouse=True)
def made(flag):
    """What is made of parts is made, and not read in pieces by who reads it."""
    flag("rewrites_off", "read_in_pieces")


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B"))


def litter():
    """Freed memory of all sizes, full of NaN."""
    return [
        lt.full((n,), float("nan")) for n in (1 << k for k in range(17)) for _ in range(4)
    ] and 0


def same(f, *shapes, blanks):
    traced = lt.trace(f)
    for shape in (shapes[0], *shapes):
        inputs = [lt.randn(*s) for s in shape]
        want = f(*inputs)
        litter()
        got = traced(*inputs)
        litter()
        again = traced(*inputs)
        for a, b, c in zip(*(r if isinstance(r, tuple) else (r,) for r in (want, got, again))):
            assert bits(a) == bits(b) == bits(c)
    assert traced.counts["traces"] == 1
    listed = [line for line in traced.explain().splitlines() if "    own.blank" in line]
    assert len(listed) == blanks
    return traced


def test_what_is_joined():
    shapes = [[(3, 4), (3, 5)], [(2, 7), (2, 2)], [(60, 40), (60, 3)]]
    same(lambda x, y: lt.cat([x.sin(), y, x * 2], 1).exp(), *shapes, blanks=1)
    same(lambda x, y: lt.cat([x.sin(), y], 1), *shapes, blanks=1)  # a result
    same(lambda x: lt.stack([x.sin(), x.cos()], -1).flatten(), [(5, 4)], [(2, 70)], blanks=1)


def test_what_a_part_is_missing_of_is_filled():
    def f(x):
        y = lt.zeros(8, x.shape[0])
        y[1:5] = x.sin().expand(4, -1)
        y[5:] = 2
        return y * 2

    same(f, [(3,)], [(7,)], blanks=0)


def test_parts_in_any_order_and_over_each_other():
    def f(x):
        y = lt.zeros(6, x.shape[0])
        y[4:] = x
        y[2:5] = x + 1
        y[:2] = x + 2
        y[2:4] = x + 3
        return y * 2

    same(f, [(3,)], [(7,)], blanks=0)  # no parts that follow each other make up all of it

    def g(x):
        y = lt.zeros(6, x.shape[0])
        y[4:] = x
        y[:2] = x + 2
        y[2:4] = x + 3
        return y * 2

    same(g, [(3,)], [(7,)], blanks=1)


def test_what_is_read_in_between_is_filled():
    def f(x):
        y = lt.zeros(4, x.shape[0])
        y[:2] = x
        z = y.sum()
        y[2:] = x
        return y * z

    same(f, [(3,)], [(7,)], blanks=0)


def test_gradients_of_parts_that_make_up_all():
    w = lt.randn(8, 24)

    def f(x):
        x = x.detach().requires_grad_()
        q, k, v = (x @ w).chunk(3, -1)
        (q.sin() * k.cos() * v.exp()).sum().backward()
        return x.grad

    traced = same(f, [(4, 8)], [(9, 8)], blanks=1)
    steps = re.findall(r"^  [\d-]+\. (\S+)(?: more)? -> ", traced.explain(), re.MULTILINE)
    assert steps == ["mm", "full", "sin+cos+mul+exp+mul+10", *["slice_put"] * 3, "mm"]


@pytest.mark.parametrize("n", [1, 6, 40])
def test_in_rounds(n):
    def f(x, w):
        def step(h, row):
            a, b = (h @ w + row).chunk(2, -1)
            h = lt.cat([a.tanh() * b.sigmoid(), b.tanh()], -1)
            return h, h

        return lt.scan(step, lt.zeros(2, 8), x)[1]

    x, w = lt.randn(n, 2, 8), lt.randn(8, 8)
    traced = lt.trace(f)
    want = f(x, w)
    for _ in range(2):
        litter()
        assert bits(traced(x, w)) == bits(want)
    assert "own.blank" in traced.explain()

    def gradients(call):
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        call(a, b).square().sum().backward()
        return bits(a.grad), bits(b.grad)

    assert gradients(traced) == gradients(f)
