"""More of the language in scripts: match, recursion, comprehensions, getattr with a default."""

import dataclasses

import pytest
from script_checks import check, f32

import lathe as lt


@dataclasses.dataclass
class Point:
    x: object
    y: object


def test_match_on_plain_values():
    def f(x, kind):
        match kind:
            case "double" | "twice":
                return x * 2
            case ("scale", k) if k > 1:
                y = x * k
            case ["sum", *rest]:
                y = x + sum(rest)
            case {"add": n, **others}:
                y = x + n + len(others)
            case Point(x=0, y=b) | Point(b, 0):
                y = x - b
            case None:
                y = x
            case int(n) | float(n):
                y = x / n
            case _:
                y = x * 0
        return y + 1

    kinds = ("double", "twice", ("scale", 3), ("scale", 1), ["sum", 1, 2], {"add": 1, "b": 2},
             Point(0, 2), Point(5, 0), Point(1, 1), None, 4, 0.5, "what")  # fmt: skip
    check(f, *[(f32(1, 2), kind) for kind in kinds])


def test_match_on_what_data_decides():
    def f(x):
        match int(x.sum().to(lt.int64)):
            case 0:
                y = x + 1
            case 1 | 2:
                return x * 5
            case n if n > 8:
                y = x * n
            case _:
                y = x - 1
        return y

    assert check(f, *[(f32(n, 0),) for n in (0, 1, 2, 3, 9)]).counts["traces"] == 1


def test_recursion():
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    def tree(node, x):
        if node is None:
            return x * 0
        left, value, right = node
        t = tree(left, x) + value * tree(right, x + 1)
        return t + x if t.sum() > 2 else t - x

    def f(x, n, node):
        def down(x, k):
            return x if k == 0 else down(x * 1.5 if x.sum() > 0 else x + 1, k - 1)

        return down(x, n) + factorial(n), tree(node, x)

    node = ((None, 2, None), 3, ((None, 1, None), 4, None))
    check(f, (f32(1, 2), 3, node), (f32(-1, 2), 5, None))
    assert lt.script(lambda x: deep(x, 90))(f32(1)).item() == 91


def deep(x, n):
    return x if n == 0 else deep(x + 1, n - 1)


def endless(x):
    return endless(x + 1)


@pytest.mark.parametrize("f", [endless, lambda x: deep(x, 500)])
def test_recursion_without_end_names_the_function(f):
    with pytest.raises(lt.ScriptError, match=r"(endless|deep)\(\) is called too deep") as caught:
        lt.script(f)(f32(1))
    assert "test_script_language.py" in str(caught.value)


def test_attributes_by_name_with_a_default():
    point = Point(2.0, 3.0)

    def f(x, name):
        return x * getattr(point, name, 7.0)

    check(f, (f32(1), "x"), (f32(1), "y"), (f32(1), "z"))


def test_module_lists_and_comprehensions():
    layers = lt.nn.ModuleList([lt.nn.Linear(2, 2) for _ in range(3)]).requires_grad_(False)

    def f(x):
        seen = []
        for layer in layers:
            x = layer(x)
            if x.sum() > 0:
                x = x.relu()
            seen.append(x)
        tops = [t.max() if t.sum() > 1 else t.min() for t in seen]
        return {i: t * 2 for i, t in enumerate(tops)}, [a + b for a in seen for b in seen[:2]]

    check(f, (f32(1, 2),), (f32(-3, 1),))


def test_default_arguments_are_those_of_the_definition():
    def functions(x):
        made = []
        for i in range(3):
            made.append(lambda z, i=i: z * i)
        k = 1
        scaled = lambda z, k=k: z * k  # noqa: E731
        k = 10

        def grown(v, into=[]):  # noqa: B006
            into.append(v)
            return len(into)

        return [f(x) for f in made], scaled(x), x * grown(k) + grown(k)

    x = lt.tensor([2.0])
    rows, scaled, counted = lt.script(functions)(x)
    assert [r.item() for r in rows] == [0, 2, 4]
    assert (scaled.item(), counted.item()) == (2, 4)


def test_functions_made_in_a_comprehension_read_its_variable():
    def functions(x):
        i = 7
        made = [lambda z: z * i for i in range(3)]  # noqa: B023
        at_once = [(lambda z: z * i)(x) for i in range(3)]
        return [f(x) for f in made], at_once, x * i

    x = lt.tensor([2.0])
    late, at_once, after = lt.script(functions)(x)
    assert [y.item() for y in late] == [4, 4, 4]
    assert [y.item() for y in at_once] == [0, 2, 4]
    assert after.item() == 14


def test_private_names_are_refused():
    class Counted:
        def __init__(self):
            self.__n = 0

        def step(self, x):
            self.__n = len(x)
            return x * 2

    with pytest.raises(lt.ScriptError, match="a private name"):
        lt.script(Counted().step)(lt.ones(2))
