"""Objects of classes written in Python that traced code makes and is given: containers with
attributes, slots, and both."""

import types
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass

import pytest

import lathe as lt


class Slotted:
    __slots__ = ("a",)


class Half(Slotted):
    """A slot of a base class beside a __dict__."""

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclass
class HalfRecord(Slotted):
    b: object


@dataclass(slots=True)
class Record:
    a: object
    b: object


@dataclass
class Output(OrderedDict):
    """As models of transformers give: each field is an attribute and a key."""

    a: object = None
    b: object = None

    def __post_init__(self):
        for name in ("a", "b"):
            OrderedDict.__setitem__(self, name, getattr(self, name))

    def __setitem__(self, key, value):
        raise AssertionError("not called where a program makes it")


class Named(dict):
    __getattr__ = dict.__getitem__


class Items(list):
    pass


class Pair(tuple):
    pass


class Lists(defaultdict):
    pass


class Queue(deque):
    pass


def filled(x):
    lists = Lists(list)
    lists["a"].append(x + 1)
    lists.note = x * 2
    return lists


def half_record(x):
    made = HalfRecord(x * 2)
    made.a = x + 1
    return made


MADE = {
    "slot and dict": (lambda x: Half(x + 1, x * 2), lambda r: [r.a, r.b]),
    "record and slot": (half_record, lambda r: [r.a, r.b]),
    "slots": (lambda x: Record(x + 1, x * 2), lambda r: [r.a, r.b]),
    "ordered": (lambda x: Output(x + 1, x * 2), lambda r: [r.a, *r.values()]),
    "dict": (lambda x: Named(a=x + 1), lambda r: [r.a]),
    "list": (lambda x: Items([x + 1, x]), list),
    "tuple": (lambda x: Pair([x + 1, x * 2]), list),
    "default": (filled, lambda r: [r["a"][0], r.note, *r["new"]]),
    "queue": (lambda x: Queue([x + 1]), list),
    "namespace": (lambda x: types.SimpleNamespace(a=x + 1), lambda r: [r.a]),
}


@pytest.mark.parametrize("capture", [lt.trace, lt.script], ids=["trace", "script"])
@pytest.mark.parametrize("make, parts", MADE.values(), ids=MADE)
def test_results_have_all_that_eager_ones_have(capture, make, parts):
    captured = capture(make)
    for n in (2, 3):
        x = lt.arange(n).float()
        want, got = make(x), captured(x)
        assert type(got) is type(want)
        assert [t.tolist() for t in parts(got)] == [t.tolist() for t in parts(want)]


def test_what_is_there_twice_is_one_object():
    got = lt.trace(lambda x: Output(x + 1, x * 2))(lt.ones(2))
    assert got.a is got["a"]


def make_half_record(a, b):
    made = HalfRecord(b)
    made.a = a
    return made


GIVEN = {"slots": Record, "ordered": Output, "slot and dict": Half, "both": make_half_record}


@pytest.mark.parametrize("make", GIVEN.values(), ids=GIVEN)
def test_arguments(make):
    traced = lt.trace(lambda s: s.a * 2 + s.b)
    for n in (2, 3, 4, 5):
        x = lt.arange(n).float()
        assert traced(make(x, x + 1)).tolist() == (x * 3 + 1).tolist()
    assert traced.counts["traces"] == 2  # another size is seen once
