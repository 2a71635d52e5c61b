"""Loops whose rounds write a row of what they carry do it where it lies: with eager's bits, nothing
that is still read changed, and without a copy a round."""

import numpy as np
import pytest

import lathe as lt

ROUNDS = 24  # more than are written out


def bits(t):
    return str(t.dtype), tuple(t.shape), t.detach().numpy().tobytes()


def put(x, i, row):
    """A row of x replaced, as a value."""
    x = x.clone()
    x[i] = row
    return x


def carried(x):
    return lt.fori_loop(0, x.shape[0], lambda i, c: put(c, i, c[i] * 2 + i), x)


def start_is_read(x):
    y = x + 1
    z = lt.fori_loop(0, x.shape[0], lambda i, c: put(c, i, c[i].sin()), y)
    return z, y * 2, x


def start_is_a_result(x):
    y = x + 1
    return lt.fori_loop(0, x.shape[0], lambda i, c: put(c, i, c[i].sin()), y), y


def given_twice(x):
    def f(i, c):
        a, b = c
        d = put(a, i, b[i] + a[i])
        return d, d

    return lt.fori_loop(0, x.shape[0], f, (x, x))


def start_is_two(x):
    y = x * 3

    def f(i, c):
        return put(c[0], i, c[1][i] + 1), put(c[1], i, c[0][i] * 2)

    return lt.fori_loop(0, x.shape[0], f, (y, y))


def swapped(x):
    return lt.fori_loop(0, x.shape[0], lambda i, c: (put(c[1], i, c[0][i] + 1), c[0]), (x, -x))


def read_after(x):
    def f(i, c):
        d = put(c[0], i, c[0][i] + 1)
        return d, c[1] + c[0] * d

    return lt.fori_loop(0, x.shape[0], f, (x, x * 0))


def row_read_after(x):
    def f(i, c):
        row = c[0][i]
        d = put(c[0], i, row * 2)
        return put(d, i, d[i] + row), c[1] + row

    return lt.fori_loop(0, x.shape[0], f, (x, x[0] * 0))


def captured_outside(x):
    y = x * 2
    return lt.fori_loop(0, x.shape[0], lambda i, c: put(c, i, c[i] + y.sum(0)), y), y


def kept_row(x):
    def f(i, c):
        return put(c[0], i, c[0][i] * 2), c[0][x.shape[0] - 1]

    return lt.fori_loop(0, x.shape[0], f, (x * 1.5, x[0]))


def nested(x):
    def rows(i, c):
        return lt.fori_loop(
            0, x.shape[0], lambda j, d: put(d, j, d[j] * 0.5 + x[i]), put(c, i, c[i] + 1)
        )

    return lt.fori_loop(0, x.shape[0], rows, x)


def nested_and_read(x):
    def rows(i, c):
        d = lt.fori_loop(0, x.shape[0], lambda j, e: put(e, j, e[j] * 0.5), c[0])
        return d, c[1] + c[0]

    return lt.fori_loop(0, x.shape[0], rows, (x, x))


def branch(x):
    def f(i, c):
        return lt.cond(c[i].sum() > 0, lambda c: put(c, i, -c[i]), lambda c: c, (c,))

    return lt.fori_loop(0, x.shape[0], f, x + 0.5)


def branch_and_read(x):
    def f(i, c):
        a, b = c
        d = lt.cond(a[i].sum() > 0, lambda a: put(a, i, -a[i]), lambda a: put(a, 0, a[i]), (a,))
        return d, b + a

    return lt.fori_loop(0, x.shape[0], f, (x + 0.5, x))


def branch_hands_on(x):
    def f(i, c):
        a, b = c
        a, b = lt.cond(a[i].sum() > 0, lambda a, b: (a, a), lambda a, b: (b, a), (a, b))
        return put(a, i, b[i] + 1), b

    return lt.fori_loop(0, x.shape[0], f, (x + 0.5, x * 2))


def while_writes(x):
    def f(i, c):
        return i + 1, lt.index_copy(c, 0, i.reshape(1), lt.index_select(c, 0, i.reshape(1)) * 2)

    return lt.while_loop(
        lambda i, c: (i < c.shape[0]) & (c.sum() < 1e4), f, (lt.zeros((), dtype=lt.int64), x)
    )[1]


def while_carries_its_condition(x):
    def f(go, i, c):
        return c[0].sum() < 1e3, i + 1, put(c, 0, c[0] + 1)

    return lt.while_loop(lambda go, i, c: go, f, (x.sum() < 1e9, lt.zeros(()), x))[1:]


def scattered(x):
    def f(i, c):
        at = lt.stack([i.reshape(1), i.reshape(1)]).reshape(2) % x.shape[0]
        return lt.index_add(c, 0, at, c[:2] * 0.5)

    return lt.fori_loop(lt.tensor(0), lt.tensor(ROUNDS), f, x)


def into_zeros(x):
    return lt.fori_loop(0, x.shape[0], lambda i, c: put(c, i, x[i].sin()), lt.zeros_like(x))


