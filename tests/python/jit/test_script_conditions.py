"""What the condition of a while does besides asking is done as often as in eager code."""

import runpy

import pytest
from script_checks import check, f32, same

import lathe as lt


class Counter:
    def __init__(self):
        self.asked, self.log = 0, [0, 0]

    def below(self, x, most):
        self.asked += 1
        self.log[1] = self.asked * 2
        return x.sum() < most


def named_in_it(x, c):
    while (gap := (x * x - c).abs().max()) > 1e-3:
        x = x - (x * x - c) / (2 * x)
    return x, gap


def named_in_both(x, c):
    while (n := int(x.sum())) < 40:
        k = 0
        while (j := k * k) < n / 4:
            k += 1
            x = x + j
        x = x + 1
        if x[0] > 30:
            continue
        x = x * 1.5
    return x, n


def may_fail(x, c):
    i = 0
    while i < int(c.max()):
        i += 1
        if i == 2:
            continue
        x = x * i
    return x, i


def in_place(x, c):
    w = x * 1
    while (t := w.sum()) < 100:
        w += t
    return w, t


def left_early(x, c):
    while (y := x.sum()) < 50:
        x = x * 2
        if x[0] > 8:
            return x, y
        if x[1] > 20:
            break
    return x, y * 2


def in_a_branch(x, c):
    y = x
    if c.sum() > 3:
        while (y := y * 2).sum() < 60:
            x = x + y
    return x, y


def written_to(x, c):
    x = x.clone()
    while x.add_(c).sum() < 20:
        if x[0] > 9:
            break
    return x, c * 2


def argument_written_to(x, c):
    n = 0
    while x.mul_(2).max() < 30 and n < 5:
        n += 1
    return n


@pytest.mark.parametrize(
    "f",
    [named_in_it, named_in_both, may_fail, in_place, left_early, in_a_branch, written_to,
     argument_written_to],
)  # fmt: skip
def test_names_and_failures_in_conditions(f):
    scripted = check(f, (f32(1, 2), f32(2, 3)), (f32(3, 1), f32(1, 1)), (f32(4, 5), f32(2, 7)))
    assert scripted.counts["traces"] == 1


def test_an_integer_that_no_float_has_fails_as_in_eager_code():
    scripted = lt.script(may_fail)
    with pytest.raises((ValueError, OverflowError)) as wanted:
        may_fail(f32(1, 2), f32(1, float("nan")))
    with pytest.raises(type(wanted.value)):
        scripted(f32(1, 2), f32(1, float("nan")))


def test_objects_that_a_condition_changes():
    def f(x, s):
        while s.below(x, 50):
            x = x * 2
            if x[0] > 6:
                break
        return x + s.asked

    scripted = lt.script(f)
    for values in ((1, 2), (30, 40), (3, 1), (0.5, 9)):
        mine, theirs = Counter(), Counter()
        same(scripted(f32(*values), mine), f(f32(*values), theirs))
        same(mine, theirs)


def test_random_numbers_of_a_condition_are_drawn_once_a_round(capsys):
    def f(x):
        n = 0
        while lt.rand(()) < 0.7 and n < 9:
            n += 1
            x = x + lt.rand(2)
        while print("asked", n) is None and x.sum() < 6:
            x = x * 2
        return x, n

    scripted = lt.script(f)
    for seed in range(6):
        got = []
        for g in (f, scripted):
            lt.manual_seed(seed)
            got.append((g(f32(1, 1)), lt.rand(3), capsys.readouterr().out))
        same(got[0], got[1])


def test_the_stream_is_as_it_was_where_a_call_runs_as_it_is():
    def f(x):
        r = lt.rand(3)
        try:
            assert x.sum() > 0
            return r
        except AssertionError:
            return -r

    scripted = lt.script(f)
    for value in (1, -1, 2, -3):
        got = []
        for g in (f, scripted):
            lt.manual_seed(3)
            got.append((g(f32(value)), lt.rand(2)))
        same(got[0], got[1])


@pytest.mark.parametrize("rounds", [2, 3, 5])
def test_attributes_that_rounds_change_before_data_ends_the_loop(rounds):
    class S:
        def __init__(self, h):
            self.h, self.n = h, 0

    def f(x):
        s = S(x)
        for i in range(rounds):
            if x.sum() > 9:
                break
            x = x + 1
            s.h = s.h - x
            s.n += i
        return x, s.h, s.n

    check(f, (f32(1, 2),), (f32(9, 2),), (f32(4, 4),), (f32(-40, 2),))


def nested_returns(path, n):
    """A function in which each of n ifs returns in one of three ways through it."""
    lines = ["def f(x):", "    y = x"]
    for i in range(n):
        lines += [f"    if x[{i % 4}] > {i % 5}:", f"        y = y + {i}"]
        lines += [f"        if y.sum() > {30 + i * 7}:", f"            return y * {i + 1}"]
        lines += ["    else:", "        y = y * 0.5"]
    path.write_text("\n".join([*lines, "    return y"]) + "\n")
    return runpy.run_path(str(path))["f"]


def test_what_follows_nested_returns_is_not_doubled_by_each(tmp_path):
    calls = [(f32(*v),) for v in ((1, 2, 3, 4), (9, 9, 9, 9), (0, 0, 0, 0), (3, 1, 4, 1))]
    sizes = []
    for n in (6, 12):
        scripted = check(nested_returns(tmp_path / f"returns{n}.py", n), *calls)
        sizes.append(len(scripted.graph.splitlines()))
    assert sizes[1] < 4 * sizes[0]
