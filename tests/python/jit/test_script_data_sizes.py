"""Slices and sizes made of numbers that data decides."""

import pytest
from script_checks import bits, check, f32, same

import lathe as lt


def first(x, n, m):
    return x[: int(n)].sum(), x[: int(n)].clone()


def between(x, n, m):
    return x[int(n) : int(m)] * 2


def from_the_end(x, n, m):
    k = -int(n)
    return x[k:].sum() + x[-int(m) :].max()


def round_by_round(x, n, m):
    k, total = int(n), x.sum() * 0
    while k > 0:
        total = total + x[k - 1 : k + 1].sum()
        k -= 1
    return total


def written(x, n, m):
    x = x.clone()
    x[int(n) :] += 5
    x[: int(m)] *= 3
    x[int(n) : int(m)] = 0.5
    for i in range(2):
        x[i : i + int(n)] = x[i : i + int(n)] * 2
    return x


def of_several_axes(x, n, m):
    y = x.reshape(2, -1)
    return y[:, int(n) : int(m)].sum(1), y[None, :, ..., int(n) :].sum()


def made(x, n, m):
    k = n.item()
    return lt.zeros(k, 3), lt.arange(k), lt.ones((min(int(m), 9), 2)), lt.eye(k), lt.full((2,), k)


def shaped(x, n, m):
    return x.narrow(0, 0, int(n)) * 2, x.repeat(int(n)), x.topk(int(n))[0], x.split([2, 4])[0] * 1


def products(x, n, m):
    a = x[: int(n)]
    return a @ a, a[:, None] * x[None, : int(m)]


def in_branches(x, n, m):
    if m > 3:
        y = x[: int(n)]
    else:
        y = x[int(n) :]
    return y.sum() + y.shape[0]


CALLS = [(2, 4), (3, 5), (5, 6), (4, 9)]
ODD = [(0, 3), (1, 1), (6, 7), (9, 20), (-2, 5), (5, 3), (2, -1), (2, 10**9)]
X = (1, 2, 3, 4, 5, 6)


def of(f, n, m, grad=False):
    x = f32(*X).requires_grad_(grad)
    try:
        out = f(x, lt.tensor(n), lt.tensor(m))
    except Exception as e:
        return type(e)
    if not grad:
        return out, x
    parts = [t for t in (out if isinstance(out, tuple) else (out,)) if t.requires_grad]
    if parts:
        sum((t.sum() for t in parts[1:]), parts[0].sum()).backward()
    return [bits(t.detach()) for t in parts], None if x.grad is None else bits(x.grad)


@pytest.mark.parametrize(
    "f",
    [first, between, from_the_end, round_by_round, written, of_several_axes, made, shaped, products,
     in_branches],
)  # fmt: skip
def test_sizes_that_numbers_decide(f):
    scripted = lt.script(f)
    for n, m in CALLS + ODD:
        wanted, got = of(f, n, m), of(scripted, n, m)
        if isinstance(wanted, type):  # a ShapeError of eager code
            assert got is wanted, (n, m)
        else:
            same(got, wanted)


@pytest.mark.parametrize(
    "f", [first, between, from_the_end, written, of_several_axes, shaped, products, in_branches]
)
def test_gradients_of_slices_that_numbers_decide(f):
    scripted = lt.script(f)
    for n, m in CALLS + ODD:
        assert of(scripted, n, m, grad=True) == of(f, n, m, grad=True), (n, m)


def test_ordinary_calls_are_served_by_one_program():
    scripted = lt.script(first)
    for n in (2, 3, 4, 5):
        same(scripted(f32(*X), lt.tensor(n), None), first(f32(*X), lt.tensor(n), None))
    assert scripted.counts["traces"] == 1 and "ran as they are" not in str(scripted.explain())


def test_a_trace_takes_integer_tensors_as_sizes():
    def f(x, n):
        return x[:n] * 2, lt.zeros(n, 2), x.narrow(0, 1, n).sum()

    traced = lt.trace(f)
    for n in (2, 3, 4):
        same(traced(f32(*X), lt.tensor(n)), f(f32(*X), lt.tensor(n)))
    assert traced.counts["traces"] == 1


@pytest.mark.parametrize(
    "f, said",
    [
        (lambda x, n: [x, x][: int(n)], "a slice of a list, or a step, that data decides"),
        (lambda x, n: x[:: int(n)], "a slice of a list, or a step, that data decides"),
        (lambda x, n: [x, x + 1][int(n)], "an item of a list by an index that data decides"),
        (lambda x, n: x.sum(dim=int(n)), "is an argument of sum"),
        (lambda x, n: x[: int(n)], "a view that is returned depends on a size"),
    ],
)
def test_what_stays_refused(f, said):
    with pytest.raises((lt.ScriptError, lt.TraceError), match=said):
        lt.script(f)(f32(*X), lt.tensor(1))


def search(s, x):
    lo, hi = 0, s.shape[0]
    while lo < hi:
        mid = (lo + hi) // 2
        if s[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def search_or_none(s, x):
    lo, hi = 0, len(s) - 1
    while lo <= hi:
        mid = lo + (hi - lo) // 2
        if s[mid] == x:
            return mid
        if s[mid] < x:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


def last_size(s, x):
    n = s.shape[0]
    for i in range(3):
        if s[i] > x:
            n = i
    return s * n


@pytest.mark.parametrize("f", [search, search_or_none, last_size])
def test_a_name_is_a_size_or_another_integer(f):
    scripted = check(
        f, *((f32(1, 3, 5, 7, 9), lt.tensor(float(x))) for x in (0, 1, 4, 9, 100)),
        (f32(1, 2, 3), lt.tensor(2.0)),
    )  # fmt: skip
    assert scripted.counts["traces"] <= 2


def test_a_size_that_is_the_same_on_both_sides_stays_one():
    def f(x):
        n = x.shape[0]
        for _ in range(2):
            if x[0] > 1:
                n, y = x.shape[0], x + 1
            else:
                n, y = x.shape[0], x - 1
            x = y.reshape(n, 1)[:, 0]
        return x.reshape(1, n)

    check(f, (f32(1, 2, 3),), (f32(5, 2, 3, 4),))
