"""What rounds of a loop keep for its derivative: eager's bits, and no round is run again for it."""

import numpy as np
import pytest

import lathe as lt
from lathe.nn import functional as F


def draw(seed, *shape):
    return lt.tensor(np.float32(np.random.default_rng(seed).standard_normal(shape)))


def products(x, w):
    """A product, a reduction and elementwise steps, of which only the first two are kept."""

    def step(h, row):
        z = row @ w + h * 0.5
        h = lt.tanh(z / (1 + z.square().sum()))
        return h, lt.sigmoid(h) * z

    h, ys = lt.scan(step, w[0] * 0.1, x)
    return ys.sum(0) * h


def sizes_of_the_round(x, w):
    """What a round computes has no size of its own before the loop: it is computed again."""
    n = x.shape[0]
    return lt.fori_loop(0, n, lambda i, h: h + (x[: i + 1].exp() * h).sum(0), w[0] * 0.01)


def by_threes(x, w):
    n = x.shape[0]
    return lt.fori_loop(0, n // 3, lambda i, h: lt.tanh(h * x[3 * i] + w[0]).exp() * 0.3, w[0])


def nested(x, w):
    def outer(h, row):
        inner = lt.fori_loop(0, x.shape[0], lambda i, g: lt.sin(g * row + x[i]), h)
        return inner * h, inner.sum()

    h, ys = lt.scan(outer, w[0], x)
    return h * ys.sum()


def branches(x, w):
    def step(h, row):
        z = row @ w
        return lt.cond(z.sum() > 0, lambda: lt.tanh(h * z), lambda: h * 0.5 + z), z

    h, ys = lt.scan(step, w[0], x)
    return h + ys.exp().sum(0)


def starts_where_it_reads(x, w):
    """The first round is differentiated apart."""
    row = w[0]
    return lt.fori_loop(0, x.shape[0], lambda i, h: lt.tanh(h * row) @ w + x[i], row)


FUNCTIONS = [products, sizes_of_the_round, by_threes, nested, branches, starts_where_it_reads]


def gradients(f, given, **how):
    leaves = [t.detach().clone().requires_grad_() for t in given]
    return leaves, lt.autograd.grad(f(*leaves).square().sum(), leaves, **how)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_bits(f):
    t = lt.trace(f)
    for n in (7, 20, 4, 150 if f is not nested else 9):
        given = draw(n, n, 4), draw(1, 4, 4)
        for want, got in zip(gradients(f, given)[1], gradients(t, given)[1]):
            assert want.numpy().tobytes() == got.numpy().tobytes()


@pytest.mark.parametrize(
    "f", [f for f in FUNCTIONS if f is not sizes_of_the_round], ids=lambda f: f.__name__
)
def test_second_order(f):
    """A derivative of the derivative reads what the forward pass has kept, and nothing else. In
    float64: of second order a program agrees with eager to rounding (docs/control_flow.md)."""
    given = [t.double() for t in (draw(2, 5, 4), draw(3, 4, 4))]
    found = []
    for call in (f, lt.trace(f)):
        leaves, firsts = gradients(call, given, create_graph=True)
        sum((g * g).sum() for g in firsts).backward()
        found.append([t.grad.numpy() for t in leaves])
    for want, got in zip(*found):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_of_some_results_after_others():
    """What one result's derivative reads of the rounds is there for that of any."""

    def f(x, w):
        h, ys = lt.scan(lambda h, row: ((z := lt.tanh(h @ w)) * row, z.exp()), w[0], x)
        return h, ys

    t = lt.trace(f)
    given = draw(4, 6, 4), draw(5, 4, 4)
    for which in ((0,), (1,), (0, 1), (1, 0)):
        found = []
        for call in (f, t):
            leaves = [v.detach().clone().requires_grad_() for v in given]
            results = call(*leaves)
            for k in which:
                results[k].square().sum().backward(retain_graph=True)
            found.append([v.grad.numpy().tobytes() for v in leaves])
        assert found[0] == found[1]


def derivative_of(t):
    return t.explain(verbose=True).split("_backward\n")[1]


def test_no_round_is_run_again():
    t = lt.trace(products)
    gradients(t, (draw(6, 12, 4), draw(7, 4, 4)))
    assert derivative_of(t).count(". for ") == 1


def drops(x, w):
    def step(h, row):
        h = F.dropout(lt.tanh(row + h @ w), 0.4)
        return h, h * lt.rand_like(h)

    h, ys = lt.scan(step, w[0] * 0.1, x)
    return h + ys.sum(0)


def test_random_numbers_are_drawn_once():
    t = lt.trace(drops)
    for n in (9, 30):
        given, found = (draw(n, n, 4), draw(1, 4, 4)), []
        for call in (drops, t):
            lt.manual_seed(5)
            found.append([g.numpy().tobytes() for g in gradients(call, given)[1]])
            found[-1].append(lt.rand(3).tolist())
        assert found[0] == found[1]
    assert t.counts["node_by_node"] == 0


def test_random_numbers_that_would_be_drawn_again():
    """By a branch of a round, and by a first round that is differentiated apart."""

    def in_a_branch(x, w):
        def step(h, row):
            return lt.cond(row.sum() > 0, lambda: h * lt.rand_like(h), lambda: h) + row, None

        return lt.scan(step, w[0] * 0.1, x)[0]

    def apart(x, w):
        row = w[0]
        return lt.fori_loop(0, x.shape[0], lambda i, h: h * row * lt.rand_like(h) + x[i], row)

    for f in (in_a_branch, apart):
        t, given, found = lt.trace(f), (draw(8, 8, 4), draw(1, 4, 4)), []
        for call in (f, t):
            lt.manual_seed(5)
            found.append([g.numpy().tobytes() for g in gradients(call, given)[1]])
        assert found[0] == found[1] and t.counts["node_by_node"] > 0


def test_rounds_that_would_keep_too_much_run_again():
    """By the sizes at the first call; those of later calls change nothing."""

    def f(x, w):
        return lt.scan(lambda h, row: (lt.tanh(h * w + row), None), w, x)[0]

    t = lt.trace(f)
    many = [lt.zeros([600, 1]).requires_grad_(), lt.zeros([1 << 19]).requires_grad_()]
    t(*many)
    given = draw(8, 300, 1), draw(9, 5)
    for want, got in zip(gradients(f, given)[1], gradients(t, given)[1]):
        assert want.numpy().tobytes() == got.numpy().tobytes()
    assert t.counts["traces"] == 1
    assert derivative_of(t).count(". for ") > 1
