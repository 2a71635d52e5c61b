"""What sizes alone decide is computed once for each set of them, and is nobody else's memory."""

import threading

import pytest
from script_checks import same

import lathe as lt

SIZES = (5, 7, 5, 1, 0, 300, 5, 200_000, 5)  # the largest is not kept


def positions(x):
    n = x.size(0)
    return x + lt.arange(n) * 2 - lt.arange(n).flip(0)


def mask(x):
    y = x[:300]
    row = lt.arange(y.size(0))
    return lt.where(row[:, None] >= row, y[:, None] * y, -1.0).sum(1)


def written(x):
    i = lt.arange(x.size(0))
    i += 1
    i[1:] *= 2
    return x * i


def given_back(x):
    i = lt.arange(x.size(0))
    return i, i * 2 + x, i + 1


def reduced(x):
    return x * lt.arange(x.size(0)).sum() + lt.full((x.size(0), 3), 0.5).sum(0)[1]


def in_a_loop(x):
    i = lt.arange(x.size(0)).float()
    return lt.fori_loop(0, 3, lambda k, c: c + i * k, i), x


def without_rounds(x):
    i = lt.arange(x.size(0)) * 3
    y = lt.cond(x.sum() > 1e9, lambda: i + 1, lambda: i)
    return y, lt.fori_loop(0, (x.sum() > 1e9).long(), lambda k, c: c + 1, i)


def counted(x):
    n = (x > 0).nonzero().size(0)  # which only running tells
    return (lt.full((2,), n) * 3 + 1).cumsum(0), x * 2


FUNCTIONS = [positions, mask, written, given_back, reduced, in_a_loop, without_rounds, counted]


def tensors(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("engine", ["simd", "auto"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_eager_at_sizes_that_come_back(f, engine, flag):
    flag("engine", engine)
    traced = lt.trace(f)
    for n in SIZES:
        for low in (-1, 0, -2):
            x = lt.linspace(low, 1, n)
            results = traced(x)
            same(results, f(x))
            for y in tensors(results):  # whoever has a result may write to it
                y.zero_()


def test_gradients():
    f = lt.trace(lambda x: (mask(x) * positions(x)).sum())
    for n in (4, 6, 4):
        x, y = (lt.linspace(-1, 1, n).requires_grad_() for _ in "ab")
        for _ in range(3):
            (g,) = lt.autograd.grad(f(x), [x])
            same(g, lt.autograd.grad((mask(y) * positions(y)).sum(), [y])[0])


def test_threads_have_their_own():
    traced, wrong = lt.trace(mask), []

    def work(n):
        x = lt.linspace(-1, 1, n)
        want = bytes(mask(x).numpy())
        wrong.extend(n for _ in range(200) if bytes(traced(x).numpy()) != want)

    traced(lt.ones(3))
    threads = [threading.Thread(target=work, args=(n,)) for n in (4, 5, 6, 100)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_it_runs_once_and_says_so():
    f, x = lt.trace(positions), lt.ones(40)
    for n in range(1, 4):
        f(x)
        assert (f.counts["op_runs"], f.counts["simd_runs"] + f.counts["generated_runs"]) == (1, n)
    assert "computed once for each set of sizes, where it takes 64 KiB or less" in f.explain(
        verbose=True
    )
    drawn = lt.trace(lambda x: x + lt.rand(x.size(0)))
    drawn(x)
    assert "computed once" not in drawn.explain(verbose=True)
