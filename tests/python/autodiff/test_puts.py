"""The gradients of what is put together from parts, as stack() and cat() do it."""

import numpy as np
import pytest

import lathe as lt


def parts(n, seed=0):
    rng = np.random.default_rng(seed)
    return [lt.tensor(rng.standard_normal((3, 5)), requires_grad=True) for _ in range(n)]


def moved(join, n):
    """Bytes that the gradient of n parts reads and writes."""
    xs = parts(n)
    y = join(xs)
    cotangent = lt.ones(y.shape, dtype=y.dtype)
    with lt.profiler.profile() as p:
        lt.autograd.grad(y, xs, cotangent)
    return sum(e.bytes_read + e.bytes_written for e in p.events() if e.kind == "op")


@pytest.mark.parametrize("join", [lt.stack, lt.cat])
def test_a_part_costs_what_it_holds(join):
    assert moved(join, 256) < 6 * moved(join, 64)  # four times as much, not sixteen times


@pytest.mark.parametrize("join", [lt.stack, lt.cat, lambda xs: lt.stack([xs[0], *xs, xs[0]], 1)])
def test_parts_get_theirs_in_both_orders(join):
    """With create_graph the parts are made by ops that are differentiable again."""
    xs = parts(7)
    y = join(xs)
    cotangent = lt.tensor(np.random.default_rng(1).standard_normal(y.shape))
    plain = lt.autograd.grad(y, xs, cotangent, retain_graph=True)
    again = lt.autograd.grad(y, xs, cotangent, create_graph=True)
    assert [g.numpy().tobytes() for g in plain] == [g.numpy().tobytes() for g in again]


def test_what_others_hold_is_not_written():
    xs = parts(3)
    y = lt.stack(xs)
    y.retain_grad()
    seen = []
    y.register_hook(seen.append)
    cotangent = lt.full(y.shape, 2.0, dtype=y.dtype)
    y.backward(cotangent)
    assert (cotangent == 2).all() and (y.grad == 2).all() and (seen[0] == 2).all()
    assert all((x.grad == 2).all() for x in xs)


def test_a_write_over_a_write():
    a, b, c = parts(3)
    y = lt.zeros(4, 5, dtype=a.dtype) + a[:1]
    y[1:] = b
    y[2:] = c[:2] * y[:2].clone()
    (y * y).sum().backward()
    kept = [t.grad.numpy().copy() for t in (a, b, c)]

    def function(a, b, c):
        y = lt.zeros(4, 5, dtype=a.dtype) + a[:1]
        y[1:] = b
        y[2:] = c[:2] * y[:2].clone()
        return (y * y).sum()

    inputs = [t.detach().requires_grad_() for t in (a, b, c)]
    again = lt.autograd.grad(lt.trace(function)(*inputs), inputs)
    assert [g.tobytes() for g in kept] == [g.numpy().tobytes() for g in again]
    assert lt.autograd.gradcheck(function, inputs)
