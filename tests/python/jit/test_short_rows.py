"""Rows of a few elements: what is done element by element goes along one line, and kernels over
rows are compiled for one length, with vectors across rows. The bytes are those of eager code."""

import random

import pytest
from compare import bits_of

import lathe as lt
from lathe.nn import functional as F

DTYPES = (lt.float32, lt.float32, lt.float64, lt.float16, lt.bfloat16, lt.int32)


def operand(rng, rows, columns, dtype):
    """Of these sizes when it is broadcast, lying in one of several ways."""
    shape = rng.choice(((rows, columns), (columns,), (rows, 1), (1, columns), (), (rows, columns)))
    x = (lt.randn(shape) * 3).to(dtype)
    if len(shape) == 2 and rng.random() < 0.3:
        return x.T.contiguous().T
    if len(shape) == 2 and rng.random() < 0.3:
        return lt.cat((x, x), 1)[:, : shape[1]]
    return x


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_elements_at_random(first):
    for seed in range(first, first + 20):
        rng = random.Random(seed)
        lt.manual_seed(seed)
        dtype = rng.choice(DTYPES)
        planes = rng.choice((0, 0, 2, 30))

        def f(x, y, z, planes=planes):
            u = x * y + z
            if planes:
                u = u * lt.ones(planes, 1, 1, dtype=x.dtype)
            return u, u > x

        traced = lt.trace(f)
        for rows, columns in ((900, rng.randrange(2, 17)), (700, 3), (5000, 1), (1, 9), (0, 4)):
            x, y, z = (operand(rng, rows, columns, dtype) for _ in range(3))
            assert bits_of(traced(x, y, z)) == bits_of(f(x, y, z)), (seed, rows, columns)


@pytest.mark.parametrize("engine", ["simd", "llvm"])
def test_lines_of_rows_of_one_element(engine, flag):
    flag("engine", engine)

    def f(x, w):
        turned = x.transpose(2, 0)
        return turned * 2 + turned.sin() * w

    traced = lt.trace(f)
    for sizes in ((9, 64, 32), (2, 5, 9), (1, 1, 4), (1, 4, 1), (4, 1, 1), (1, 3, 4)):
        x, w = lt.randn(sizes), lt.randn(sizes[0])
        assert bits_of([traced(x, w)]) == bits_of([f(x, w)]), sizes


def statistics(x, w):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) * lt.rsqrt(((x - mean) ** 2).mean(-1, keepdim=True) + 1) * w


def several(x, w):
    top, at = x.max(-1)
    return x.sum(-1), top, at, (x * w).prod(-1), x - top[:, None]


def of_twice_as_many(x, w):
    y = lt.cat((x.sin(), w * x), -1)
    return y.sum(-1, keepdim=True) * y


REDUCED = {
    "softmax": lambda x, w: lt.softmax(x * w, -1),
    "norm": lambda x, w: x / x.norm(dim=-1, keepdim=True),
    "statistics": statistics,
    "variance": lambda x, w: (x.var(-1), x.std(-1, keepdim=True) + x),
    "several": several,
    "log_sum": lambda x, w: lt.logsumexp(x + w, -1),
    "twice": of_twice_as_many,
    "layer_norm": lambda x, w: F.layer_norm(x, (x.shape[-1],), w, w),
}


@pytest.mark.parametrize("name", REDUCED)
def test_reductions_of_each_length(name, flag):
    flag("engine", "llvm")
    f = REDUCED[name]
    for dtype in (lt.float32, lt.float16):
        traced = lt.trace(f)
        for length in (1, 3, 8, 16, 17, 3):
            x, w = lt.randn(2500, length).to(dtype), lt.randn(length).to(dtype)
            for given in (x, x[::2], lt.randn(length, 2500).to(dtype).T):
                assert bits_of(traced(given, w)) == bits_of(f(given, w)), (dtype, length)


def test_gradients_of_short_rows():
    def gradients(x, w):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        y = F.layer_norm(lt.softmax(x * w, -1), (x.shape[-1],), w)
        return lt.autograd.grad(y.square().sum(), [x, w])

    traced = lt.trace(gradients)
    for length in (3, 4, 10):
        x, w = lt.randn(3000, length), lt.randn(length)
        want = bits_of(gradients(x, w))
        for _ in range(4):
            assert bits_of(traced(x, w)) == want


def test_a_write_in_place_of_short_rows():
    def f(x, w):
        x.mul_(w).add_(x[:, :1])
        return x.sum()

    traced = lt.trace(f)
    for rows in (4000, 3000):
        x, w = lt.randn(rows, 3), lt.randn(3)
        mine, its = x.clone(), x.clone()
        assert bits_of([traced(mine, w), mine]) == bits_of([f(its, w), its])


def test_the_schedule_says_so():
    traced = lt.trace(lambda x, w: x * w + 1)
    traced(lt.randn(3000, 3), lt.randn(3))
    assert "schedule: flatten" in traced.explain(verbose=True)


@pytest.mark.parametrize("engine", ["simd", "llvm"])
def test_sums_over_rows_of_few_columns(engine, flag):
    flag("engine", engine)

    def f(x, w, c):
        y = x * w + c
        return y, y.sum(0), (y * x).sum(0)

    traced = lt.trace(f)
    for rows, columns in ((3000, 3), (700, 5), (513, 2), (15, 3), (3000, 13)):
        x, w, c = lt.randn(rows, columns), lt.randn(columns), lt.randn(rows, 1)
        assert bits_of(traced(x, w, c)) == bits_of(f(x, w, c)), (rows, columns)
