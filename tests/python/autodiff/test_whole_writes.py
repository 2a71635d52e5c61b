"""What is written over as a whole stays in the history, with a gradient of zeros."""

import pytest

import lathe as lt

WRITES = [
    lambda y: y.zero_(),
    lambda y: y.fill_(3),
    lambda y: y.copy_(lt.ones(3)),
    lambda y: y.__setitem__(slice(None), 0),
    lambda y: y.__setitem__(..., lt.ones(3)),
    lambda y: y.normal_(),
]


def eager(f):
    return f


@pytest.mark.parametrize("how", [eager, lt.trace, lt.script])
@pytest.mark.parametrize("write", range(len(WRITES)))
def test_a_result(write, how):
    def f(x):
        y = x * 2
        WRITES[write](y)
        return y

    x = lt.tensor([1.0, 2, 3], requires_grad=True)
    y = how(f)(x)
    assert y.requires_grad
    (y * y).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("how", [eager, lt.trace, lt.script])
def test_an_argument(how):
    x = lt.ones(3, requires_grad=True)
    a = x * 2
    how(lambda t: t.zero_())(a)
    a.sum().backward()
    assert a.requires_grad and x.grad.tolist() == [0, 0, 0]


def test_gradients_inside_of_a_trace():
    @lt.trace
    def f(x):
        y = x * 2
        z = y + x
        y.zero_()
        (y + z).sum().backward()

    x = lt.ones(3, requires_grad=True)
    f(x)
    assert x.grad.tolist() == [3, 3, 3]


def test_without_gradients_or_history():
    x = lt.ones(3, requires_grad=True)
    y = x * 2
    with lt.no_grad():
        y.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    z = lt.ones(3)
    assert not z.zero_().requires_grad
    y.detach().zero_()
    assert not x.grad.zero_().requires_grad
