"""Numbers that change, in lists and dicts that a traced function goes through: they become inputs,
as those do that it reads one by one. Python's own rules for what is written meanwhile hold.
"""

from collections import OrderedDict, defaultdict

import pytest

import lathe as lt
from lathe import nn

CALLS = 7


def product(x, numbers):
    for number in numbers:
        x = x * number
    return x


def starred(x, *numbers, **named):
    return product(product(x, numbers), named.values())


def of_items(x, d):
    for _, v in d.items():
        x = x * v
    return x


def of_keys(x, d):
    for key in d:
        x = x * d[key]
    return x


def unpacked(x, values):
    a, *b = values
    return product(x * a, b)


def zipped(x, values):
    for i, (v, k) in enumerate(zip(values, (1, 2))):
        x = x * v * k + i
    return x


OF_DICTS = {
    "items": of_items,
    "values": lambda x, d: product(x, d.values()),
    "keys": of_keys,
    "sum of a generator": lambda x, d: sum(x * v for v in d.values()),
    "comprehension": lambda x, d: sum([x * v for k, v in d.items() if k != "none"]),
    "named": lambda x, d: starred(x, **d),
    "copy": lambda x, d: product(x, {k + "2": v for k, v in d.items()}.values()),
    "sum": lambda x, d: x * sum(d.values()),
    "display": lambda x, d: product(x, {"z": 2.0, **d}.values()),
    "list": lambda x, d: x * list(d.items())[1][1] * max(d.values()),
}
OF_LISTS = {
    "for": product,
    "zip": zipped,
    "unpacked": unpacked,
    "starred": lambda x, values: starred(x, *values),
    "reversed": lambda x, values: product(x, reversed(values)),
    "tuple": lambda x, values: product(x, tuple(values)),
    "sum": lambda x, values: x * sum(values),
    "map": lambda x, values: product(x, map(abs, values)),
}


def both(capture, f, held, change):
    traced, x = capture(lambda x: f(x, held)), lt.ones(3)
    for i in range(CALLS):
        change(i)
        assert lt.equal(traced(x), f(x, held))
    return traced.counts["traces"]


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("name", OF_DICTS)
def test_of_a_dict(name, capture):
    held = {"a": 1.5, "b": 2.5, "c": 1.25}
    assert both(capture, OF_DICTS[name], held, lambda i: held.update(b=2 + i * 0.25)) <= 3


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("name", OF_LISTS)
def test_of_a_list(name, capture):
    held = [1.5, 2.5, 3]

    def change(i):
        held[1] = 2 + i * 0.25
        held[2] = 3 + i

    assert both(capture, OF_LISTS[name], held, change) <= 3


def of_tuples(x, held):
    (a, x0), (b, x1) = held
    return x * a * x0 + b * x1


def of_pairs(x, held):
    for a, (y, b) in held:
        x = x * a + b * y
    return x + held[0][0]


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("f", [of_tuples, of_pairs])
def test_of_tuples_in_a_list(f, capture):
    held, y = [None] * 2, lt.full((3,), 2.0)

    def change(i):
        inner = [(y, 0.5 + i), (y, 2)] if f is of_pairs else [y, y]
        held[:] = [(1.5 + i, inner[0]), (3 * i, inner[1])]

    assert both(capture, f, held, change) <= 3


def of_nested(x, held):
    a, (b, [c, d]) = held["list"]
    for _, (e, f) in held["dict"].items():
        x = x * e + f
    for _, (g, h) in [(1, (2, 3)), *held["pairs"]]:
        x = x * g + h
    for i, [j] in zip(*held["zipped"]):
        x = x * i + j
    return x * a + b * c - d


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("last", range(6))
def test_what_c_takes_apart_inside_is_read(last, capture):
    """A number in the outer one is an input; then another one inside changes."""
    y, inner, deep = lt.ones(3), [4.0, 5.0], [2.0]
    held = {"list": [1.0, (y, inner)], "dict": {"a": (1.0, y), "b": (2.0, y)}}
    held["pairs"], held["zipped"] = [(1.0, (y, 3.0)), (2, (y, 4.0))], [[1.0], [deep]]
    traced = capture(lambda x: of_nested(x, held))
    for i in range(CALLS):
        v = 1 + i / 4
        which = i % 4 if i < 4 else last
        if which == 0:
            held["list"][0] = held["zipped"][0][0] = v
            held["dict"]["c"] = v, y
        elif which == 1:
            held["list"][1] = (y + v, inner)
            held["pairs"][1] = v, (y, v)
        elif which == 2:
            inner[0] = deep[0] = v
        elif which == 3:
            held["dict"]["a"] = (v, y)
        elif which == 4:
            held["pairs"][0] = (1.0, (y, v))
        else:
            inner[1], held["dict"]["b"] = v, (2.0, y + v)
        assert lt.equal(traced(lt.ones(3)), of_nested(lt.ones(3), held))


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_a_tuple_of_numbers_alone_is_one_value(capture):
    def f(x, held):
        a, b = held["pair"]
        for w in held["pair"]:
            x = x * w
        return x * a - b * held["pair"][-1]

    held = {"pair": (1.0, 2.0)}
    assert both(capture, f, held, lambda i: held.update(pair=(1.0 + i / 2, i))) <= CALLS


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_other_keys_and_lengths_are_other_programs(capture):
    held, values, x = {"a": 1.0}, [1.0], lt.ones(2)

    def f(x):
        return of_items(x, held) + len(list(held)) + product(x, values)

    traced = capture(f)
    for i in range(5):
        held["a"] = values[0] = 1 + i / 4
        assert lt.equal(traced(x), f(x))
    for i in range(3):
        held[f"b{i}"] = 2.0
        values.append(0.5)
        assert lt.equal(traced(x), f(x))


