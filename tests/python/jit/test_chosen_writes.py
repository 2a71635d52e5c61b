"""A write to what a branch chose reaches the tensor that it is."""

import pytest
from script_checks import check, f32

import lathe as lt


def one_or_a_new_one(a, b, c):
    w = a if c > 0 else b * 2
    w += 1
    return w * 2, a + b


def one_of_two(a, b, c):
    if c > 0:
        w = a
    else:
        w = b
    w.mul_(3)
    w[0] = 7
    return a - b, w


def the_same_in_both(a, b, c):
    if c > 0:
        w, n = a, 1
    else:
        w, n = a, 2
    w.add_(n)
    return w, a


def in_rounds(a, b, c):
    i = 0
    while i < 3:
        w = a if (c + i) % 2 > 0 else b
        w += i + 1
        i += 1
    return a, b


@pytest.mark.parametrize("f", [one_or_a_new_one, one_of_two, the_same_in_both, in_rounds])
def test_writes_reach_what_was_chosen(f):
    check(f, *((f32(1, 2), f32(3, 4), lt.tensor(c)) for c in (1.0, -1.0, 2.0, 0.5)))


def test_what_has_gradients_or_other_sizes_is_refused():
    def f(a, b, c):
        w = a if c > 0 else b
        w += 1
        return w

    said = "is written that may share the memory of others"
    with pytest.raises(lt.TraceError, match=said):
        lt.script(lambda a, b, c: f(a * 1, b * 1, c))(
            f32(1, 2).requires_grad_(), f32(1, 2), lt.tensor(1.0)
        )
    with pytest.raises(lt.TraceError, match=said):
        lt.script(f)(f32(1, 2), f32(1, 2, 3), lt.tensor(1.0))


def test_another_name_of_it_goes_stale():
    def f(a, b, c):
        w = a if c > 0 else b
        v = a if c > 1 else b
        w.add_(1)
        return v * 2

    with pytest.raises(lt.TraceError, match="read after one whose memory it may share"):
        lt.script(f)(f32(1, 2), f32(3, 4), lt.tensor(1.0))


def of_nested_choices(a, b, c):
    if c > 0:
        w = a if c > 1 else b
    else:
        w = a * 2
    w.sub_(1)
    return a, b, w


def chosen_and_swapped(a, b, c):
    if c > 0:
        a, b = b, a
    a += 10
    b.mul_(2)
    return a, b


@pytest.mark.parametrize("f", [of_nested_choices, chosen_and_swapped])
def test_choices_of_choices_are_refused(f):
    with pytest.raises(lt.TraceError, match="may share"):
        lt.script(f)(f32(1, 2), f32(3, 4), lt.tensor(1.0))
