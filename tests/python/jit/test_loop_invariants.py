"""Loop-invariant code motion: computed once, the bits and errors of eager code, gradients too."""

import pytest

import lathe as lt
from lathe import profiler


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B"))


def powers(x, w, n):
    """Rounds of x with a product that they all share."""

    def body(i, h):
        return i + 1, lt.tanh(h @ (w @ w.T)) * w.exp().sum()

    return lt.while_loop(lambda i, h: i < n, body, (n * 0, x))[1]


def scripted(x, w, n):
    i = n * 0
    while i < n:
        x = lt.tanh(x @ (w @ w.T)) * w.exp().sum()
        i = i + 1
    return x


def inputs(n):
    lt.manual_seed(3)
    return lt.randn(2, 5), lt.randn(5, 5) * 0.3, lt.tensor(n)


def products(call, *args):
    with profiler.profile() as p:
        call(*args)
    return sum(e.kind == "step" and e.name.split("+")[0] == "mm" for e in p.events())


@pytest.mark.parametrize("capture, f", [(lt.trace, powers), (lt.script, scripted)])
def test_a_product_that_rounds_share_is_computed_once(capture, f, flag):
    captured = capture(f)
    for n in (0, 1, 4):
        assert bits(captured(*inputs(n))) == bits(f(*inputs(n)))
    assert products(captured, *inputs(4)) == 1 + 4
    assert products(captured, *inputs(0)) == 1
    assert "move_invariants" in captured.explain()
    flag("rewrites_off", "move_invariants")
    assert products(capture(f), *inputs(4)) == 2 * 4


@pytest.mark.parametrize("n", [0, 1, 5])
def test_gradients_keep_their_bits(n):
    def gradients(f):
        x, w, count = inputs(n)
        x.requires_grad_(), w.requires_grad_()
        f(x, w, count).square().sum().backward()
        return [None if t.grad is None else bits(t.grad) for t in (x, w)]

    traced = lt.trace(powers)
    assert gradients(traced)[0] == gradients(powers)[0]
    if n > 0:  # else a program gives zeros where eager code gives none
        assert gradients(traced) == gradients(powers)


def test_what_fails_in_no_round_does_not_fail():
    def f(x, k, n):
        def body(i, h):
            return i + 1, h + x.index_select(0, k).sum()

        return lt.while_loop(lambda i, h: i < n, body, (n * 0, x))[1]

    traced, x, k = lt.trace(f), lt.randn(3), lt.tensor([7])
    traced(x, lt.tensor([1]), lt.tensor(2))
    assert bits(traced(x, k, lt.tensor(0))) == bits(x)
    with pytest.raises(lt.IndexError):
        traced(x, k, lt.tensor(1))


def test_what_is_handed_on_as_it_was_is_not_carried():
    def f(x, w, n):
        def body(i, h, w):
            return i + 1, h @ (w * 0.5), w

        return lt.while_loop(lambda i, h, w: i < n, body, (n * 0, x, w))

    traced = lt.trace(f)
    for n in (0, 3):
        for got, want in zip(traced(*inputs(n)), f(*inputs(n))):
            assert bits(got) == bits(want)
    assert "while (" in traced.optimised
    (carried,) = [line for line in traced.optimised.splitlines() if " = while (" in line]
    assert carried.split(" = while (")[0].count(":") == 2


def test_what_nothing_needs_of_a_loop_is_not_computed():
    def f(x, w):
        def step(h, row):
            h = lt.tanh(h @ w + row)
            return h, h.exp() @ w

        return lt.scan(step, lt.zeros([4, 5]), x)[0]

    traced = lt.trace(f)
    for n in (1, 7):
        x, w = lt.randn(n, 4, 5), lt.randn(5, 5)
        assert bits(traced(x, w)) == bits(f(x, w))
    assert products(traced, x, w) == 7


def test_each_round_draws_its_own_numbers():
    def f(x, n):
        return lt.while_loop(lambda i, h: i < n, lambda i, h: (i + 1, h + lt.rand(4)), (n * 0, x))[
            1
        ]

    traced = lt.trace(f)
    for n in (1, 3, 3):
        lt.manual_seed(n)
        want = f(lt.ones(4), lt.tensor(n))
        lt.manual_seed(n)
        assert bits(traced(lt.ones(4), lt.tensor(n))) == bits(want)
