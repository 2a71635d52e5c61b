"""The __dict__ of a class in captured code."""

import pytest
from script_checks import bits, same

import lathe as lt

ways = pytest.mark.parametrize("way", [lt.trace, lt.script])


class Above:
    inherited = 4.0


class C(Above):
    a, b, t, items, table = 1, 2.5, lt.ones(2), [1, 2], {"k": [1.5]}

    def method(self):
        return 3

    @staticmethod
    def alone():
        return 4

    @classmethod
    def of_class(cls):
        return cls.a

    @property
    def shown(self):
        return self.a


thing = C()
START = dict(vars(C))
CHANGES = {
    "integer": lambda: setattr(C, "a", 7),
    "again": lambda: setattr(C, "a", 8),
    "float": lambda: setattr(C, "b", 3.5),
    "float again": lambda: setattr(C, "b", 4.5),
    "its class": lambda: setattr(C, "a", 8.0),
    "tensor": lambda: setattr(C, "t", lt.ones(2) * 3),
    "elements": lambda: C.t.mul_(2.0),
    "list": lambda: setattr(C, "items", [5]),
    "item": lambda: C.items.append(9),
    "inside": lambda: C.table["k"].append(2.5),
    "added": lambda: setattr(C, "more", 9),
    "above": lambda: setattr(Above, "more", 10),
    "taken away": lambda: delattr(C, "more"),
    "order": lambda: (delattr(C, "a"), setattr(C, "a", 8)),
    "method": lambda: setattr(C, "method", lambda self: 30),
    "property": lambda: setattr(C, "shown", property(lambda self: 60)),
    "static": lambda: setattr(C, "alone", staticmethod(lambda: 40)),
}


@pytest.fixture(autouse=True)
def _as_before():
    yield
    for name in [n for n in vars(C) if n not in START]:
        delattr(C, name)
    for name, value in START.items():
        if name not in ("__dict__", "__weakref__"):
            setattr(C, name, value)
    C.items[:], C.table["k"][:] = [1, 2], [1.5]
    vars(Above).get("more") and delattr(Above, "more")


def total(a=0, b=0, **rest):
    return a + b


def by_key(x):
    return x * C.__dict__["b"] + vars(C)["a"], thing.__class__.__dict__["items"][0]


def by_get(x):
    return x * vars(C).get("more", 7), vars(C).get("b"), vars(C).get("inherited")


def is_there(x):
    return x, "a" in vars(C), "more" in C.__dict__, vars(C).__contains__("more")


def parts(x):
    space = vars(C)
    found = space["alone"].__func__(), space["of_class"].__func__(C), space["method"](thing)
    return x, found, space["shown"].fget(thing)


def plain_items(x):
    return x, [(k, v) for k, v in vars(C).items() if type(v) in (int, float, list, dict)]


def names(x):
    return x, len(vars(C)), list(C.__dict__), sorted(vars(C)), next(iter(C.__dict__))


def values(x):
    return x * sum(v for v in C.__dict__.values() if isinstance(v, (int, float)))


def tensors(x):
    return x * vars(C)["t"], [v * x for v in vars(C).values() if isinstance(v, lt.Tensor)]


def loop(x):
    for name in vars(C):
        if name in ("a", "b"):
            x = x * getattr(C, name)
    return x


def copied(x):
    return x * {**vars(C)}["b"], dict(vars(C))["a"], (vars(C) | {})["a"], total(**C.__dict__)


def compared(x):
    same_table = {"table": vars(C)["table"]} == {"table": {"k": [1.5]}}
    return x, vars(C) == {}, vars(C).keys() & {"a", "more"}, same_table


def as_text(x):
    return x, "%(a)s %(b)s" % vars(C), "{a} {items}".format_map(C.__dict__)  # noqa: UP031


def matched(x):
    match vars(C):
        case {"more": n}:
            return x * n
        case {"a": n, "table": {"k": [m, *_]}}:
            return x * n + m


FUNCTIONS = [by_key, by_get, is_there, parts, plain_items, names, values, tensors, loop, copied,
             compared, as_text, matched]  # fmt: skip


@ways
@pytest.mark.parametrize("f", FUNCTIONS)
def test_changed_between_calls(way, f):
    captured, x = way(f), lt.arange(2.0)
    for change in (lambda: None, *CHANGES.values()):
        change()
        for _ in range(2):
            same(captured(x), f(x))


