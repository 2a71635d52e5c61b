"""Loops whose rounds differ only in where things lie: eager's bits, whatever is carried how."""

import numpy as np
import pytest

import lathe as lt


def same(f, *inputs, gradient=True):
    """f, traced and scripted, has eager's bits on these inputs and on fewer rows; its gradients."""
    for captured in (lt.trace(f), lt.script(f)):
        for n in (23, 40, 9):
            given = [x[:n] if x.dim() == 2 else x for x in inputs]
            wanted, got = f(*given), captured(*given)
            wanted, got = (r if isinstance(r, tuple) else (r,) for r in (wanted, got))
            assert [t.numpy().tobytes() for t in wanted] == [t.numpy().tobytes() for t in got]
            if not gradient:
                continue
            leaves, others = (
                [x.detach().clone().requires_grad_() for x in given] for _ in range(2)
            )
            for call, on in ((f, leaves), (captured, others)):
                out = call(*on)
                out = out if isinstance(out, tuple) else (out,)
                sum((t * t).sum() for t in out).backward()
            for a, b in zip(leaves, others):
                np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=2e-5, atol=1e-6)


def rows(seed, *shape):
    return lt.tensor(np.float32(np.random.default_rng(seed).standard_normal(shape)))


def recurrence(x, w):
    def step(h, row):
        h = lt.tanh(h * w + row)
        return h, h

    return lt.scan(step, lt.zeros([5]), x)[1]


def shift_register(x, w):
    """Each result is carried for four rounds."""

    def step(carry, row):
        a, b, c, d = carry
        new = 0.5 * d * w + row
        return (new, a, b, c), b + new

    zero = lt.zeros([5])
    (a, b, c, d), ys = lt.scan(step, (zero, zero, zero, zero), x)
    return a, b, c, d, ys


def swapped(x, w):
    """Two change places, one goes through, one comes from outside."""

    def step(carry, row):
        a, b, c, _ = carry
        return (b, a + row, c, w), a * c

    (a, b, c, d), ys = lt.scan(step, (w, w * 2, w * 3, w * 4), x)
    return a, b, c, d, ys


def products(x, w):
    """A contraction and a reduction in each round."""

    def step(h, row):
        h = lt.sigmoid(w.unsqueeze(1) * h + row)
        y = (h @ h.t()).sum(1)
        return h * 0.9, y - y.max()

    h, ys = lt.scan(step, lt.zeros([5, 5]), x)
    return h, ys


def backwards(x, w):
    last = x.shape[0] - 1
    return lt.fori_loop(0, x.shape[0], lambda i, h: h * w + x[last - i], lt.zeros([5]))


