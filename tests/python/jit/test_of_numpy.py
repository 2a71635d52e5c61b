"""NumPy in captured code: what its own code reads counts, whoever holds it, and so do its error
state and its print options. Each function gives what it gives as it is, whatever changes."""

import functools
import math
import types

import numpy as np
import pytest

import lathe as lt

X = lt.ones(2)
MODES = (lt.trace, lt.script)


class Gives:
    """Gives an array of its own away when C asks."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Described(Gives):
    __array__ = None

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class State:
    """All that the functions read; change() changes it in place."""

    def __init__(self):
        self.array = np.array([1.5, 2.0])
        self.numbers = {"k": 2.0}
        self.by_name = np.vectorize(self.numbers.get, otypes=[float])
        self.by_rule = np.vectorize(lambda v: v * self.numbers["k"])
        self.by_sine = np.vectorize(math.sin)
        self.partly = np.vectorize(functools.partial(max, self.numbers["k"]))
        self.polynomial = np.polynomial.Polynomial([1.0, 2.0])
        self.older = np.poly1d([1.0, 2.0])
        self.gives, self.described = Gives(self.array), Described(self.array)
        self.rows = Rows([self.array, np.array([0.25, 4.0])])
        self.record = np.dtype([("a", "f4")])
        self.nested = [[self.array], [self.array]]

    def change(self, k):
        self.array[0] = self.numbers["k"] = self.polynomial.coef[0] = self.older.coeffs[0] = k
        self.record = np.dtype([("b", f"f{4 if k < 3 else 8}")])
        self.by_sine.pyfunc = math.sin if k % 2 else math.cos
        self.partly.pyfunc = functools.partial(max, k)


def along_an_axis(s, x):
    return x * np.apply_along_axis(lambda row: row * s.numbers["k"], 0, s.array)


def vectorized_inside(s, x):
    return x * np.vectorize(lambda v: v + s.numbers["k"])(s.array)


def vectorized_method_inside(s, x):
    return x * float(np.vectorize(s.numbers.get)(np.array(["k"]))[0])


def vectorized_method(s, x):
    return x * float(s.by_name(np.array(["k"]))[0])


def vectorized_rule(s, x):
    return x * float(s.by_rule(np.array([3.0]))[0])


def vectorized_c_function(s, x):
    return x * float(s.by_sine(np.array([3.0]))[0])


def vectorized_partial(s, x):
    return x * float(s.partly(np.array([0.5]))[0])


def of_indices(s, x):
    return x * np.fromfunction(lambda i: i + s.numbers["k"], (2,))


def polynomial(s, x):
    return x * float(s.polynomial(2.0))


def older_polynomial(s, x):
    return x * float(s.older(2.0))


def array_given(s, x):
    return x * float(np.sum(s.gives))


def array_described(s, x):
    return x * float(np.asarray(s.described)[0])


def array_given_beside_another(s, x):
    return x * float((np.array([0.5, 0.25]) + s.gives)[0])


def rows_given(s, x):
    return x * lt.tensor(s.rows)[0]


def rows_given_in_a_list(s, x):
    return x * lt.tensor([s.rows, s.rows])[1, 0]


def record_type(s, x):
    return x * np.zeros(2, s.record).dtype.itemsize


def arrays_in_lists(s, x):
    return x * float(np.block(s.nested).sum())


FUNCTIONS = (
    along_an_axis, vectorized_inside, vectorized_method_inside, vectorized_method, vectorized_rule,
    vectorized_c_function, vectorized_partial, of_indices, polynomial, older_polynomial,
    array_given, array_described, array_given_beside_another, rows_given, rows_given_in_a_list,
    record_type, arrays_in_lists,
)  # fmt: skip


@pytest.mark.parametrize("capture", MODES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_numpy_reads(function, capture):
    state, captured = State(), capture(function)
    for k in (2.0, 2.0, 3.0, 5.0, 3.0):
        state.change(k)
        assert captured(state, X).tolist() == function(state, X).tolist(), k
    served = captured.counts
    assert served["calls"] > served["traces"] > 1


def test_a_method_that_writes_is_not_called_by_numpy_at_the_capture_only():
    items = []
    collect = np.vectorize(items.append, otypes=[object])

    def step(x):
        collect(np.array([1.0]))
        return x

    with pytest.raises(lt.TraceError, match=r"list.append .*\n.*\n.*\n  at:  "):
        lt.trace(step)(X)
    assert items == []


TEXTS = {
    "str": lambda a: str(a / 3),
    "repr": lambda a: repr(a / 3),
    "f-string": lambda a: f"{a / 3}",
    "of a list": lambda a: str([a / 3]),
    "percent": lambda a: "%s" % (a / 3),
    "joined": lambda a: ",".join(map(str, [a / 3])),
    "array2string": lambda a: np.array2string(a / 3),
    "the options": lambda a: "x" * np.get_printoptions()["precision"],
}


@pytest.mark.parametrize("capture", MODES)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_print_options(text, capture):
    array = np.array([1.0, 2.0])

    def step(x):
        return x * len(text(array))

    captured = capture(step)
    for precision in (8, 8, 3, 5, 3):
        with np.printoptions(precision=precision):
            assert captured(X).tolist() == step(X).tolist(), precision
    assert captured.counts["traces"] == 3


@pytest.mark.parametrize("capture", MODES)
def test_the_error_state(capture):
    zero = np.array([0.0])

    def step(x):
        try:
            return x * float((1.0 / zero)[0])
        except FloatingPointError:
            return x * 2

    captured = capture(step)
    for divide in ("ignore", "raise", "ignore", "raise"):
        with np.errstate(divide=divide):
            assert captured(X).tolist() == step(X).tolist(), divide
    assert captured.counts["traces"] == 2


def test_what_does_not_reach_numpy_does_not_read_its_state():
    held = types.SimpleNamespace(array=np.array([1.0, 2.0]))

    @lt.trace
    def step(x):
        return x * held.array

    step(X)
    assert "numpy_state" not in str(step.guards())
    with np.printoptions(precision=2):
        step(X)
    assert step.counts["traces"] == 1
