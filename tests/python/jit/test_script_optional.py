"""Values that are None or not, as data decides: equal to eager by bytes, or refused with advice."""

import pytest
from script_checks import check, f32

import lathe as lt


def test_none_in_one_branch():
    def f(x):
        y = None
        if x.sum() > 0:
            y = x * 2
        if y is None:
            return x - 1
        return y + x

    assert check(f, (f32(1, 2),), (f32(-1, 0),)).counts["traces"] == 1


def test_a_result_that_may_be_none():
    def f(x):
        if x.sum() > 0:
            return x * 2
        return None

    def falls_off(x):  # noqa: RET503
        if x.sum() > 0:
            return x * 2, 1

    def number(x):
        return int(x[0].to(lt.int64)) if x.sum() > 3 else None

    def inside(x):
        y = x * 3 if x.sum() > 3 else None
        return {"y": y, "x": [x, y]}

    for g in (f, falls_off, number, inside):
        assert check(g, (f32(1, 2),), (f32(-1, 0),), (f32(4, 0),)).counts["traces"] == 1


def test_a_helper_that_gives_none():
    def find(x, low):
        for i in range(3):
            if x[i] > low:
                return x[i] * 2
        return None

    def f(x):
        found = find(x, 1.5)
        return x * 0 if found is None else x + found

    check(f, (f32(1, 2, 3),), (f32(0, 0, 0),), (f32(9, 0, 0),))


def test_the_best_so_far():
    def f(x, n):
        best = None
        i = 0
        while i < int(n):
            x = x * -1.5 + i
            if best is None or x.sum() > best.sum():
                best = x
            i += 1
        if best is not None:
            x = x + best
        return x, best

    calls = [(f32(1, 2), lt.tensor(n)) for n in (0, 1, 2, 5)]
    assert check(f, *calls).counts["traces"] == 1


def test_the_best_of_known_rounds():
    def f(x):
        best, at = None, None
        for i in range(4):
            if x[i] > 0 and (best is None or x[i] < best):
                best, at = x[i], i
        return best, at

    calls = [(f32(1, -2, 0.5, 3),), (f32(-1, -1, -1, -1),), (f32(0, 0, 0, 1),)]
    assert check(f, *calls).counts["traces"] == 1


def test_questions_in_every_form():
    def f(x, y):
        a = x if x.sum() > 0 else None
        b = y if y.sum() > 0 else None
        known = a is not None and b is not None
        r = x * 0
        if known:
            r = a + b
        elif not (a is None):  # noqa: E714
            r = a - 1
        elif b is not None and b.sum() > 2:
            r = b * 3
        if a is None or b is None:
            r = r + 100
        else:
            r = r + a * b
        return r, isinstance(a, lt.Tensor), None is b, known

    calls = [(f32(s, 1), f32(t, 2)) for s in (1, -3) for t in (1, -3, -1)]
    assert check(f, *calls).counts["traces"] == 1


def test_truth_and_defaults():
    def f(x):
        k = int(x[0].to(lt.int64)) if x.sum() > 0 else None
        s = x.sum() if x.sum() > 1 else None
        n = 0
        if k:
            n = k + 1
        if not s:
            n = n + 10
        return n, k or 7, (s or x[1])

    check(f, (f32(1, 2),), (f32(0, 0.5),), (f32(-1, 0),), (f32(0, 0),))


def test_attributes_and_items():
    class State:
        h = None

    state = State()

    def f(x):
        if x.sum() > 0:
            state.h = x * 2
        kept = {"h": state.h}
        return x + 1 if kept["h"] is None else x + kept["h"]

    s = lt.script(f)
    for sign in (-1, 1, -1, 1):
        outcomes = []
        for g in (s, f):
            state.h = None
            outcomes.append((g(f32(sign, 1)), state.h))
        (a, h), (b, k) = outcomes
        assert a.tolist() == b.tolist()
        assert (h is None and k is None) or h.tolist() == k.tolist()


def test_an_early_none_among_many_returns():
    def f(x):
        if x[0] > 5:
            return None
        if x[0] > 4:
            return x * 4
        if x[0] > 3:
            return None
        if x[0] > 2:
            return x * 2
        return None

    assert check(f, *[(f32(n),) for n in range(7)]).counts["traces"] == 1


def used(x):
    y = x if x.sum() > 0 else None
    return y + 1


def of_an_attribute(x):
    y = x if x.sum() > 0 else None
    return y.shape


def given_to_an_op(x):
    y = x if x.sum() > 0 else None
    return lt.add(x, y)


def in_a_list_given_to_an_op(x):
    y = x if x.sum() > 0 else None
    return lt.stack([x, y])


def taken_apart(x):
    y = (x, x) if x.sum() > 0 else None
    a, b = y
    return a + b


def called(x):
    y = lt.sin if x.sum() > 0 else None
    return y(x)


def asked_too_late(x):
    y = x if x.sum() > 0 else None
    z = y * 2
    return z if y is not None else x


@pytest.mark.parametrize(
    "function",
    [used, of_an_attribute, given_to_an_op, in_a_list_given_to_an_op, taken_apart, called,
     asked_too_late],
)  # fmt: skip
def test_use_before_the_question_is_refused(function):
    with pytest.raises(
        lt.ScriptError, match=r"may be None.*\n.*test_script_optional\.py"
    ) as caught:
        lt.script(function)(f32(1, 2))
    assert "if y is not None" in str(caught.value)


def test_what_data_has_chosen_is_not_asked_for_by_identity():
    def f(x, y):
        r = x if x.sum() > 0 else y
        return r is x

    def g(x, n=3):
        return int(x[0].to(lt.int64)) is n

    for function, args in ((f, (f32(1), f32(2))), (g, (f32(1),))):
        with pytest.raises(lt.ScriptError, match="'is' of"):
            lt.script(function)(*args)


def test_the_identity_of_a_truth():
    def f(x):
        b = bool(x.sum() > 0)
        return b is True, b is not True, b is False, b is None

    check(f, (f32(1),), (f32(-1),))
