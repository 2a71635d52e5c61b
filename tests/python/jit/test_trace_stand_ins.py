"""What a trace puts where its floats and arrays are may not show: not to code that asks for a type,
not to code in C, not to other threads."""

import fractions
import json
import pickle
import threading
from decimal import Decimal

import numpy as np
import pytest

import lathe as lt
from lathe import nn, optim


def same(a, b):
    return a.dtype == b.dtype and a.numpy().tobytes() == b.numpy().tobytes()


@pytest.fixture(autouse=True)
def no_compiler():
    """What is compared here does not depend on the engine, and LLVM takes its time."""
    lt.set_flag("engine", "simd")
    yield
    lt.set_flag("engine", "auto")


X = lt.tensor([[0.5, -1.25, 3.0], [0.1, 2.0, -0.7]])
S = {"s": 1.0, "other": 1.0}
VALUES = [0.5, 1.5, -2.0, 0.0, 1.5]
CAPTURES = {"trace": lt.trace, "script": lt.script}


@pytest.fixture(params=CAPTURES)
def capture(request):
    return CAPTURES[request.param]


def check(function, capture, values=VALUES):
    """Eager's bits, or eager's error, for each value of S['s']."""
    traced = capture(function)
    for v in values:
        S["s"] = v
        expected = function(X)
        for _ in range(2):
            assert same(traced(X), expected), v
        assert type(S["s"]) is float
    return traced


# ── code that asks for a type ───────────────────────────────────────────────────────────────────

ask = type


def is_float(v, kind=type):
    return kind(v) is float


class Asker:
    @staticmethod
    def of(v):
        return type(v) is float

    def by_name(self, v):
        return type(v).__name__ == "float"


asker = Asker()


def by_name(x):
    return x * (2 if type(S["s"]) is float else 3)


def by_alias(x):
    return x * (2 if ask(S["s"]) is float else 3)


def by_default(x):
    return x * (2 if is_float(S["s"]) else 3)


def by_look_up(x):
    return x * {float: 2}.get(type(S["s"]), 3)


def by_several(x):
    return x * (2 if list(map(type, (S["s"], 1))) == [float, int] else 3)


def by_method(x):
    return x * (2 if asker.by_name(S["s"]) and Asker.of(S["s"]) else 3)


def by_inner(x):
    return x * sum(2 if type(v) is float else 3 for v in [S["s"]])


def by_class(x):
    return x * (2 if S["s"].__class__ is float and isinstance(S["s"], float) else 3)


ASKING = [by_name, by_alias, by_default, by_look_up, by_several, by_method, by_inner, by_class]


@pytest.mark.parametrize("function", ASKING, ids=lambda f: f.__name__)
def test_the_type_of_a_float(function, capture):
    check(function, capture)


def test_the_type_of_an_argument(capture):
    def function(x, v):
        return x * (v if type(v) is float else 3)

    f = capture(function)
    for v in VALUES:
        assert same(f(X, v), X * v)


def test_the_type_of_an_array(capture):
    holder = {}

    def function(x):
        return x + holder["a"] * (2 if type(holder["a"]).__module__ == "numpy" else 3)

    f = capture(function)
    for v in VALUES:
        holder["a"] = np.full((2, 3), v, np.float32)
        assert same(f(X), X + holder["a"] * 2)


def test_the_type_of_an_optimizers_setting(capture):
    opt = optim.SGD([lt.ones(3).requires_grad_()], lr=0.5)

    def function(x):
        return x * (2 if type(opt.param_groups[0]["lr"]) is float else 3)

    f = capture(function)
    for v in (0.5, 0.25, 0.125):
        opt.param_groups[0]["lr"] = v
        assert same(f(X), X * 2)


def test_explain_says_who_asks():
    f = check(by_name, lt.trace)
    line = by_name.__code__.co_firstlineno + 1
    assert f"test_trace_stand_ins.py:{line}" in f.explain(verbose=True), f.explain(verbose=True)


class Net(nn.Module):
    """As people write them: with a method that names its own class."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.temperature = 1.0

    def forward(self, x):
        return self.layer(x) / self.temperature

    def extra_repr(self):
        return f"{type(self).__name__} {self.temperature}"


@pytest.mark.parametrize("asks", [False, True])
def test_a_schedule_beside_code_that_asks_keeps_its_inputs(asks):
    """type(self) does not count, nor do settings that only Lathe's own optimizer looks at."""

    def flat(values):
        return [v for v in values if type(v) is not dict]

    def training(mark):
        lt.manual_seed(3)
        model = Net()
        opt = optim.Adam(model.parameters(), lr=0.05)
        x, y = lt.randn(8, 3), lt.randint(0, 2, (8,))

        def step(x, y):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            return loss

        run, losses = mark((lambda x, y: flat([step(x, y)])[0]) if asks else step), []
        for i in range(12):
            opt.param_groups[0]["lr"] = 0.05 / (i + 1)
            if not asks:
                model.temperature = 1 + 0.5**i
            losses.append(run(x, y).item().hex())
        return losses, run

    expected, _ = training(lambda f: f)
    losses, run = training(lt.trace)
    assert losses == expected
    assert run.counts["traces"] <= 3, run.counts


# ── code in C, which takes floats only ──────────────────────────────────────────────────────────

