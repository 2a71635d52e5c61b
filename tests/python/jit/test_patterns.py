"""match in captured code: all that patterns look at is a read."""

import types
from collections import deque

import pytest
from script_checks import follows, same

import lathe as lt

ways = pytest.mark.parametrize("way", [lt.trace, lt.script])


class Inner:
    def __init__(self, n):
        self.n = n


class Outer:
    shared = {"n": 1}

    def __init__(self):
        self.inner, self.number = Inner(1), 1

    @property
    def made(self):
        return self.number

    @property
    def box(self):
        return {"n": self.number}


class Slotted:
    __slots__ = ("n",)
    __match_args__ = ("n",)


nested, listed, outer, slotted = {"a": {"n": 1}}, [[1]], Outer(), Slotted()
queue, view = deque([1]), types.MappingProxyType(nested)


def put(n):
    """All numbers are n from now on; the objects stay."""
    nested["a"]["n"] = listed[0][0] = outer.inner.n = outer.number = slotted.n = queue[0] = n
    Outer.shared["n"] = n


def in_a_dict(x):
    match nested:
        case {"a": {"n": n}}:
            return x * n


def in_a_view(x):
    match view:
        case {"a": {"n": n}, **rest}:
            return x * n + len(rest)


def in_a_list(x):
    match listed:
        case [[n], *_]:
            return x * n


def in_a_deque(x):
    match queue:
        case [n]:
            return x * n


def in_an_object(x):
    match outer:
        case Outer(inner=Inner(n=n)):
            return x * n


def by_place(x):
    match [slotted, 3]:
        case [Slotted(n), _]:
            return x * n


def compared(x):
    match {"k": [outer, nested]}:
        case {"k": [Outer(number=2.0), _]}:
            return x
        case {"k": [Outer(), {"a": {"n": 3.5}}]}:
            return x * 7
        case _:
            return x * 9


def in_a_class(x):
    match outer:
        case Outer(shared={"n": n}) as found:
            return x * n, found is outer


def by_property(x):
    match outer:
        case Outer(made=2.0):
            return x
        case Outer(made=n):
            return x * n


def alternatives(x):
    match slotted:
        case Inner(n=n) | Slotted(n=n):
            return x * n


FUNCTIONS = [in_a_dict, in_a_view, in_a_list, in_a_deque, in_an_object, by_place, compared,
             in_a_class, by_property, alternatives]  # fmt: skip


@ways
@pytest.mark.parametrize("numbers", [(1, 2, 5, 1), (1.0, 2.0, 3.5, 5.0, 2.0)])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_what_is_looked_at_changes(way, f, numbers):
    follows(way, f, put, numbers, lt.arange(3.0))


def in_what_a_property_makes(x):
    match outer:
        case Outer(box={"n": n}):
            return x * n


def test_of_what_code_makes():
    put(1)
    follows(lt.script, in_what_a_property_makes, put, (1, 2.0, 3.5), lt.ones(2))
    with pytest.raises(lt.TraceError, match=r"takes apart Outer\.box.* within another pattern"):
        lt.trace(in_what_a_property_makes)(lt.ones(2))


@ways
def test_a_name_is_added_and_taken_away(way):
    def f(x):
        match outer:
            case Outer(extra=n):
                return x * n
        return x

    def toggle(there):
        vars(outer).pop("extra", None)
        if there:
            outer.extra = there

    follows(way, f, toggle, (0, 2.0, 0, 3.0, 4.0), lt.ones(2))
    toggle(0)


def test_the_class_of_a_number_in_a_dict():
    def f(x, d):
        match d:
            case {"n": int(n)}:
                return x * n
        return x

    def g(x, numbers):
        match numbers:
            case [int(n), *_]:
                return x * n
        return x

    captured, other = lt.trace(f), lt.trace(g)
    same(captured(lt.ones(2), {"n": 3}), lt.ones(2) * 3)
    for n in (4, 5, 6):
        same(other(lt.ones(2), [n, 1]), lt.ones(2) * n)
        try:
            same(captured(lt.ones(2), {"n": n}), lt.ones(2) * n)
        except lt.TraceError as e:
            assert "asks for the class of a number of the program" in str(e)