def by_twos(x, w):
    def body(i, h):
        return h * w + x[2 * i] * x[2 * i + 1]

    return lt.fori_loop(0, x.shape[0] // 2, body, lt.zeros([5]))


def counted(x, w):
    """The counter is a number of the kernels."""
    return lt.fori_loop(0, x.shape[0], lambda i, h: h * w + x[i] / (i + 1), lt.zeros([5]))


def written_rows(x, w):
    def body(i, carry):
        out, h = carry
        h = lt.tanh(h + x[i] * w)
        return lt.slice_scatter(out, h.unsqueeze(0), 0, i, i + 1), h

    return lt.fori_loop(0, x.shape[0], body, (lt.zeros(x.shape), lt.zeros([5])))


def written_columns(x, w):
    def body(i, out):
        return lt.slice_scatter(out, (x[i] * w).unsqueeze(1), 1, i, i + 1)

    return lt.fori_loop(0, x.shape[0], body, lt.zeros([5, x.shape[0]]))


def read_and_written(x, w):
    """Each row is read after the one before it was written."""

    def body(i, out):
        new = lt.tanh(out[i] * w + x[i])
        return lt.slice_scatter(out, new.unsqueeze(0), 0, i + 1, i + 2)

    return lt.fori_loop(0, x.shape[0], body, lt.ones([x.shape[0] + 1, 5]))


def rolled(x, w):
    return lt.scan(lambda h, row: (lt.roll(h, 1) * w + row, lt.roll(h, -2)), lt.zeros([5]), x)[1]


def rolled_views(x, w):
    """Of views that are elsewhere in each round."""
    return lt.scan(lambda h, row: (h * w + lt.roll(row[1:], 1).sum() + row[0], h), w * 0, x)[1]


def gathered(x, w):
    def step(carry, row):
        h, places = carry
        h = h.gather(0, places) * w + row.index_select(0, places)
        return (h, lt.roll(places, 1)), h

    return lt.scan(step, (lt.zeros([5]), lt.tensor([3, 1, 4, 0, 2])), x)[1]


def scattered(x, w):
    places = lt.tensor([3, 1, 1, 0, 2])
    return lt.scan(lambda h, row: (row.scatter_add(0, places, h * w), h), lt.zeros([5]), x)[1]


def in_order(x, w):
    """Two results, and one of another dtype."""

    def step(h, row):
        values, places = (h * w + row).sort()
        return values, lt.cumsum(values, 0) + places

    return lt.scan(step, lt.zeros([5]), x)[1]


CALLS = [rolled, rolled_views, gathered, in_order]
CASES = [recurrence, shift_register, swapped, products, backwards, by_twos, counted, *CALLS]
WRITES = [written_rows, written_columns, read_and_written]


@pytest.mark.parametrize("f", [*CASES, *WRITES, scattered], ids=lambda f: f.__name__)
def test_bits(f):
    same(f, rows(0, 40, 5), rows(1, 5), gradient=f not in WRITES)


def test_what_is_read_from_a_place_that_stops():
    def f(x, w):
        def body(i, h):
            return h * w + x[i : i + 4].sum(0)  # the last three are shorter

        return lt.fori_loop(0, x.shape[0] - 3, body, lt.zeros([5]))

    x, w = rows(2, 40, 5), rows(3, 5)
    assert lt.trace(f)(x, w).tolist() == f(x, w).tolist()


def test_nothing_of_one_call_is_in_the_next():
    traced = lt.trace(recurrence)
    x, w = rows(4, 40, 5), rows(5, 5)
    first = traced(x, w)
    kept = first.numpy().copy()
    second = traced(x * 2, w)
    assert (first.numpy() == kept).all() and not (second.numpy() == kept).all()


def test_inputs_are_not_written():
    def f(x, w):
        def body(i, carry):
            out, h = carry
            h = h * 0.5 + x[i]
            return lt.slice_scatter(out, h.unsqueeze(0), 0, i, i + 1), h

        return lt.fori_loop(0, x.shape[0], body, (x, w))

    x, w = rows(6, 30, 5), rows(7, 5)
    before = x.numpy().copy()
    wanted = [t.numpy().tobytes() for t in f(x, w)]
    assert [t.numpy().tobytes() for t in lt.trace(f)(x, w)] == wanted
    assert (x.numpy() == before).all()


def test_an_error_in_a_late_round_leaves_nothing_behind():
    def f(x, d):
        return lt.fori_loop(0, x.shape[0], lambda i, h: h + x[i] // d[i], x[0] * 0)

    x, d = lt.ones([40, 5], dtype=lt.int64) * 7, lt.ones([40, 5], dtype=lt.int64)
    traced = lt.trace(f)
    wanted = f(x, d).tolist()
    assert traced(x, d).tolist() == wanted
    bad = d.clone()
    bad[30, 2] = 0
    with pytest.raises(lt.ValueError, match="zero"):
        traced(x, bad)
    assert traced(x, d).tolist() == wanted


def test_a_place_out_of_range_in_a_late_round_is_an_error():
    def f(x, places):
        return lt.scan(lambda h, i: (h * 0.5 + x.index_select(0, i), h), x[:1] * 0, places)[1]

    x, places = rows(4, 7, 5), lt.tensor([[k % 7] for k in range(40)])
    traced = lt.trace(f)
    wanted = f(x, places).tolist()
    assert traced(x, places).tolist() == wanted
    bad = places.clone()
    bad[30] = 7
    with pytest.raises(lt.IndexError, match="7"):
        traced(x, bad)
    assert traced(x, places).tolist() == wanted


def alike(f, *inputs):
    """Of a trace's rounds, those that ran by addresses alone."""
    captured = lt.trace(f)
    with lt.no_grad():
        captured(*inputs)
    return captured.counts["alike_rounds"]


@pytest.mark.parametrize("f", CASES + WRITES, ids=lambda f: f.__name__)
def test_all_rounds_but_two_are_alike(f):
    rounds = 20 if f is by_twos else 40
    assert alike(f, rows(0, 40, 5), rows(1, 5)) == rounds - 2


def test_rounds_that_are_not_alike_run_one_by_one():
    def drawn(x, w):
        return lt.fori_loop(0, x.shape[0], lambda i, h: h * w + lt.bernoulli(x[i] * 0), w * 0)

    def thirds(x, w):
        return lt.fori_loop(0, x.shape[0], lambda i, h: h * w + x[i // 3], w * 0)

    for f in (drawn, thirds):
        x, w = rows(0, 40, 5), rows(1, 5)
        assert alike(f, x, w) == 0
        assert lt.trace(f)(x, w).tolist() == f(x, w).tolist()
