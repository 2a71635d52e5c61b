"""Guards that call functions: Python code may run while a call is served, and change what the rows
after it find. It runs before anything of the call is looked at, so the call sees what it has left.
"""

import threading

import numpy as np
import pytest

import lathe as lt


class Key:
    """Its methods run Python code: what `then` is."""

    then = None

    def __hash__(self):
        if self.then is not None:
            self.then()
        return 7

    def __eq__(self, other):
        return self is other


class Holder:
    pass


def replaced(h):
    h.w = lt.full([3], 5.0)


def of_another_size(h):
    h.w.data = lt.full([1], 4.0)


def written(h):
    h.w.fill_(6.0)


def taken_away_and_freed(h):
    h.w = None
    h.w = lt.full([3], 8.0)


def a_leaf(h):
    h.w.requires_grad_(True)


def by_hash(h, key):
    return hash(key) % 4


def by_a_key(h, key):
    return h.table[key]


@pytest.mark.parametrize("change", [replaced, of_another_size, written, taken_away_and_freed,
                                    a_leaf])  # fmt: skip
@pytest.mark.parametrize("ask", [by_hash, by_a_key])
def test_python_code_writes_while_a_call_is_served(change, ask):
    h, key = Holder(), Key()
    h.w, h.table = lt.full([3], 2.0), {key: 3}

    def f(x):
        n = ask(h, key)
        return x * h.w + n

    traced = lt.trace(f)
    x = lt.ones(3)
    for _ in range(4):  # the last ones by a plan
        assert traced(x).tolist() == [5, 5, 5]
    key.then = lambda: change(h)
    got = traced(x)
    key.then = None
    want = f(x)
    assert got.tolist() == want.tolist() and got.requires_grad == want.requires_grad
    assert traced(x).tolist() == want.tolist()


def test_code_of_a_guard_calls_the_function_itself():
    h, key = Holder(), Key()
    h.w = lt.full([3], 2.0)

    def f(x):
        return x * h.w + hash(key) % 4

    traced = lt.trace(f)
    for _ in range(3):
        traced(lt.ones(3))
    inner, key_then = [], []

    def again():
        key.then = None
        inner.append(traced(lt.full([3], 2.0)).tolist())
        key_then.append(1)

    key.then = again
    assert traced(lt.ones(3)).tolist() == [5, 5, 5]
    assert inner == [[7, 7, 7]]


class Handler:
    """For np.seterrcall: nothing of it is called but in an error."""

    calls = 0

    def write(self, text):
        pass

    def _count(self, *args):
        type(self).calls += 1
        return NotImplemented

    __eq__ = __ne__ = _count

    def __repr__(self):
        self._count()
        return "a handler"

    def __hash__(self):
        self._count()
        return 1


def with_numpy(x):
    return x * float(np.sqrt(np.float64(4.0)))


@pytest.fixture
def numpy_state():
    kept, options = np.geterrcall(), np.get_printoptions()
    yield
    np.seterrcall(kept)
    np.set_printoptions(**options)


def test_the_state_of_numpy_is_told_apart_without_code_of_the_user(numpy_state):
    traced, x = lt.trace(with_numpy), lt.ones(2)
    one, other = Handler(), Handler()
    np.seterrcall(one)
    np.set_printoptions(formatter={"float": one.write})
    for _ in range(3):
        assert traced(x).tolist() == [2, 2]
    assert traced.counts["traces"] == 1
    np.seterrcall(other)
    assert traced(x).tolist() == [2, 2]
    assert traced.counts["traces"] == 2
    np.seterrcall(one)
    traced(x)
    assert traced.counts["traces"] == 2
    np.set_printoptions(precision=3)
    traced(x)
    assert traced.counts["traces"] == 3
    assert "NumPy's error state and print options" in traced.reasons()[-1]
    assert Handler.calls == 0


def test_a_formatter_that_is_gone_is_not_mistaken_for_its_successor(numpy_state):
    traced, x = lt.trace(with_numpy), lt.ones(2)
    for n in range(1, 6):
        np.set_printoptions(formatter={"float": lambda v, n=n: str(n)})
        traced(x)
        assert traced.counts["traces"] == n


class Odd(set):
    """C asks for its items without asking its class."""

    asked = 0

    def __iter__(self):
        type(self).asked += 1
        return iter([])


def test_what_a_set_holds_is_found_without_its_own_methods():
    h = Holder()
    h.names = Odd({"a", "b"})

    def f(x):
        return x * (2 if "a" in h.names else 3)

    traced = lt.trace(f)
    for _ in range(3):
        assert traced(lt.ones(2)).tolist() == [2, 2]
    assert traced.counts["traces"] == 1 and Odd.asked == 0
    h.names.discard("a")
    assert traced(lt.ones(2)).tolist() == [3, 3]


def test_other_threads_write_while_guards_call(numpy_state):
    h, stop = Holder(), threading.Event()
    h.w = lt.full([3], 2.0)

    def f(x):
        return x * h.w + float(np.sqrt(np.float64(4.0)))

    def write():
        n = 0
        while not stop.is_set():
            n += 1
            h.w = lt.full([3], float(n % 7))

    traced = lt.trace(f)
    traced(lt.ones(3))
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(2000):
            a, b, c = traced(lt.ones(3)).tolist()
            assert a == b == c and a in range(2, 9)
    finally:
        stop.set()
        writer.join()
