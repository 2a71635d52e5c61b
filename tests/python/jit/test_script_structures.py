"""Lists, dicts, tuples and objects that change where data decides, and keep their structure."""

import dataclasses
import typing

import pytest
from script_checks import check, f32, same

import lathe as lt


@dataclasses.dataclass
class State:
    h: object
    steps: int = 0
    parts: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Fixed:
    a: object
    b: int


class Pair(typing.NamedTuple):
    a: object
    b: int


SIGNS = [(f32(1, 2),), (f32(-1, 0),), (f32(4, 0),)]


def test_items_of_lists_and_dicts():
    def f(x):
        parts, names = [x, x + 1, 0], {"a": x, "n": 1}
        if x.sum() > 0:
            parts[0] = x * 3
            names["n"] = 5
        else:
            parts[2] = 7
            parts[1] = names["a"] * 2
            names["a"] = x - 1
        return parts, names

    assert check(f, *SIGNS).counts["traces"] == 1


def test_what_two_names_lead_to_stays_one():
    def f(x):
        a = [x, x]
        b, inside = a, {"a": a}
        if x.sum() > 0:
            b[0] = x * 2
            inside["a"][1] = x * 5
        a[0] = a[0] + 1
        return a, b, inside, a is b

    def made_in_both(x):
        if x.sum() > 0:
            a = b = [x]
        else:
            a = b = [x + 1]
        a[0] = x * 5
        return b

    def nested(x):
        rows = [[x], [x + 1]]
        first = rows[0]
        if x.sum() > 0:
            rows[0], rows[1] = rows[1], rows[0]
        first[0] = x * 9
        return first, rows

    def nested_and_left(x):
        rows = [[x], [x + 1]]
        first = rows[0]
        if x.sum() > 0:
            rows[0], rows[1] = rows[1], rows[0]
        first[0] = x * 9
        return first

    check(f, *SIGNS)
    check(nested_and_left, *SIGNS)
    check(made_in_both, *SIGNS)
    with pytest.raises(lt.ScriptError, match="from outside in one branch"):
        lt.script(nested)(f32(1))


def test_dataclasses_and_named_tuples():
    def f(x):
        s, p, q = State(x), Pair(x, 1), Fixed(x, 1)
        if x.sum() > 0:
            s.h = s.h * 2
            s.steps += 1
            p = p._replace(b=4)
            q = Fixed(x + 1, 2)
        else:
            p = Pair(x * 3, p.b)
        if x.sum() > 3:
            s = State(x, 9, [x])
        else:
            s = State(s.h, s.steps, [s.h])
        return s, p, q

    assert check(f, *SIGNS).counts["traces"] == 1


def test_in_loops():
    def f(x, n):
        s, seen, p = State(x), {"max": x, "at": -1}, Pair(x, 0)
        last = [x, x]
        for i in range(int(n)):
            s.h = s.h * 1.5 + i
            s.steps += 2
            if s.h.sum() > seen["max"].sum():
                seen["max"], seen["at"] = s.h, i
            last = [last[1], s.h]
            p = Pair(p.a + 1, p.b + i)
        return s, seen, p, last

    calls = [(f32(1, s), lt.tensor(n)) for n in (0, 1, 4) for s in (1, -5)]
    assert check(f, *calls).counts["traces"] == 1


def test_methods_that_change_their_object():
    class Counter:
        def __init__(self, x):
            self.total, self.n = x, 0

        def add(self, x):
            if x.sum() > 0:
                self.total = self.total + x
                self.n += 1
            return self

    def f(x):
        c = Counter(x * 0)
        for i in range(3):
            c.add(x - i)
        while c.n < 5:
            c.add(x.abs() + 1)
        return c.total, c.n

    assert check(f, *SIGNS).counts["traces"] == 1


def test_objects_from_outside():
    class Model:
        pass

    model = Model()

    def f(x):
        if x.sum() > 0:
            model.count += 1
            model.best = x * 2
            model.log[0] = x + 1
        for _ in range(int(model.rounds)):
            model.count += 2
        return model.count, model.best

    s = lt.script(f)
    for sign, count in ((1, 0), (-1, 0), (1, 5), (-1, 5), (4, 5)):
        outcomes = []
        for g in (s, f):
            model.count, model.best, model.log = count, lt.zeros(2), [lt.ones(2)]
            model.rounds = lt.tensor(2)
            outcomes.append((g(f32(sign, 1)), dict(vars(model))))
        same(*outcomes)


def test_what_is_only_read_where_the_branch_did_not_write_is_guarded():
    class Model:
        count = 0

    model = Model()

    def f(x):
        if x.sum() > 0:
            model.count = 7
        return x + model.count

    s = lt.script(f)
    for count, sign in ((1, -1), (2, -1), (2, 1), (3, -1)):
        outcomes = []
        for g in (s, f):
            model.count = count
            outcomes.append((g(f32(sign)), model.count))
        same(*outcomes)


def test_lists_that_grow_after_an_early_return():
    def f(x):
        out = [x]
        if x.sum() > 3:
            return out
        out.append(x * 2)
        if x.sum() > 0:
            out[0] = x * 7
        return [out[0] + out[-1]]

    check(f, *SIGNS)


def gets_a_key(x):
    found = {}
    if x.sum() > 0:
        found["x"] = x
    return found


def gets_an_attribute(x):
    s = State(x)
    if x.sum() > 0:
        s.more = x
    return s


def moves_an_iterator(x):
    it = iter([x, x + 1])
    if x.sum() > 0:
        x = next(it)
    return x + next(it)


@pytest.mark.parametrize(
    "function",
    [gets_a_key, gets_an_attribute, moves_an_iterator],
)
def test_another_structure_is_refused_with_advice(function):
    with pytest.raises(lt.ScriptError, match=r"structure|iterator") as caught:
        lt.script(function)(f32(1, 2))
    assert "test_script_structures.py" in str(caught.value)
    assert "next:" in str(caught.value)


def test_a_match_of_many_cases_that_assign():
    def chosen(x):
        match int(x[0]):
            case 0:
                y = x
            case 1:
                y = x * 5
            case 2 | 3:
                y = x * 7
            case _:
                y = -x
        return y

    f = lt.script(chosen)
    for k in range(6):
        assert lt.equal(f(f32(k)), chosen(f32(k)))