TAKES_FLOATS = {
    "json": lambda v: len(json.dumps(v)),
    "decimal": lambda v: float(Decimal(v) * 2),
    "fraction": lambda v: float(fractions.Fraction(v)),
    "unbound": lambda v: float.__add__(v, 1),
    "complex": lambda v: abs(v + 1j),
    "complex operators": lambda v: abs((1j + v) * v - v / (2 + 1j) + (1j - v) / 3 * v),
    "complex power": lambda v: abs((v + 1) ** (1 + 1j)) + abs((1 + 1j) ** v),
    "complex equals": lambda v: 2 if v == 1.5 + 0j else 3,
    "pickle": lambda v: len(pickle.dumps(v)),
    "nested": lambda v: len(json.dumps({"v": [v, 2]})),
}


@pytest.mark.parametrize("name", TAKES_FLOATS)
def test_what_takes_floats_only(name, capture):
    operation = TAKES_FLOATS[name]
    check(lambda x: x * operation(S["s"]), capture)


def test_what_takes_floats_only_and_optimizers_settings(capture):
    opt = optim.SGD([lt.ones(3).requires_grad_()], lr=0.5)

    def function(x):
        return x * len(json.dumps(opt.param_groups[0]["lr"]))

    f = capture(function)
    for v in (0.5, 0.25, 0.125, 0.25):
        opt.param_groups[0]["lr"] = v
        assert same(f(X), function(X))


def test_what_takes_arrays_only(capture):
    holder = {}
    operations = [
        lambda x: x + len(bytes(memoryview(holder["a"]))),
        lambda x: x * float(memoryview(holder["a"])[0]),
        lambda x: x * holder["a"].__array_interface__["shape"][0],
    ]
    for operation in operations:
        f = capture(operation)
        for v in VALUES:
            holder["a"] = np.full(3, v, np.float32)
            assert same(f(X), operation(X))


def test_in_a_branch_that_data_decides():
    def function(x):
        if x.sum() > 0:
            x = x * len(json.dumps(S["s"]))
        return x

    check(function, lt.script)


def test_one_that_is_raised_on_and_wrapped():
    def dumps(v):
        try:
            return json.dumps(v)
        except TypeError as problem:
            raise RuntimeError("cannot write it") from problem

    check(lambda x: x * len(dumps(S["s"])), lt.trace)


def test_one_inside_a_result():
    class Held:
        def __init__(self, value):
            self.value = value

    f = lt.trace(lambda x: (x * 2, Held(S["s"]), {S["s"]}))
    for v in VALUES:
        S["s"] = v
        y, held, values = f(X)
        assert same(y, X * 2) and type(held.value) is float and held.value == v and values == {v}


def test_after_other_sizes():
    def function(x):
        return x * (len(json.dumps(S["s"])) if x.shape[0] > 2 else S["s"])

    f = lt.trace(function)
    for v in VALUES:
        S["s"] = v
        for rows in (1, 2, 4, 3, 5):
            x = lt.randn(rows, 3)
            assert same(f(x), function(x))


def test_an_error_of_the_users_own_is_the_users_and_changes_no_inputs(capture):
    def function(x):
        if x.shape[0] == 1:
            return x * (S["s"] + "text")
        return x * S["s"]

    f = capture(function)
    for v in (0.5, 1.5):
        S["s"] = v
        assert same(f(X), X * v)
    with pytest.raises(TypeError, match="unsupported operand.*'float' and 'str'"):
        f(lt.ones(1, 3))
    traces = f.counts["traces"]
    for v in (2.5, 3.5):  # it is an input as before
        S["s"] = v
        assert same(f(X), X * v)
    assert f.counts["traces"] == traces


def test_what_the_first_of_two_captures_did_is_undone():
    history = []

    def function(x):
        history.append(1.0)
        return x * len(json.dumps(S["s"]))

    f = lt.trace(function)
    for n, v in enumerate((0.5, 1.5, 2.5)):
        S["s"] = v
        assert same(f(X), X * 3) and history == [1.0] * (n + 1)


def test_random_numbers_after_two_captures():
    def function(x):
        return x + lt.rand(2, 3) * len(json.dumps(S["s"]))

    f = lt.trace(function)
    for v in VALUES:
        S["s"] = v
        lt.manual_seed(7)
        expected = [function(X), function(X)]
        lt.manual_seed(7)
        assert all(same(f(X), e) for e in expected)


# ── other threads ───────────────────────────────────────────────────────────────────────────────


def test_a_reader_beside_a_long_capture():
    stop, errors, reads = [], [], [0]

    def reader():
        while not stop:
            try:
                assert 0.4 < S["s"] * 2 < 100 and f"{S['s']:.2f}" and (X * S["s"]) is not None
                reads[0] += 1
            except BaseException as error:
                errors.append(error)
                return

    def function(x):
        for _ in range(300):
            x = x * S["s"] + 1
        return x

    thread = threading.Thread(target=reader)
    thread.start()
    try:
        for n in range(4):
            f = lt.trace(function)
            for v in (0.5, 0.75 + n):
                S["s"] = v
                assert same(f(X), function(X))
    finally:
        stop.append(True)
        thread.join()
    assert not errors, errors
    assert reads[0] > 0
