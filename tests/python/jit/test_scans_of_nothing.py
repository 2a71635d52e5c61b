"""Scans of no rounds: the same in eager and in a capture, known beforehand or not, and inside each
other."""

import pytest

import lathe as lt

X, A = lt.ones(4, 3), lt.ones(3)


def no_rows(x, a):
    return lt.scan(lambda c, r: (c + r, r * 2), a, x[:0])


def no_length(x, a):
    return lt.scan(lambda c, _: (c * 2, (c, c.sum() > 0)), a, None, length=0)


def reversed_rows(x, a):
    return lt.scan(lambda c, r: (c + r, r), a, x[4:4], reverse=True)


def inside(x, a):
    def outer(c, r):
        return c, lt.scan(lambda p, q: (p + q, p), r, x[1:])[1]

    return lt.scan(outer, a, x[1:])


def inside_of_rounds(x, a):
    return lt.scan(lambda c, r: (c + r, lt.scan(lambda p, q: (p + q, p), c, x[:0])[1]), a, x)


def writes(x, a):
    total = a.clone()

    def body(c, r):
        total.add_(r)
        return c + total, r

    return lt.scan(body, a, x[:0]), total * 2


def leaves(value):
    if isinstance(value, lt.Tensor):
        return [(value.shape, value.dtype, value.tolist())]
    return [leaf for part in value for leaf in leaves(part)]


@pytest.mark.parametrize("call", [lambda f: f, lt.trace, lt.script])
@pytest.mark.parametrize("f", [no_rows, no_length, reversed_rows, inside_of_rounds, writes])
def test_a_scan_that_has_no_round_by_what_is_known(f, call):
    made = leaves(call(f)(X, A))
    assert made == leaves(f(X, A))
    assert [leaf[0][0] for leaf in made][-1:] in ([0], [3], [4])
    assert call(no_rows)(X, A)[1].shape == (0, 3)


@pytest.mark.parametrize("call", [lambda f: f, lt.trace, lt.script])
def test_a_scan_inside_of_one_that_has_no_round(call):
    last, stacked = call(inside)(X[:1], A)
    assert last.tolist() == [1, 1, 1] and stacked.shape == (0, 0, 3)
    last, stacked = call(inside)(X, A)
    assert last.tolist() == [1, 1, 1] and stacked.shape == (3, 3, 3)


@pytest.mark.parametrize("call", [lambda f: f, lt.trace])
def test_its_gradient_is_that_of_what_it_began_with(call):
    x, a = lt.ones(4, 3, requires_grad=True), lt.ones(3, requires_grad=True)
    last, stacked = call(no_rows)(x, a)
    gradients = lt.autograd.grad((last * 3).sum(), [x, a], allow_unused=True)
    assert gradients[0] is None or gradients[0].abs().sum() == 0
    assert gradients[1].tolist() == [3, 3, 3]


def test_what_its_round_gives_is_checked_all_the_same():
    with pytest.raises(lt.ValueError, match="do not have the structure"):
        lt.trace(lambda x, a: lt.scan(lambda c, r: ((c, c), r), a, x[:0]))(X, A)
