"""Variables that functions share: nonlocal, global, and names read before they are bound again."""

import pytest

import lathe as lt

INPUTS = [lt.ones(2) * k for k in (1.0, 2.0, 3.0, 0.5)]
count = 0


def counts_inside(x):
    total = 0

    def add(v):
        nonlocal total
        total = total + v

    for i in range(3):
        add(i)
    add(x.sum())
    return x * total


def changes_in_a_loop_that_data_decides(x):
    best, k = x * 0, 0

    def keep(v):
        nonlocal best, k
        best = v
        k += 1

    while x.sum() < 50:
        x = x * 2 + 1
        if x.max() < 30:
            keep(x)
    return best * k, k


def changes_in_branches(x):
    n = 0

    def up(v):
        nonlocal n
        n = n + v

    if x.sum() > 3:
        up(1)
    else:
        up(5)
    return x * n


def may_be_none(x):
    found = None

    def note(v):
        nonlocal found
        found = v

    if x.sum() > 3:
        note(x)
    return x if found is None else found * 10


def leaves_a_loop(x):
    n = 0

    def up():
        nonlocal n
        n += 1
        return n

    for _ in range(5):
        if x.sum() * up() > 10:
            return x * n
    return x


def two_levels(x):
    a = 1

    def one():
        def two():
            nonlocal a
            a = a + x.sum()

        two(), two()

    one()
    return x * a


def an_argument(x, k=1):
    def up():
        nonlocal k
        k *= 2

    up(), up()
    return x * k


def bound_again(x):
    scale = 1.0

    def f(v):
        return v * scale

    first = f(x)
    scale = 3.0
    return first + f(x)


def of_a_loop(x):
    functions = []
    for i in range(3):
        functions.append(lambda v: v * i)  # noqa: B023
    return sum(f(x) for f in functions)


def bound_later(x):
    def f():
        return later * x

    later = 5
    return f()


def counts_its_depth(x):
    depth = 0

    def go(v):
        nonlocal depth
        depth += 1
        return v if depth > 3 else go(v * 2)

    return go(x) * depth


def of_a_handler(x):
    seen = None

    def note(e):
        nonlocal seen
        seen = str(e)

    try:
        raise ValueError("bad")
    except ValueError as e:
        note(e)
    return x * len(seen)


def deleted(x):
    a = 3

    def f():
        nonlocal a
        a = 4

    f()
    kept = a
    del a
    try:
        return a  # noqa: F821
    except UnboundLocalError:
        return x * kept


def counts_calls(x):
    def up():
        global count
        count = count + 2

    global count
    count += 1
    up()
    return x * count


FUNCTIONS = (
    counts_inside, changes_in_a_loop_that_data_decides, changes_in_branches, may_be_none,
    leaves_a_loop, two_levels, an_argument, bound_again, of_a_loop, bound_later, counts_its_depth,
    of_a_handler, deleted, counts_calls,
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_shared_variables(function):
    global count
    results = []
    scripted = lt.script(function)
    for called in (function, scripted):
        count = 0
        results.append(([str(called(x)) for x in INPUTS], count))
    assert results[0] == results[1]
    assert scripted.counts["traces"] == 1


def counter(start):
    n, by_data = start, isinstance(start, lt.Tensor)

    def step(x):
        nonlocal n
        n = n + (x.sum() if by_data else 1)
        return x * n

    return step


@pytest.mark.parametrize("start", [0, 0.5, lt.tensor(0.0)], ids=["int", "float", "tensor"])
def test_a_variable_of_a_function_around_the_script(start):
    plain, captured = counter(start), counter(start)
    scripted = lt.script(captured)
    for x in INPUTS:
        assert scripted(x).tolist() == plain(x).tolist()
        now = [dict(zip(f.__code__.co_freevars, f.__closure__))["n"] for f in (plain, captured)]
        assert str(now[0].cell_contents) == str(now[1].cell_contents)
    assert scripted.counts["traces"] == 1


def test_data_may_not_decide_about_a_variable_from_outside():
    n = 0

    def step(x):
        nonlocal n
        if x.sum() > 0:
            n += 1
        return x * n

    with pytest.raises(lt.ScriptError) as caught:
        lt.script(step)(INPUTS[0])
    for part in ("changes 'n'", "n += 1", "at: ", "next:     keep it in an attribute"):
        assert part in str(caught.value)
    assert n == 0


def test_what_cannot_be_shared_is_refused():
    def comprehension(x):
        i = 0

        def up():
            nonlocal i
            i += 1

        up()
        return sum([x * i for i in range(3)]) + i

    def deletes(x):
        a = 1

        def f():
            nonlocal a
            del a

        f()
        return x

    for function, part in ((comprehension, "give it another name"), (deletes, "'a' is deleted")):
        with pytest.raises(lt.ScriptError, match=part):
            lt.script(function)(INPUTS[0])
