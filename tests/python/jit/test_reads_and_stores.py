"""What a capture reads and changes besides tensors: each function is called as it is and captured,
with what it reads changed in between, and gives and leaves the same."""

import collections
import dataclasses
import sys
import types

import pytest

import lathe as lt

X = lt.ones(2)
MODES = (lt.trace, lt.script)


def check(capture, make, change, most_traces, calls=5):
    """make() gives (state, function of it and a tensor); change(state, i) comes before call i."""
    (state, step), (eager, plain) = make(), make()
    captured = capture(step)
    for i in range(calls):
        change(state, i), change(eager, i)
        assert captured(state, X).tolist() == plain(eager, X).tolist(), i
    assert captured.counts["traces"] <= most_traces
    return state, eager


@pytest.mark.parametrize("capture", MODES)
def test_a_number_imported_inside(capture):
    def step(_, x):
        from settings_of_reads import SCALE

        return x * SCALE

    def change(module, i):
        module.SCALE = 0.5 * i

    module = sys.modules["settings_of_reads"] = types.ModuleType("settings_of_reads")
    try:
        check(capture, lambda: (module, step), change, 5)
    finally:
        del sys.modules["settings_of_reads"]


@pytest.mark.parametrize("capture", MODES)
def test_an_import_in_a_script_binds_what_python_binds(capture):
    def step(_, x):
        import os.path
        import os.path as paths
        from math import pi as number

        return x * number if paths is os.path else x

    check(capture, lambda: (None, step), lambda state, i: None, 1)


@dataclasses.dataclass
class Compared:
    a: float
    more: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    a: float


@dataclasses.dataclass
class Slotted:
    __slots__ = ("a",)
    a: float


QUESTIONS = {
    "equal": lambda s: s.one == Compared(1.0, [1.0]),
    "in a list": lambda s: s.one in [Compared(1.0, [1.0])],
    "hash": lambda s: s.frozen in {Frozen(1.0)},
    "order": lambda s: s.frozen < Frozen(1.5),
    "largest": lambda s: max(s.frozen, Frozen(1.5)).a == 1.5,
    "slots": lambda s: s.slotted == Slotted(1.0),
    "contained": lambda s: [s.one] == [Compared(1.0, [1.0])],
}


