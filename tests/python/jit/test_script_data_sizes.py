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
        (lambda x, n: (x, x)[: int(n)], "a slice of a list, or a step, that data decides"),
        (lambda x, n: x[:: int(n)], "a slice of a list, or a step, that data decides"),
        (lambda x, n: (x, x + 1)[int(n)], "an item of a tuple by an index that data decides"),
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


def two_sizes(x, n, m):
    return x[:3] * 2 if n == 3 else x[:2] * 3


def a_part_or_all(x, n, m):
    return x[:3].exp() if n == 3 else x * 3


def by_the_number(x, n, m):
    if n == 3:
        return x[: int(n)] * 2
    return x[:1].clone()


def read_in_the_branch(x, n, m):
    v, t = x[:2] * 1, x.sum()
    if n > 2:
        v = x[x > 1]
        t = v[:1].sum()
    elif n > 1:
        v = x[int(n) :] * 1
        v = v + v[:1].sum()
    return t, v.sum()


def parts_that_add_up(x, n, m):
    k = int(n)
    a, b = x.split([k, x.shape[0] - k])
    return x.narrow(0, k, 6 - k).sum() + a.sum() * b.sum()


@pytest.mark.parametrize(
    "f", [two_sizes, a_part_or_all, by_the_number, read_in_the_branch, parts_that_add_up]
)
def test_gradients_where_branches_give_other_sizes(f):
    scripted = lt.script(f)
    for n, m in ((3, 1), (2, 1), (1, 4), (5, 5)):
        assert of(scripted, n, m, grad=True) == of(f, n, m, grad=True), n


def test_a_presumption_that_fails_node_by_node():
    def f(x, n):
        y = x * 1
        if n > -9:
            y = y + lt.rand(())
            y[: -int(n)] += 1
        return y

    scripted = lt.script(f)
    for n in (1, 0, 2, -1):
        got = []
        for g in (f, scripted):
            lt.manual_seed(4)
            got.append((g(f32(1, 2, 3).requires_grad_(), lt.tensor(n)).detach(), lt.rand(2)))
        same(got[0], got[1])


def of_found_sizes(x, n):
    m = x[x > 1].shape[0]
    k = int(n)
    return (
        m / 2, 7 / m, x.shape[0] / m, 0.5 * m, m**2, abs(m), max(m, x.shape[0]), k // m, k % m,
        x.sum().item() / m, m - 1.5,
    )  # fmt: skip


def test_arithmetic_of_sizes_that_running_tells():
    check(of_found_sizes, *((f32(*X), lt.tensor(n)) for n in (7, -3)), (f32(2, 0, 3), lt.tensor(1)))
    with pytest.raises(ZeroDivisionError):
        lt.script(of_found_sizes)(f32(0, 1), lt.tensor(1))


def test_a_bool_is_no_bound_of_a_slice():
    with pytest.raises(lt.ScriptError, match="a bool that data decides is wanted as an integer"):
        lt.script(lambda x, n: x[bool(n) :].sum())(f32(*X), lt.tensor(1))


def test_a_size_that_is_negative_after_a_print(capsys):
    def f(x, n):
        print("from", n)
        y = x[int(n) :].sum()
        print("sum", y)
        return y

    scripted = lt.script(f)
    for n in (-1, 2, -2, 1):
        got = []
        for g in (f, scripted):
            got.append((g(f32(*X), lt.tensor(n)), capsys.readouterr().out))
        same(got[0], got[1])


def met_with_a_count(x, n, m):
    k = int(n)
    return lt.arange(k) * x[:k] + lt.zeros(k), x[:k] + x[6 - k :]


def met_with_a_neighbour(x, n, m):
    x = x.clone()
    x[1 : int(n)] -= x[: int(n) - 1]
    i = int(n)
    while i < 6:
        x[i:] = x[i:] + x[: 6 - i]
        i += 1
    return x


def met_with_an_input(x, n, m):
    return x[: int(n)] + x[2:5], x[x > m] * lt.arange(int((x > m).sum()))


@pytest.mark.parametrize("f", [met_with_a_count, met_with_a_neighbour, met_with_an_input])
@pytest.mark.parametrize("grad", [False, True])
def test_sizes_that_meet_are_presumed_to_be_equal(f, grad):
    scripted = lt.script(f)
    for n, m in ((3, 2), (2, 3), (1, 1), (4, 1), (3, 9), (6, 0), (0, 3)):
        wanted, got = of(f, n, m, grad), of(scripted, n, m, grad)
        if isinstance(wanted, type):
            assert got is wanted, (n, m)
        else:
            same(got, wanted)
