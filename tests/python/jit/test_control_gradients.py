"""Gradients through what data decides: forty scripted functions against finite differences and, bit
by bit, against eager; ten of them once more for the second order."""

import pytest

import lathe as lt

F64 = lt.float64

# ── if ──────────────────────────────────────────────────────────────────────────────────────────


def sign_decides(x, y):
    if x.sum() > 0:
        return x * y
    return x - y * 2


def no_else(x, y):
    z = x * y
    if y.sum() > 0:
        z = z.sin()
    return z + x


def elif_chain(x, y):
    s = x.sum()
    if s > 4:
        z = x.exp()
    elif s > 0:
        z = x * y
    elif s > -4:
        z = y.sin()
    else:
        z = x - y
    return z * 2


def nested(x, y):
    if x.sum() > 0:
        if y.sum() > 0:
            z = x * y * y
        else:
            z = x.tanh()
    else:
        z = y.tanh()
    return z + y


def conditional_expression(x, y):
    return (x if x.max() > y.max() else y) * x


def several_names(x, y):
    a, b = x, y
    if (x * y).sum() > 0:
        a, b = b.sin(), a * 3
    return a * b


def boolean_operators(x, y):
    if x.sum() > 0 and y.sum() > 0 or x.max() > 1:
        return x * y
    return y / (2 + x * x)


def negation(x, y):
    if not x.sum() > 0:
        x = x * 2
    return x * y


def one_side_unused(x, y):
    if x.sum() > 0:
        z = x * 2
    else:
        z = y * 3
    return z


def early_return(x, y):
    z = x * y
    if z.sum() > 1:
        return z.sin()
    z = z + x
    if z.sum() > 1:
        return z.cos()
    return z * z


def max_of_numbers(x, y):
    s = max(x.sum(), y.sum())
    return x * s


def branch_in_a_function(x, y):
    def pick(a, b):
        if a.sum() > b.sum():
            return a
        return b * 2

    return pick(x, y) * pick(y, x)


def clipped(x, y):
    n = (x * x).sum()
    if n > 1:
        x = x / n.sqrt()
    return x * y


def written_in_a_branch(x, y):
    z = x * 1
    if y.sum() > 0:
        z[0] = y[1] * 2
    else:
        z[1] = y[0]
    return z * z


# ── while ───────────────────────────────────────────────────────────────────────────────────────


def halved(x, y):
    while (x * x).sum() > 1:
        x = x / 2
    return x * y


def counted_by_data(x, y):
    n = int((y * y).sum().to(lt.int64)) + 2
    i = 0
    while i < n:
        x = x.sin() + y
        i += 1
    return x


def newton(x, y):
    a = x * x + 1
    r = a * 0 + 1 + y * 0
    while ((r * r - a) * (r * r - a)).sum() > 1e-9:
        r = (r + a / r) / 2
    return r


def carries_two(x, y):
    a, b = x, y
    while (a * a).sum() > 0.5:
        a, b = b * 0.5, a * 0.7
    return a + b * b


def breaks(x, y):
    n = 0
    while n < 50:
        x = x * 1.1 + y * 0.1
        if (x * x).sum() > 9:
            break
        n += 1
    return x


def continues(x, y):
    n = 0
    while n < 6:
        n += 1
        if x.sum() > 0.9:
            x = x * 0.5
            continue
        x = x + y * y
    return x


def returns_from_a_loop(x, y):
    n = 0
    while n < 30:
        x = x + y * 0.3
        if (x * x).sum() > 20:
            return x.sin()
        n += 1
    return x * y


def loop_with_a_branch(x, y):
    n = 0
    while n < 8:
        if x.sum() > 0:
            x = x - y * 0.25
        else:
            x = x + y.sin()
        n += 1
    return x


def loop_in_a_loop(x, y):
    n = 0
    while n < 3:
        while (x * x).sum() > 4:
            x = x * 0.8
        x = x + y
        n += 1
    return x


def loop_in_a_branch(x, y):
    if y.sum() > 0:
        while (x * x).sum() > 1:
            x = x * 0.6
    else:
        x = x * 3
    return x * y


def never_runs(x, y):
    while (x * x).sum() < 0:
        x = x * y
    return x.sin() * y


def sum_of_a_series(x, y):
    term, total = x * 0 + 1, x * 0
    while term.abs().max() > 1e-6:
        total = total + term
        term = term * (x * 0.3).tanh() * 0.9
    return total * y


# ── for ─────────────────────────────────────────────────────────────────────────────────────────


def for_range_of_data(x, y):
    for i in range(int(y.abs().sum().to(lt.int64)) + 3):
        x = x * 0.9 + y * i * 0.1
    return x