@pytest.mark.parametrize("capture", MODES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_methods_of_dataclasses_read_fields(question, capture):
    ask = QUESTIONS[question]

    def make():
        return types.SimpleNamespace(), lambda s, x: x * (3 if ask(s) else 5)

    def change(s, i):
        s.one, s.frozen, s.slotted = Compared(1.0 + i % 2, [1.0]), Frozen(1.0 + i % 2), Slotted(i)

    check(capture, make, change, 5)

    def change_within(s, i):
        if i == 0:
            change(s, i)
        s.one.more[0] = 1.0 + i % 2
        s.slotted.a = 1.0 + i % 2

    check(capture, make, change_within, 5)


@pytest.mark.parametrize("capture", MODES)
def test_the_order_of_an_ordered_dict(capture):
    def step(d, x):
        for i, k in enumerate(d):
            x = x + i * d[k]
        return x

    def change(d, i):
        d.move_to_end(list(d)[i % 2])

    check(capture, lambda: (collections.OrderedDict(a=1, b=2, c=4), step), change, 5)


class Derived(collections.OrderedDict):
    pass


@pytest.mark.parametrize("capture", MODES)
@pytest.mark.parametrize("cls", [collections.OrderedDict, Derived])
def test_changes_of_an_ordered_dict(cls, capture):
    def step(d, x):
        d["n"] += 1
        d[str(d["m"])] = 2
        d.move_to_end("n")
        del d["m"]
        d["m"] = 7
        return x / d["n"]

    state, eager = check(capture, lambda: (cls(n=0, m=1), step), lambda d, i: None, 5)
    assert list(state.items()) == list(eager.items()) and len(list(state)) == len(state)


# ── functions made anew ─────────────────────────────────────────────────────────────────────────


def scaled_by(k):
    return lambda t: t * k


def holder():
    return types.SimpleNamespace(f=None)


@pytest.mark.parametrize("capture", MODES)
def test_functions_made_anew_of_one_code(capture):
    def change(s, i):
        s.f = scaled_by(0.5 + i)

    check(capture, lambda: (holder(), lambda s, x: s.f(x)), change, 3, calls=8)


@pytest.mark.parametrize("capture", MODES)
def test_functions_made_anew_of_several_codes(capture):
    def change(s, i):
        s.f = scaled_by(2.0) if i % 2 else (lambda t, plus=float(i): t + plus)

    check(capture, lambda: (holder(), lambda s, x: s.f(x)), change, 6, calls=8)


@pytest.mark.parametrize("capture", MODES)
@pytest.mark.parametrize("ask", [
    lambda s: s.f is s.g, lambda s: s.f is not s.g, lambda s: s.f == s.g, lambda s: s.f in [s.g],
    lambda s: s.f in {s.g: 1}, lambda s: [s.f] == [s.g], lambda s: [s.g].count(s.f) > 0,
])  # fmt: skip
def test_which_function_it_is(ask, capture):
    """Where the code asks that, one of the same code does not stand for another."""

    def change(s, i):
        s.f = scaled_by(2.0)
        s.g = s.f if i in (0, 3, 4) else scaled_by(2.0)

    def step(s, x):
        return s.f(x) + (1 if ask(s) else 0)

    check(capture, lambda: (holder(), step), change, 8, calls=8)


@pytest.mark.parametrize("capture", MODES)
def test_a_function_made_anew_that_counts(capture):
    def counting():
        n = 0

        def f(t):
            nonlocal n
            n += 1
            return t * n

        return f

    def change(s, i):
        if i % 3 == 0:
            s.f = counting()

    check(lt.trace, lambda: (holder(), lambda s, x: s.f(x)), change, 3, calls=8)


# ── numbers that the code changes ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("capture", MODES)
def test_a_counter_is_an_input_of_the_first_trace(capture):
    def step(s, x):
        s.n += 1
        s.rate = s.rate * 0.5
        return x * s.n + s.rate

    check(capture, lambda: (types.SimpleNamespace(n=0, rate=1.0), step), lambda s, i: None, 1)


@pytest.mark.parametrize("capture", MODES)
def test_items_of_dicts_are_inputs(capture):
    def step(d, x):
        d["n"] += x.shape[0]
        d["seen"] = d["n"] * 2
        return x * d["n"]

    check(capture, lambda: ({"d": {"n": 0}}, lambda s, x: step(s["d"], x)), lambda s, i: None, 2)


@dataclasses.dataclass
class Progress:
    best: float = 1e9
    bad: int = 0


@pytest.mark.parametrize("capture", MODES)
def test_fields_of_an_argument_that_are_not_read(capture):
    def change(p, i):
        p.best, p.bad = 0.5 * i, i

    check(capture, lambda: (Progress(), lambda p, x: x * 2), change, 1)
    check(capture, lambda: (Progress(), lambda p, x: x * p.bad), change, 2)


@pytest.mark.parametrize("capture", MODES)
def test_powers_of_tensors_by_a_number_that_changes(capture):
    """Those by 2, 3, -1 and -2 have other bits than the op for any power."""
    x = lt.tensor([1.1, -0.7, 3.3e5, 1e-3, 0.9])

    def step(state, _):
        return x ** state["n"]

    state = {"n": 0}
    captured = capture(step)
    for n in (0, 1, 5, 7, 2, 3, -1, -2, 4, 2, 6, 3, -1, 1, -3):
        state["n"] = n
        assert captured(state, X).numpy().tobytes() == (x**n).numpy().tobytes(), n
    assert captured.counts["traces"] <= 6


@pytest.mark.parametrize("capture", MODES)
def test_keys_made_of_numbers_and_texts(capture):
    def step(state, x):
        state["out"][f"layer{x.shape[0]}", state["n"]] = x
        return x * state["factors"][state["n"], (f"{x.shape[0]}",)]

    captured = capture(step)
    for n in (3, 2, 3, 5):
        factors = {(n + 1, (f"{n}",)): 0.5 * n}
        state, x = {"out": {}, "n": n + 1, "factors": factors}, lt.ones(n)
        assert captured(state, x).tolist() == [0.5 * n] * n
        assert list(state["out"]) == [(f"layer{n}", n + 1)]
        assert all(type(part) in (str, int) for part in list(state["out"])[0])
