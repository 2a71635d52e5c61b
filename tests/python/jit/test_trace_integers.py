"""Integers that a traced function reads: constants at first, inputs from the first change on."""

import collections
import copy
import math

import pytest

import lathe as lt

nn = lt.nn
X = lt.tensor([[1.5, -2.25], [0.1, 7.0]])
VALUES = [0, 1, 2, 3, 7, -5, 100, 12345, -(2**29), 2**30, 2**31, 2**70, 5]
count = 0


class State:
    step = 0
    shared = 0


def same(a, b):
    """The same in type, order and bits, whatever is nested in what."""
    if isinstance(a, lt.Tensor):
        return a.dtype == b.dtype and a.numpy().tobytes() == b.numpy().tobytes()
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) is dict:
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and (a == b or a != a) and str(a) == str(b)


ARITHMETIC = {
    "sum": lambda n: (n + 1, 1 + n, n - 3, 3 - n, n + n, n + True),
    "product": lambda n: (n * 3, -2 * n, n * n, n * n * n, n * 10**18),
    "beyond 64 bits": lambda n: (n + 2**70, n * 2**62, 2**63 - n, n < 2**70, n == 2**70),
    "whole quotient": lambda n: (
        n // 3,
        n // -3,
        n % 3,
        n % -3,
        (n * 2 + 1) // 4,
        7 // (n * n + 1),
    ),
    "quotient": lambda n: (n / 3, n / 2**60, 1 / (n * n + 1), (n + 1) / 7 * 0.1, n / 0.5),
    "beside floats": lambda n: (n + 0.5, 0.5 - n, n * 0.1, 1e300 * n, n < 2.5, n == 2.0),
    "power": lambda n: (n**2, 2 ** (n % 5), 0.9 ** (n % 11)),
    "sign": lambda n: (-n, +n, abs(n), ~n),
    "bits": lambda n: (n & 6, n | 1, n ^ 3, (n % 7) << 2, n >> 1),
    "compared": lambda n: (n < 3, n <= 3, n > 3, n >= 3, n == 3, n != 3, bool(n), not n),
    "least": lambda n: (min(n, 3), max(n, 3, 5), sum([n, 1]), sorted([n, 2])),
    "text": lambda n: (f"{n:05d}", str(n), repr(n), f"{n}{n:x}", ",".join([str(n)])),
    "whole": lambda n: (int(n), round(n), divmod(n, 7), math.gcd(n, 12), n.bit_length()),
    "real": lambda n: (float(n), math.sqrt(n * n + 1.0), complex(n, 1)),
    "type": lambda n: (isinstance(n, int), type(n) is int, isinstance(n, bool), type(n).__name__),
    "index": lambda n: ([10, 20, 30][n % 3], "abc"[n % 3], (1, 2, 3)[: n % 3], list(range(n % 4))),
    "key": lambda n: ({n: 1}, {1: "a", 3: "b"}.get(n), n in {1, 2}, n in (1, 2), {n % 2, 5}),
    "copied": lambda n: (copy.copy(n), copy.deepcopy([n])),
    "divisor": lambda n: 10 // n if n else 0,
    "chosen": lambda n: "even" if n % 2 == 0 else "odd",
    "repeated": lambda n: ([0] * (n % 3), "x" * (n % 3)),
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_is_pythons(name):
    f = ARITHMETIC[name]
    state = State()
    traced = lt.trace(lambda x: (f(state.step), x * 2))
    for n in VALUES:
        state.step = n
        assert same(traced(X), (f(n), X * 2)), n
        assert same(traced(X), (f(n), X * 2)), n


OPS = {
    "scalar": lambda x, n: (x + n, x * n, x / (n + 0.5), n - x, x // 3 + n),
    "of integers": lambda x, n: (x.to(lt.int64) * n, x.to(lt.int64) + n, x.to(lt.int32) - n % 9),
    "half": lambda x, n: (x.to(lt.float16) * (n % 100), (x.to(lt.bfloat16) + n % 9).float()),
    "power": lambda x, n: x.abs() ** (n % 4),
    "row": lambda x, n: x[n % 2],
    "axis": lambda x, n: x.sum(dim=n % 2),
    "shape": lambda x, n: x.reshape(1 + n % 2, -1).flatten(),
    "made": lambda x, n: (lt.full([2], n), lt.tensor(n), lt.arange(n % 5)),
    "decided": lambda x, n: x + 1 if n > 3 else x - 1,
    "unrolled": lambda x, n: sum([x] * (n % 4), x),
}


@pytest.mark.parametrize("name", OPS)
def test_beside_tensors(name):
    f = OPS[name]
    traced = lt.trace(f)
    for n in [0, 1, 2, 3, -7, 10, 2**24 + 1, 2**29 + 1, 5]:
        assert same(traced(X, n), f(X, n)), n


def test_one_trace_for_a_counter_wherever_it_is():
    def with_attribute():
        state = State()

        def step(x):
            state.step += 1
            return x * state.step

        return step

    def with_cell():
        n = 0

        def step(x):
            nonlocal n
            n += 1
            return x * n + n

        return step

    def with_dict():
        d = collections.OrderedDict(n=0)

        def step(x):
            d["n"] += 1
            d["twice"] = 2 * d["n"]
            return x / d["n"] + d["twice"]

        return step

    def with_class():
        class Counter:
            n = 0

        def step(x):
            Counter.n += 1
            return x + Counter.n, Counter().n

        return step

    def with_log():
        log = []

        def step(x):
            log.append(len(log))
            return x, list(log)[-1]

        return step

    for make in (with_attribute, with_cell, with_dict, with_class):
        traced, eager = lt.trace(make()), make()
        for _ in range(20):
            assert same(traced(X), eager(X)), make
        assert traced.counts["traces"] <= 3, make  # of the first one, the class has it at first
    traced, eager = lt.trace(with_log()), with_log()
    for _ in range(5):
        assert same(traced(X), eager(X))


def by_global(x):
    global count
    count += 2
    y = x + count
    if count > 9:
        count = 3
    return y * count


def test_a_global_that_is_written():
    global count
    count, expected = 0, []
    for _ in range(20):
        expected.append((by_global(X), count))
    count, traced = 0, lt.trace(by_global)
    for want in expected:
        assert same((traced(X), count), want)
    assert traced.counts["traces"] <= 4


def test_a_literal_that_equals_what_was_there():
    state = State()
    n = 3

    def by_attribute(x):
        before = state.step
        state.step = 5
        return x * state.step + before

    def by_cell(x):
        nonlocal n
        before, n = n, 5
        return x * n + before

    def by_dict(x):
        d = state.__dict__
        before = d["step"]
        d["step"] = 5
        return x * d["step"] + before

    for f in (by_attribute, by_cell, by_dict):
        traced = lt.trace(f)
        for value in (3, 4, 5, 6, 5, 5, 7):
            state.step = n = value
            assert same(traced(X), X * 5 + value), (f, value)
            assert (n if f is by_cell else state.step) == 5


def test_what_is_stored_is_an_int():
    state = State()
    state.step = 1

    def step(x):
        state.step = state.step * 2 + 1
        state.half, state.rest, state.log = state.step // 2, state.step / 3, [state.step]
        return x

    traced, was = lt.trace(step), 1
    for _ in range(6):
        traced(X)
        was = was * 2 + 1
        got = (state.step, state.half, state.rest, state.log)
        assert same(got, (was, was // 2, was / 3, [was]))
    assert traced.counts["traces"] == 1


def test_a_schedule_trains_as_in_eager():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(lt.ones([2, 2]))
            self.step = 0

        def forward(self, x):
            self.step += 1
            rate = 0.1 * min(1.0, self.step / 10) / (1 + self.step)
            return (x @ self.w * rate).sum()

    a, b = Model(), Model()
    traced = lt.trace(a)
    for _ in range(15):
        traced(X).backward()
        b(X).backward()
        assert same(a.w.grad, b.w.grad) and a.step == b.step
    assert traced.counts["traces"] <= 3 and traced.counts["node_by_node"] == 0


def test_booleans_are_no_integers():
    state = State()
    state.step = 1
    traced = lt.trace(lambda x: (x + 1, state.step))
    for value in (1, True, 2, False, 0, 1):
        state.step = value
        assert same(traced(X), (X + 1, value))


def test_an_error_of_the_division_is_pythons():
    state = State()
    traced = lt.trace(lambda x: x * (10 // state.step))
    for n in (1, 2, 5):
        state.step = n
        assert same(traced(X), X * (10 // n))
    state.step = 0
    with pytest.raises(ZeroDivisionError):
        traced(X)
    state.step = 3
    assert same(traced(X), X * 3)


def test_what_a_guard_about_an_integer_says():
    state = State()
    traced = lt.trace(lambda x: x * state.step)
    for state.step in (1, 2, 3):
        traced(X)
    assert any(text.endswith(".step is an int") for text in traced.guards()[0])
    assert traced.counts["programs"] == 1


@pytest.mark.parametrize("mode", [lt.trace, lt.script])
def test_the_class_of_a_size_is_int(mode):
    def f(x, scale):
        n = x.shape[0]
        kinds = (n.__class__, type(n), getattr(n, "__" + "class__"), (n + 1).__class__)
        names = [kind.__name__ for kind in kinds]
        same = all(kind is int for kind in kinds) and scale.__class__ is float
        return x * (2 if same and isinstance(n, int) else 3), names

    program = mode(f)
    for size, scale in ((3, 1.5), (4, 2.5), (5, 3.5), (6, 0.5)):
        x = lt.ones(size)
        got, names = program(x, scale)
        assert got.tolist() == [2] * size and names == ["int"] * 4
    assert program.counts["traces"] == 2  # from the second on for every scale


@pytest.mark.parametrize("mode", [lt.trace, lt.script])
def test_class_patterns_know_sizes(mode):
    def f(x, scale):
        match x.shape[0]:
            case str():
                x = x * 5
            case int(n):
                x = x * n
        match x.shape:
            case (int(n), *_):
                x = x + n
        match scale:
            case int():
                x = x * 7
            case float():
                x = x * 2
        return x

    program = mode(f)
    for size, scale in ((3, 1.5), (4, 2.5), (5, 3.5), (3, 4)):
        x = lt.ones(size)
        assert program(x, scale).tolist() == f(x, scale).tolist()
