"""Chains of slices, joins, pads and views: right for every size, no more guards than one step."""

import pytest

import lathe as lt


def caches(x, n):
    return lt.cat([x, x[:1]])[-n:]


STEPS = {
    "tails": lambda x: x[1:],
    "windows": lambda x: x[1:-1],
    "clips": lambda x: x[:5],
    "middles": lambda x: x[2:6],
    "rolls": lambda x: lt.cat([x[1:], x[:1]]),
    "turned": lambda x: lt.cat([x[-2:], x[:-2]]),
    "caches": lambda x: caches(x, 4),
    "pads": lambda x: lt.nn.functional.pad(x, [1, 2])[2:],
    "views": lambda x: x.reshape([-1, 1]).reshape([-1]),
    "strides": lambda x: lt.cat([x[::2], x[1::2]]),
    "halves": lambda x: x[::2],
}
SIZES = (7, 0, 1, 2, 3, 4, 5, 6, 8, 11, 40)


def chain(step, n):
    def run(x):
        for _ in range(n):
            x = step(x)
        return x * 2

    return run


@pytest.mark.parametrize("name", STEPS)
def test_chains_are_right_for_every_size(name):
    eager = chain(STEPS[name], 4)
    traced = lt.trace(eager)
    for n in SIZES:
        x = lt.arange(n, dtype=lt.float32)
        assert traced(x).tolist() == eager(x).tolist(), n
    one = lt.trace(chain(STEPS[name], 1))
    for n in SIZES:
        one(lt.arange(n, dtype=lt.float32))
    assert traced.counts["traces"] <= one.counts["traces"] + 1


@pytest.mark.parametrize("first", STEPS)
def test_mixed_chains_are_right_for_every_size(first):
    for second in STEPS.values():
        eager = chain(lambda x, second=second: second(STEPS[first](x)), 2)
        traced = lt.trace(eager)
        for n in (7, 0, 1, 3, 12):
            x = lt.arange(n, dtype=lt.float32)
            assert traced(x).tolist() == eager(x).tolist(), n


def test_a_long_chain_has_a_short_size():
    traced = lt.trace(chain(lambda x: lt.cat([x[1:], x[:1]])[1:], 40))
    traced(lt.arange(100, dtype=lt.float32))
    assert "max(s0 - 40, 0)" in traced.graphs()[0]
    assert len(traced.graphs()[0]) < 200


def test_a_chain_that_divides_by_more_than_any_size():
    eager = chain(lambda x: lt.nn.functional.max_pool2d(x, 1, 2), 80)
    traced = lt.trace(eager)
    for n in (7, 1, 2, 40):
        x = lt.arange(n * n, dtype=lt.float32).reshape(1, 1, n, n)
        assert traced(x).tolist() == eager(x).tolist(), n


@pytest.mark.parametrize("n", (3, 5, 8, 23, 64, 130))
@pytest.mark.parametrize("size", (2, 3, 7))
def test_parts_of_a_slice_by_a_size(n, size):
    """How many parts there are says how long what is split is, in whatever form that is written."""

    def last(x):
        return x[len(x) // 2 :: 3].split(size)[-1] * 2

    x = lt.arange(n, dtype=lt.float32)
    assert lt.trace(last)(x).tolist() == last(x).tolist()


def rolled(x, y):
    v = lt.cat([x[1:], x[:1]])
    lt.cat(y.chunk(2, 0)) + x
    return v.softmax(1)


def rolled_beside(x, y):
    return lt.cat([x[1:], x[:1]]).softmax(1) * lt.cat(y.chunk(2, 0))


def rolled_alone(x, y):
    lt.cat(y.chunk(2, 0)) + x
    return lt.cat([x[1:], x[:1]]).sin()


@pytest.mark.parametrize("f", [rolled, rolled_beside, rolled_alone])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_derivative_has_the_facts_of_what_it_does_not_read(f, create_graph):
    """That x has a row follows from what is known of y, whose sizes the derivative has no place
    for."""

    def gradient(call):
        x = (lt.arange(12.0).reshape(3, 4) * 0.7).sin().requires_grad_()
        y = call(x, lt.ones(3, 4))
        first = lt.autograd.grad((y * y).sum(), x, create_graph=create_graph)[0]
        if not create_graph:
            return [first.tolist()]
        return [first.tolist(), lt.autograd.grad((first * first).sum(), x)[0].tolist()]

    assert gradient(lt.trace(f)) == gradient(f)