def never_a_round(x):
    n = (x.sum() > 1e9).to(lt.int64)
    y = x + 1
    return lt.fori_loop(lt.zeros((), dtype=lt.int64), n, lambda i, c: put(c, 0, c[0] + 1), y), y


def scanned(x):
    def f(c, row):
        c = (c * 0.5 + row).tanh()
        return c, (c * 2, row + c)

    c, (a, b) = lt.scan(f, x[0], x)
    return c, a, b


def scan_carries_all(x):
    def f(c, row):
        c = put(c, 1, c[0] + row)
        return c, c[1].sum()

    return lt.scan(f, x, x)


def scan_of_scans(x):
    def f(c, row):
        d, ys = lt.scan(lambda e, r: ((e + r * row).tanh(), e * r), c, x)
        return d, ys

    return lt.scan(f, x[0] * 0, x)


ALL = [
    carried, start_is_read, start_is_a_result, given_twice, start_is_two, swapped, read_after,
    row_read_after, captured_outside, kept_row, nested, nested_and_read, branch, branch_and_read,
    branch_hands_on, while_writes, while_carries_its_condition, scattered, into_zeros,
    never_a_round, scanned, scan_carries_all, scan_of_scans,
]  # fmt: skip


def run(call, x, gradient):
    x = x.detach().clone().requires_grad_(gradient)
    ys = call(x)
    ys = ys if isinstance(ys, tuple) else (ys,)
    if gradient:
        sum(y.sin().sum() for y in ys if y.requires_grad).backward()
    return [bits(t) for t in [*ys, x, *([x.grad] if gradient else [])]]


@pytest.mark.parametrize("engine", ["simd", "llvm"])
@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_bits_are_those_of_eager(f, engine, flag):
    flag("engine", engine)
    x = lt.randn(ROUNDS, 5)
    for gradient in (False, True):
        want = run(f, x, gradient)
        for capture in (lt.trace, lt.script):
            g = capture(f)
            for _ in range(2):
                assert run(g, x, gradient) == want, (capture.__name__, gradient)


def taken(program, *inputs):
    """Bytes that the allocator gave out at most during a call, beyond those in use before it."""
    lt._lathe._reset_memory_peak()
    before = lt._lathe._memory_stats()[0]
    program(*inputs)
    return lt._lathe._memory_stats()[1] - before


@pytest.mark.serial
@pytest.mark.parametrize("f", [carried, nested, branch, swapped, while_writes, into_zeros, scanned])
def test_no_round_copies_what_it_carries(f):
    """A copy needs room: there is none but for what is carried, and the copy of an input."""
    tensors = {swapped: 2, scanned: 2}.get(f, 1)
    program = lt.jit.capture(f, (lt.randn(ROUNDS, 4096),))
    x = lt.randn(ROUNDS, 65536)
    size = x.numel() * 4
    program(x)
    assert taken(program, x) < (tensors + 0.5) * size
    assert abs(program.peak_bytes(tuple(x.shape)) - taken(program, x)) < 0.1 * size


def test_what_fails_in_a_round_changes_nothing():
    def f(i, c):
        return lt.index_copy(c, 0, i.reshape(1), c[:1] + 1)

    def program(x, n):
        return lt.fori_loop(lt.zeros((), dtype=lt.int64), n, f, x)

    x, n = lt.randn(ROUNDS, 3), lt.tensor(ROUNDS)
    before = bits(x)
    g = lt.trace(program)
    want = bits(g(x, n))
    with pytest.raises(lt.IndexError):
        g(x, n + 1)
    assert bits(x) == before and bits(g(x, n)) == want == bits(program(x, n))


def test_what_a_callback_kept_stays():
    kept = []

    def f(i, c):
        lt.callback(kept.append, c)
        return put(c, i, c[i] + 1)

    x = lt.randn(ROUNDS, 3)
    lt.trace(lambda x: lt.fori_loop(0, ROUNDS, f, x))(x)
    for i, c in enumerate(kept):
        want = x.numpy().copy()
        want[:i] += 1
        assert np.array_equal(np.asarray(c), want)
    assert len(kept) == ROUNDS


def test_instructions_say_where_a_write_goes():
    program = lt.jit.capture(carried, (lt.randn(ROUNDS, 4),))
    (line,) = [s for s in program.instructions.split("\n") if "select_put" in s or "slice_put" in s]
    assert " over b" in line


def test_no_zero_is_added_to_what_a_scan_gives():
    """A cotangent of -0.0 is that in each round, as in eager."""

    def f(x, dy):
        _, ys = lt.scan(lambda c, row: (c, row * 1), x[0].detach() * 0, x)
        return (ys * dy).sum()

    dy, given = lt.full((ROUNDS, 3), -0.0), []
    for call in (f, lt.trace(f)):
        x = lt.ones(ROUNDS, 3).requires_grad_()
        given.append(lt.autograd.grad(call(x, dy), [x])[0])
    assert bits(given[0]) == bits(given[1]) and lt.signbit(given[0]).all()