class Decaying(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.temperature, self.rates = 1.0, {"a": 1.0, "b": 2.0}

    def forward(self, x):
        return self.layer(x) / self.temperature


def step(model, optimizer, x):
    model.train()
    model.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-model.rates["a"])
    optimizer.step()
    return loss.detach()


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_an_attribute_beside_the_parameters(capture):
    """What looks through a module for its parts meets all its attributes."""
    results = []
    for make in (lambda f: f, capture):
        lt.manual_seed(0)
        model = Decaying()
        optimizer, run = lt.optim.SGD(model.parameters(), lr=0.1), make(step)
        x = lt.ones(3, 2)
        for i in range(CALLS):
            model.temperature, model.rates["a"] = 1 + i / 8, i / 16
            results.append(run(model, optimizer, x))
    for mine, its in zip(results[:CALLS], results[CALLS:]):
        assert lt.equal(mine, its)
    assert run.counts["traces"] <= 4


def grows(x, values):
    for v in values:
        x = x * v
        if len(values) < 4:
            values.append(v + 1)
    del values[2:]
    return x


def halves_later_ones(x, values):
    for i, v in enumerate(values):
        x = x * v
        values[-1] = values[-1] / 2 if i == 0 else values[-1]
    return x


def halves(x, d):
    for key in d:
        d[key] = d[key] / 2
    return product(x, d.values())


def view_from_before(x, d):
    values = d.values()
    d["a"] = 7.0
    return product(x, values)


def values_then_written(x, d):
    for v in d.values():
        x = x * v
        d["b"] = d["b"] + 1
    return x * d["b"]


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("f", [grows, halves_later_ones])
def test_a_list_that_changes_while_it_is_gone_through(f, capture):
    mine, its, x = [1.5, 2.5], [1.5, 2.5], lt.ones(2)
    traced = capture(lambda x: f(x, mine))
    for i in range(CALLS):
        mine[0] = its[0] = 1 + i / 4
        try:
            assert lt.equal(traced(x), f(x, its)) and mine == its
        except lt.ScriptError:
            assert capture is lt.script
            return


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("f", [halves, view_from_before, values_then_written])
def test_a_dict_that_changes_while_it_is_gone_through(f, capture):
    mine, its, x = {"a": 1.5, "b": 2.5}, {"a": 1.5, "b": 2.5}, lt.ones(2)
    traced = capture(lambda x: f(x, mine))
    for i in range(CALLS):
        mine["a"] = its["a"] = 1 + i / 4
        assert lt.equal(traced(x), f(x, its)) and mine == its


def test_what_a_list_holds_is_itself():
    inner, held, x = [1.0], [], lt.ones(2)
    held += [2.0, inner, None]

    def f(x):
        for item in held:
            if item is inner:
                inner[0] = inner[0] + 1
        number, same, nothing = held
        return x * number * same[0], same is inner, nothing is None

    traced = lt.trace(f)
    for i in range(4):
        held[0] = 2 + i / 2
        y, same, nothing = traced(x)
        assert same and nothing and lt.equal(y, x * (2 + i / 2) * (2 + i)) and inner[0] == 2 + i


class Records(dict):
    pass


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("kind", [dict, OrderedDict, defaultdict, Records])
def test_a_count_that_update_writes_is_an_input(capture, kind):
    def make(records):
        def step(x):
            records.update({"loss": x.sum() * records["n"]}, n=records["n"] + 1)
            records.update(other=records["n"])
            return records["loss"] + 1

        return step

    records, wanted = kind(), kind()
    records["n"] = wanted["n"] = 1
    step, eager = capture(make(records)), make(wanted)
    x = lt.arange(3.0)
    for call in range(6):
        if call == 3:
            records["n"] = wanted["n"] = 20
        assert step(x).item() == eager(x).item()
        assert list(records) == list(wanted)
        assert [records["n"], records["other"]] == [wanted["n"], wanted["other"]]
        assert records["loss"].item() == wanted["loss"].item()
    if kind is dict:
        assert step.counts["traces"] <= 2  # the first call finds no loss there
