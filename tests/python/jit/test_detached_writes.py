"""Writes to what is detached, in a trace whose gradient is taken outside of it: the history is that
of the name that was written to, as in eager code."""

import pytest

import lathe as lt


def data():
    return lt.arange(12, dtype=lt.float64).reshape(3, 4) / 5


def one(a):
    k = data()
    q = k.detach()
    q.addcmul_(a, a, value=0.5)
    return q.sum() + (k * 5).sum()


def with_history(a):
    k = a * 2
    q = k.detach()
    q.mul_(a)
    return q.sum() + (k * 5).sum()


def by_both_names(a):
    k = a * 2
    q = k.detach()
    q.mul_(a)
    k.mul_(a)
    return (q * 2).sum() + (k * 5).sum()


def several(a):
    k = data()
    q, r = k.detach(), k.data
    q.mul_(a)
    r.add_(a)
    q[0].mul_(3.0)
    return (q * 2).sum() + (r * 5).sum() + (k * 7).sum()


def of_a_part(a):
    k = data()
    q = k[0].detach()
    q.mul_(a[0])
    k.add_(1)
    return (q * 2).sum() + (k * 5).sum()


def without_gradients(a):
    k = a * 2
    q = k.detach()
    q.mul_(a)
    with lt.no_grad():
        q.add_(1)
    return (q * q).sum() + (k * k).sum()


def by_numbers(a):
    k = a * 2
    q = k.detach()
    q.mul_(a)
    q.fill_(3)
    v = q.t()
    v.mul_(a.t())
    return (q * 2).sum() + (k * 5).sum() + v.sum()


@pytest.mark.parametrize("how", [lt.trace, lt.script])
@pytest.mark.parametrize("f", [
    one, with_history, by_both_names, several, of_a_part, without_gradients, by_numbers,
])  # fmt: skip
def test_gradients(f, how):
    x = (data() + 1).requires_grad_()
    f(x).backward()
    y = (data() + 1).requires_grad_()
    result = how(f)(y)
    assert lt.equal(result, f(x))
    result.backward()
    assert lt.equal(y.grad, x.grad)

    def inside(a):
        return lt.autograd.grad(f(a), a)[0]

    assert lt.equal(how(inside)((data() + 1).requires_grad_()), x.grad)