def test_what_is_not_read_may_change():
    captured = lt.trace(lambda x: x * vars(C)["a"] if "more" not in vars(C) else x)
    same(captured(lt.ones(2)), lt.ones(2))
    C.b, C.items, C.other = 7.0, [3], 1
    captured(lt.ones(2))
    assert captured.counts["traces"] == 1


@ways
def test_set_inside(way):
    def f(x):
        C.n = C.a + 1
        return x * vars(C)["n"], "n" in C.__dict__, vars(C).get("missing")

    def g(x):
        found = len(vars(C)), list(vars(C).values())[1]
        C.a = 5
        return x, found, vars(C)["a"]

    for function in (f, g):
        captured = way(function)
        for k in range(3):
            C.a = k
            same(captured(lt.ones(2)), function(lt.ones(2)))
            C.a = k
            same(captured(lt.ones(2)), function(lt.ones(2)))


def dir_of_an_object(x):
    return x, [n for n in dir(thing) if n[0] != "_"]


def dir_of_a_class(x):
    return x, [n for n in dir(C) if n[0] != "_"]


def dir_of_what_is_made(x):
    made = C()
    made.own = 1
    return x, [n for n in dir(made) if n[0] != "_"]


@ways
@pytest.mark.parametrize("f", [dir_of_an_object, dir_of_a_class, dir_of_what_is_made])
def test_names_by_dir(way, f):
    captured, x = way(f), lt.ones(2)
    changes = [CHANGES[n] for n in ("added", "above", "taken away", "method")]
    for change in (*changes, lambda: setattr(thing, "of_it", 1), lambda: delattr(thing, "of_it")):
        for _ in range(2):
            same(captured(x), f(x))
        change()


def test_a_class_that_the_code_makes():
    def f(x):
        class Local:
            q = 2.0

        Local.r = 3
        return x * vars(Local)["q"], [n for n in vars(Local) if n[0] != "_"]

    same(lt.trace(f)(lt.ones(2)), f(lt.ones(2)))


class Meta(type):
    def __getattr__(cls, name):
        return vars(cls)["named"] + name


class Made(metaclass=Meta):
    named = "of "


def test_a_metaclass_that_reads_it():
    def f(x):
        return x, Made.anything

    captured = lt.trace(f)
    for text in ("of ", "in ", "of "):
        Made.named = text
        assert captured(lt.ones(1))[1] == text + "anything"


def lists_after_a_store(x):
    C.a = 5
    return x, list(vars(C))


def gives_the_view(x):
    return x, vars(C)


class Hidden(type):
    @property
    def __dict__(cls):
        return {"x": 41.0}


class Odd(metaclass=Hidden):
    x = 1.0


def of_its_own(x):
    return x * Odd.__dict__["x"]


@ways
@pytest.mark.parametrize(
    ("f", "problem"),
    [
        (lists_after_a_store, "are looked at, after the traced code has set some"),
        (gives_the_view, "a mappingproxy that the traced code has made leaves it"),
        (of_its_own, "."),
    ],
)
def test_refused(way, f, problem):
    with pytest.raises(lt.TraceError, match=problem):
        way(f)(lt.ones(2))
    assert C.a == 1 and bits(lt.ones(2) * Odd.__dict__["x"]) == bits(lt.ones(2) * 41.0)


@ways
def test_what_a_class_is_derived_from(way):
    class Other:
        inherited = 10.0

    class D(Above):
        pass

    def f(x):
        d = D()
        total = sum(getattr(c, "inherited", 0.0) for c in type(d).__mro__)
        return x * total + D.__bases__[-1].inherited + len(int.__mro__)

    run = way(f)
    for traces, bases in ((1, (Above,)), (2, (Above, Other))):
        D.__bases__ = bases
        for _ in range(2):
            same(run(lt.ones(2)), f(lt.ones(2)))
        assert run.counts["traces"] == traces


@ways
def test_bases_of_a_class_that_is_made_inside(way):
    def f(x):
        D = type("D", (C,), {})
        return x * len(D.__mro__) + len(D.__bases__)

    same(way(f)(lt.ones(2)), f(lt.ones(2)))