def rows(x, y):
    m = x[:, None] * y
    h = y * 0
    for row in m:
        h = (h + row).tanh()
    return h


def for_with_a_branch(x, y):
    for i in range(5):
        if x[i % 3] > 0:
            x = x - y * 0.2
        else:
            x = x * 1.1
    return x


def for_that_breaks(x, y):
    for _ in range(20):
        x = x * 1.2
        if x.abs().max() > 3:
            break
    return x * y


def for_over_a_list(x, y):
    parts = [x, y, x * y]
    total = x * 0
    for p in parts:
        if p.sum() > 0:
            total = total + p * p
    return total


def list_of_results(x, y):
    out = []
    for i in range(4):
        x = x.sin() + y * (0.1 * i)
        out = out + [x]
    return lt.stack(out).sum(0)


def index_decided_by_data(x, y):
    i = int(x.argmax())
    return y[i] * x + x[i] * y


# ── functions of functions ──────────────────────────────────────────────────────────────────────


def by_cond(x, y):
    return lt.cond(x.sum() > 0, lambda: x * y, lambda: x.exp() - y)


def by_while_loop(x, y):
    return lt.while_loop(lambda v: (v * v).sum() > 1, lambda v: v * 0.7 + y * 0.01, x)


def by_fori_loop(x, y):
    return lt.fori_loop(0, 21, lambda i, v: v.sin() + y * 0.1, x)


def by_scan(x, y):
    last, all_of_them = lt.scan(lambda h, r: ((h * r).sin() + r,) * 2, x[0], x * y)
    return all_of_them * last


def by_map(x, y):
    return lt.map(lambda r: (r * r).sin(), x) + y


def by_associative_scan(x, y):
    return lt.associative_scan(lambda a, b: a * b, x * 0.5 + 1) * y


def structures_in_structures(x, y):
    def body(i, v):
        return lt.cond(v.sum() > 0, lambda: v * 0.9 - y * 0.1, lambda: v + y.sin())

    return lt.fori_loop(0, 18, body, x)


FUNCTIONS = [
    sign_decides, no_else, elif_chain, nested, conditional_expression, several_names,
    boolean_operators, negation, one_side_unused, early_return, max_of_numbers,
    branch_in_a_function, clipped, written_in_a_branch, halved, counted_by_data, newton,
    carries_two, breaks, continues, returns_from_a_loop, loop_with_a_branch, loop_in_a_loop,
    loop_in_a_branch, never_runs, sum_of_a_series, for_range_of_data, rows, for_with_a_branch,
    for_that_breaks, for_over_a_list, list_of_results, index_decided_by_data, by_cond,
    by_while_loop, by_fori_loop, by_scan, by_map, by_associative_scan, structures_in_structures,
]  # fmt: skip
TWICE = [
    sign_decides, elif_chain, early_return, clipped, halved, carries_two, loop_with_a_branch,
    for_range_of_data, by_cond, by_scan,
]  # fmt: skip
INPUTS = [
    ([1.3, 0.4, -0.7], [0.8, -0.3, 1.1]),
    ([-1.3, -0.4, 0.2], [0.9, 0.6, -0.2]),
    ([2.1, -1.7, 1.9], [-0.5, -0.9, 0.3]),
]


def leaves(values):
    return [lt.tensor(v, dtype=F64, requires_grad=True) for v in values]


def gradients(f, values):
    xs = leaves(values)
    y = f(*xs)
    (y * y).sum().backward()
    return y.numpy(force=True).tobytes(), [x.grad for x in xs]


def same(got, want):
    """Bit by bit; where no path that was taken leads to a leaf, eager leaves None to it and a
    program gives zeros."""
    pairs = zip(got[1], want[1])
    return got[0] == want[0] and all(
        (b is None and not a.any()) or a.numpy().tobytes() == b.numpy().tobytes() for a, b in pairs
    )


def test_there_are_forty_and_ten():
    assert len(FUNCTIONS) == len(set(FUNCTIONS)) == 40 and len(TWICE) == 10


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_first_order(f):
    scripted = lt.script(f)
    for values in INPUTS:
        assert same(gradients(scripted, values), gradients(f, values))
        assert lt.autograd.gradcheck(scripted, tuple(leaves(values)))
    assert scripted.counts["node_by_node"] == 0


@pytest.mark.parametrize("f", TWICE, ids=lambda f: f.__name__)
def test_second_order(f):
    scripted = lt.script(f)
    for values in INPUTS:
        assert lt.autograd.gradgradcheck(scripted, tuple(leaves(values)))
    assert scripted.counts["node_by_node"] == 0
