"""Gradients of what rounds read row by row: eager's bits, of which zeros are signed, and one row a
round."""

import numpy as np
import pytest

import lathe as lt


def read(x, w):
    return lt.fori_loop(0, x.shape[0], lambda i, c: c + x[i] * w[i], w[0])


def backwards(x, w):
    n = x.shape[0]
    return lt.fori_loop(0, n, lambda i, c: c + x[n - 1 - i] * w[i], w[0])


def every_second(x, w):
    return lt.fori_loop(0, x.shape[0] // 2, lambda i, c: c + x[2 * i] * w[i], w[0])


def two_rows(x, w):
    return lt.fori_loop(0, x.shape[0] - 1, lambda i, c: c + x[i] * w[i] + x[i + 1] * w[0], w[0])


def one_row_twice(x, w):
    return lt.fori_loop(0, x.shape[0], lambda i, c: c + x[i] * w[i] + x[i] * w[0], w[0])


def same_row(x, w):
    return lt.fori_loop(0, x.shape[0], lambda i, c: c + x[0] * w[i], w[0])


def windows(x, w):
    def f(i, c):
        return c + (x.narrow(0, i, 2) * w[0]).sum(0)

    return lt.fori_loop(0, x.shape[0] - 1, f, w[0])


def columns(x, w):
    return lt.fori_loop(0, x.shape[1], lambda i, c: c + x[:, i] * w[:, i], w[:, 0])


def elements(x, w):
    return lt.fori_loop(0, x.shape[0], lambda i, c: c + x[i, 1] * w[i], w[0])


def read_whole_too(x, w):
    return lt.fori_loop(0, x.shape[0], lambda i, c: c + x[i] * w[i] + (x * w).sum(0), w[0])


def read_around(x, w):
    before = x * w
    c = lt.fori_loop(0, x.shape[0], lambda i, c: c + x[i] * w[i], w[0])
    return c + before.sum(0) + x[0] * w[0] + (x * w).sum(0)


def starts_there(x, w):
    return lt.fori_loop(0, x.shape[0], lambda i, c: c * w[0] + x[i] * w[i], x[0])


def starts_as_a_whole(x, w):
    return lt.fori_loop(0, x.shape[0], lambda i, c: c * w + x[i] * w[i], x)


def nested(x, w):
    def rows(i, c):
        inner = lt.fori_loop(0, x.shape[0], lambda j, d: d + x[j] * w[i], c * w[i])
        return inner + x[i] * w[0]

    return lt.fori_loop(0, x.shape[0], rows, w[0])


def nested_in_both(x, w):
    def rows(i, c):
        c = c + x[i] * w[0]
        return lt.fori_loop(0, i + 1, lambda j, d: d + x[i] * w[j] + x[j] * w[i], c)

    return lt.fori_loop(0, x.shape[0], rows, w[0])


def of_a_round(x, w):
    def rows(i, c):
        y = x * w[i]
        return c + lt.fori_loop(0, y.shape[0], lambda j, d: d + y[j] * w[j], w[0])

    return lt.fori_loop(0, x.shape[0], rows, w[0])


def in_a_branch(x, w):
    def f(i, c):
        return lt.cond(w[i].sum() > 0, lambda c: c + x[i] * w[0], lambda c: c + x[i] * w[i], (c,))

    return lt.fori_loop(0, x.shape[0], f, w[0])


def beside_a_branch(x, w):
    def f(i, c):
        c = lt.cond(w[i].sum() > 0, lambda c: c + x[0] * w[0], lambda c: c, (c,))
        return c + x[i] * w[i]

    return lt.fori_loop(0, x.shape[0], f, w[0])


def written(x, w):
    """What is written is read back by the gradient, a row a round."""
    out = w * 2

    def f(i, c):
        out[i] = c * w[i] + x[i]
        return c + x[i] * w[0]

    return lt.fori_loop(0, x.shape[0], f, w[0]) + out.sum(0)


ALL = [
    read, backwards, every_second, two_rows, one_row_twice, same_row, windows, columns, elements,
    read_whole_too, read_around, starts_there, starts_as_a_whole, nested, nested_in_both,
    of_a_round, in_a_branch, beside_a_branch, written,
]  # fmt: skip
SHORTER = every_second, two_rows, windows  # run no round for one row


def gradient(f, x, w, dy):
    x = x.detach().clone().requires_grad_()
    y = f(x, w)
    (dx,) = lt.autograd.grad((y * dy).sum(), [x])
    return y.detach().numpy().tobytes(), dx.numpy().tobytes()


@pytest.mark.parametrize("engine", ["simd", "llvm"])
@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_zeros_keep_their_signs(f, engine, flag):
    flag("engine", engine)
    random = np.random.default_rng(7)
    draws = [[-0.0], [0.0], [-0.0, 0.0], [-0.0, 0.0, 0.5, -1.0]]
    cases = [(n, values) for n in (1, 2, 3) for values in draws] + [(20, draws[2]), (130, draws[3])]
    for capture in (lt.trace, lt.script):
        g = capture(f)
        for n, values in cases[len(draws) if f in SHORTER else 0 :]:
            x = lt.randn(n, 3)
            w = lt.tensor(random.choice(values, (n, 3)).astype(np.float32))
            dy = lt.tensor(random.choice([-1.0, 1.0, *values], (1,)).astype(np.float32))
            assert gradient(g, x, w, dy) == gradient(f, x, w, dy), (capture, n, values)
    assert g.counts["node_by_node"] == 0


@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16, lt.float64])
def test_other_dtypes(dtype):
    x, w = lt.randn(20, 3).to(dtype), lt.randn(20, 3).to(dtype)
    dy = lt.ones(1).to(dtype)
    for f in (two_rows, read_whole_too, nested):
        a, b = (x.detach().clone().requires_grad_() for _ in range(2))
        (want,) = lt.autograd.grad((f(a, w) * dy).sum(), [a])
        (got,) = lt.autograd.grad((lt.trace(f)(b, w) * dy).sum(), [b])
        assert got.float().numpy().tobytes() == want.float().numpy().tobytes()


def test_second_order():
    def f(x):
        return lt.fori_loop(0, x.shape[0], lambda i, c: (c * x[i] + x[i]).sin(), x[0].detach())

    def twice(call):
        x = lt.linspace(-1, 1, 60, dtype=lt.float64).reshape(20, 3).requires_grad_()
        (dx,) = lt.autograd.grad(call(x).sum(), [x], create_graph=True)
        return lt.autograd.grad((dx * dx).sum(), [x])[0]

    got, want = twice(lt.trace(f)), twice(f)
    assert (got - want).abs().max() < 1e-12 * want.abs().max()


@pytest.mark.parametrize("capture", [lambda f: f, lt.trace, lt.script])
def test_a_write_adds_no_zeros_to_what_it_leaves(capture):
    def f(x, w, dy):
        y = x * 1
        y[0] = w
        return (y * dy).sum()

    x = lt.ones(3, 3).requires_grad_()
    w = lt.ones(3).requires_grad_()
    dx, dw = lt.autograd.grad(capture(f)(x, w, lt.full((3, 3), -0.0)), [x, w])
    left = lt.signbit(dx)
    assert left.tolist() == [[False] * 3, [True] * 3, [True] * 3]
    assert lt.signbit(dw).all() and (dx == 0).all()
