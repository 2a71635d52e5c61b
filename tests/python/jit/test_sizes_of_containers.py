"""What code asks of whole containers: how many items there are is no read of the items, and a
comparison reads them all."""

import pytest

import lathe as lt

CAPTURES = {"trace": lt.trace, "script": lt.script}
X = lt.arange(3.0)


@pytest.fixture(params=CAPTURES)
def capture(request):
    return CAPTURES[request.param]


def by_len(state):
    def step(x):
        if len(state) == 0:
            state["step"] = 0
        state["step"] += 1
        return x * state["step"]

    return step


def by_truth(state):
    def step(x):
        if not state:
            state["step"] = 0
        state["step"] += 1
        return x * state["step"]

    return step


def by_expression(state):
    def step(x):
        state["step"] = (state["step"] if state else 0) + 1
        return x * state["step"] if bool(state) and state else x

    return step


@pytest.mark.parametrize("make", [by_len, by_truth, by_expression])
def test_a_count_in_a_dict_that_is_asked_whether_it_is_empty(capture, make):
    """As optimizers have it for each parameter."""
    state, wanted = {}, {}
    step, eager = capture(make(state)), make(wanted)
    for call in range(8):
        if call == 5:
            state.clear(), wanted.clear()
        assert step(X).tolist() == eager(X).tolist() and state == wanted
    assert step.counts["traces"] == 2


def test_how_many_there_are_is_a_guard(capture):
    rows, names = [1.0], {"a": 1}
    step = capture(lambda x: x * len(rows) + len(names) if rows else x)
    for _ in range(2):
        for change in (lambda: rows.append(2.0), rows.clear, lambda: names.update(b=2),
                       lambda: rows.extend([1.0, 2.0, 3.0]), lambda: names.pop("a")):  # fmt: skip
            assert step(X).tolist() == (X * len(rows) + len(names) if rows else X).tolist()
            change()
        names["a"] = 1


def test_how_many_there_are_after_a_store(capture):
    rows, names = [], {}

    def step(x):
        rows.append(x)
        names["k"] = x
        return x * len(rows) + len(names) if rows and names else x

    captured = capture(step)
    for n in range(1, 5):
        assert captured(X).tolist() == (X * n + 1).tolist()


HELD = {"list": [1, 2], "dict": {"a": 1}, "tuple": (1, 2), "set": {1, 2}}
COMPARED = {
    "list": lambda x: x * 2 if HELD["list"] == [1, 2] else x,
    "dict": lambda x: x * 2 if HELD["dict"] != {"a": 1} else x,
    "tuple": lambda x: x * 2 if HELD["tuple"] == (1, 2) else x,
    "order": lambda x: x * 2 if HELD["list"] < [1, 3] else x,
    "subset": lambda x: x * 2 if HELD["set"] >= {1} else x,
    "right": lambda x: x * 2 if {"a": 1} == HELD["dict"] else x,  # noqa: SIM300
    "chain": lambda x: x * 2 if [1, 2] == HELD["list"] == [1, 2] else x,
}


@pytest.mark.parametrize("compare", COMPARED.values(), ids=COMPARED)
def test_a_comparison_reads_all(capture, compare):
    captured = capture(compare)

    def change(a, b, c, d):
        HELD["list"][:], HELD["dict"]["a"], HELD["tuple"] = a, b, c
        HELD["set"].clear(), HELD["set"].update(d)

    for values in (([1, 2], 1, (1, 2), {1, 2}), ([1, 2, 5], 4, (3,), {2}),
                   ([9, 2], 1, (1, 2), {1}), ([1, 2], 1, (1, 2), {1, 2})):  # fmt: skip
        change(*values)
        assert captured(X).tolist() == compare(X).tolist()
