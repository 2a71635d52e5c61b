"""lt.callback: a function of Python's at its place in a program."""

import functools
import gc
import threading
import weakref

import numpy as np
import pytest

import lathe as lt

X, Y = lt.tensor([1.5, -2.0]), lt.tensor([0.25, 3.0])


def sine(a):
    return np.sin(a.numpy())


def sine_vjp(args, result, cotangent):
    return cotangent * lt.cos(args[0])


def bits(t):
    return None if t is None else (str(t.dtype), tuple(t.shape), t.detach().numpy().tobytes())


def run(f, *inputs):
    """Bits of result and gradients."""
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    y = f(*inputs)
    (y * y).sum().backward()
    return [bits(t) for t in (y, *(x.grad for x in inputs))]


def both(f):
    return [f, lt.trace(f), lt.script(f)]


# ── what it gives ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("f", both(lambda x: lt.callback(sine, x, result=x) * 2))
def test_a_pure_function(f):
    for x in (X, Y, lt.ones(3)):
        assert f(x).tolist() == (lt.tensor(sine(x)) * 2).tolist()


def test_one_trace_for_all_sizes():
    f = lt.trace(lambda x: lt.callback(sine, x, result=x))
    for n in (2, 3, 7):
        assert f(lt.ones(n)).shape == (n,)
    assert f.counts["traces"] == 1


def nested(args, n, word):
    assert word == "word" and isinstance(n, int)
    return {"a": args["x"] * n, "b": (1.5, [args["y"][0].sum()])}


def asks(x, y):
    declared = {"a": x, "b": (((), lt.float64), [lt.library.TensorSpec((), lt.float32)])}
    got = lt.callback(nested, {"x": x, "y": (y,)}, x.shape[0], "word", result=declared)
    return got["a"], got["b"][0], got["b"][1][0]


def test_nested_values():
    want = [bits(t) for t in asks(X, Y)]
    assert want[1] == ("lathe.float64", (), np.float64(1.5).tobytes())
    for f in (lt.trace(asks), lt.script(asks)):
        assert [bits(t) for t in f(X, Y)] == want


def test_sizes_of_the_result():
    def f(x):
        n = x.shape[0]
        return lt.callback(lambda a: lt.cat([a, a]), x, result=((2 * n,), lt.float32))

    g = lt.trace(f)
    for n in (2, 5):
        assert g(lt.ones(n)).shape == (2 * n,)
    assert g.counts["traces"] == 1


def test_tensors_are_the_functions_own():
    kept = []

    def f(a):
        kept.append(a)
        a.add_(100)
        return a

    g = lt.trace(lambda x: lt.callback(f, x * 2, result=x) + x * 2)
    assert g(X).tolist() == (X * 4 + 100).tolist()
    assert g(Y).tolist() == (Y * 4 + 100).tolist()
    assert [t.tolist() for t in kept] == [(X * 2 + 100).tolist(), (Y * 2 + 100).tolist()]


# ── order ───────────────────────────────────────────────────────────────────────────────────────


def test_ordered_calls_happen_each():
    seen = []

    def note(a):
        seen.append(a.tolist())

    def f(x):
        lt.callback(note, x)
        lt.callback(note, x)
        lt.callback(note, x * 2)
        return 1

    for g in both(f):
        seen.clear()
        g(X), g(X)
        assert seen == 2 * [X.tolist(), X.tolist(), (X * 2).tolist()]


def test_pure_calls_merge_and_vanish():
    calls = []

    def count(a):
        calls.append(1)
        return a + 1

    def f(x):
        lt.callback(count, x * 5, result=x)
        return lt.callback(count, x, result=x) * lt.callback(count, x, result=x)

    g = lt.trace(f)
    assert g(X).tolist() == ((X + 1) * (X + 1)).tolist() and len(calls) == 1


def test_ordered_with_a_result():
    numbers = iter(range(100))

    def draw(a):
        return a * 0 + next(numbers)

    g = lt.trace(lambda x: lt.callback(draw, x, result=x, ordered=True) * 10
                 + lt.callback(draw, x, result=x, ordered=True))  # fmt: skip
    assert [g(lt.ones(1)).item() for _ in range(3)] == [1.0, 23.0, 45.0]


# ── gradients ───────────────────────────────────────────────────────────────────────────────────


def through(x, y):
    z = lt.callback(lambda a, b: a * b, x * 2, y, result=x,
                    vjp=lambda args, r, d: (d * args[1], d * args[0]))  # fmt: skip
    return z + lt.callback(sine, y, result=y, vjp=sine_vjp)


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_a_derivative(capture):
    f = capture(through)
    for x in (X, X + 1):
        assert run(f, x, Y) == run(through, x, Y)
    assert f.counts["node_by_node"] == 0


def test_a_derivative_is_right():
    def f(x):
        return lt.callback(lambda a: lt.sin(a), x, result=x, vjp=sine_vjp)

    assert lt.autograd.gradcheck(f, (lt.rand(3, dtype=lt.float64).requires_grad_(),))


def test_a_derivative_that_is_none_or_inside():
    def f(x, y):
        return lt.callback(lambda a, b: a["u"] * 3 + b, {"u": x}, y, result=x,
                           vjp=lambda args, r, d: ({"u": d * 3}, None))  # fmt: skip

    want = run(f, X, Y)
    assert want[2] == bits(lt.zeros(2)) and run(lt.trace(f), X, Y) == want


def test_a_gradient_taken_inside():
    def f(x):
        x = x.detach().clone().requires_grad_()
        lt.callback(sine, x, result=x, vjp=sine_vjp).sum().backward()
        return x.grad

    assert bits(lt.trace(f)(X)) == bits(f(X)) == bits(lt.cos(X))


def scanned(x):
    return lt.scan(
        lambda c, r: (c + lt.callback(sine, r, result=r, vjp=sine_vjp), r), lt.zeros(2), x
    )[0]


def loops(x):
    i = 0
    while i < x.shape[0] * 2:
        x = x + lt.callback(sine, x, result=x, vjp=sine_vjp)
        i += 1
    return x


@pytest.mark.parametrize("f", [scanned, loops])
@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_in_loops(f, capture):
    x = lt.linspace(0, 2, 60).view(30, 2)
    g = capture(f)
    assert run(g, x) == run(f, x)
    assert g.counts["node_by_node"] == 0


def test_a_loop_that_data_decides():
    def f(x, n):
        i = 0
        while i < n:
            x = x + lt.callback(lambda a, k: lt.sin(a) * k, x, i, result=x)
            i += 1
        return x

    for n in (0, 3):
        assert bits(lt.script(f)(X, lt.tensor(n))) == bits(f(X, lt.tensor(n)))


def test_vmap():
    f = lt.vmap(lambda r: lt.callback(sine, r, result=r))
    x = lt.rand(3, 2)
    assert bits(lt.trace(f)(x)) == bits(f(x)) == bits(lt.tensor(sine(x)))


# ── errors ──────────────────────────────────────────────────────────────────────────────────────


def test_what_it_raises_comes_out():
    written = lt.zeros(2)

    def picky(a):
        if a.sum() > 3:
            raise KeyError("too much")
        return a

    def f(x):
        written.add_(x)
        return lt.callback(picky, x, result=x)

    g = lt.trace(f)
    g(X)
    after = (written + X + 9).tolist()
    with pytest.raises(KeyError, match="too much"):
        g(X + 9)
    assert written.tolist() == after  # as eager code leaves it, which runs then
    assert g(X).tolist() == X.tolist()


WRONG = {
    "another size": (lambda a: a[:1], "is not what was declared"),
    "another dtype": (lambda a: a.double(), "is not what was declared"),
    "no tensor": (lambda a: "text", "no tensor"),
    "another structure": (lambda a: (a, a), "do not have the structure"),
}


@pytest.mark.parametrize("capture", [lambda f: f, lt.trace])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_result(name, capture):
    f, why = WRONG[name]
    with pytest.raises(lt.Error, match=why):
        capture(lambda x: lt.callback(f, x, result=x))(X)


def test_wrong_arguments():
    with pytest.raises(lt.TypeError, match="no result is declared"):
        lt.callback(lambda a: a, X)
    with pytest.raises(lt.TypeError, match="no function"):
        lt.callback(3, X)
    with pytest.raises(lt.TypeError, match="no tensor and no number"):
        lt.callback(sine, object(), result=X)
    with pytest.raises(lt.TypeError, match="no type of a tensor"):
        lt.callback(sine, X, result="x")
    with pytest.raises(lt.ValueError, match="never happen"):
        lt.callback(sine, X, ordered=False)
    with pytest.raises(lt.ValueError, match="number of gradients"):
        x = X.clone().requires_grad_()
        lt.callback(sine, x, result=x, vjp=lambda args, r, d: (d, d)).sum().backward()


@pytest.mark.parametrize("f", both(lambda x: lt.callback(sine, x, result=x).sum()))
def test_no_derivative(f):
    y = f(X.clone().requires_grad_())
    with pytest.raises(lt.AutogradError, match="no derivative"):
        y.backward()


def test_vmap_of_an_ordered_call():
    with pytest.raises(lt.UnsupportedError, match="in order"):
        lt.vmap(lambda r: lt.callback(sine, r, result=r, ordered=True))(lt.ones(2, 2))


def test_a_save_refuses_it(tmp_path):
    with pytest.raises(lt.UnsupportedError, match="(?s)a function of this process.*sine"):
        lt.save(lambda x: lt.callback(sine, x, result=x), str(tmp_path / "f.lathe"), X)


def test_graph_text_names_it():
    f = lt.trace(lambda x: lt.callback(sine, x, result=x))
    f(X)
    assert "= callback(<sine>, [%t0], [s0])" in f.graph
    assert "callback of <sine>" in f.explain(verbose=True)


# ── what it holds ───────────────────────────────────────────────────────────────────────────────


class Scale:
    def __init__(self, k):
        self.k = k

    def times(self, a):
        return a * self.k

    def by_method(self, x):
        return lt.callback(self.times, x, result=x)

    def by_lambda(self, x):
        return lt.callback(lambda a: a * self.k, x, result=x)

    def by_partial(self, x):
        return lt.callback(functools.partial(Scale.times, self), x, result=x)


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
@pytest.mark.parametrize("name", ["by_method", "by_lambda", "by_partial"])
def test_an_object(name, capture):
    f = capture(getattr(Scale, name))
    one, two = Scale(2), Scale(3)
    for scale in (one, two, one):
        assert f(scale, X).tolist() == (X * scale.k).tolist()
    one.k = 7  # the function reads it, whenever it is called
    assert f(one, X).tolist() == (X * 7).tolist()


def test_a_variable_that_changes_afterwards():
    def f(x):
        out = []
        for i in range(3):
            out.append(lt.callback(lambda a: a + i, x, result=x))  # noqa: B023
        i = 100
        return out

    assert [t.tolist() for t in lt.trace(f)(X)] == [t.tolist() for t in f(X)]


def test_a_function_whose_variable_changes_in_between():
    def f(x):
        i, out = 0, []

        def add(a):
            return a + i

        for i in range(3):  # noqa: B007
            out.append(lt.callback(add, x, result=x))
        return out

    assert [t.tolist() for t in lt.trace(f)(X)] == [t.tolist() for t in f(X)]


def test_declarations_are_guarded():
    class Holder:
        spec = lt.library.TensorSpec((2,), lt.float32)

    f = lt.trace(lambda x: lt.callback(lambda a: a[:1].repeat(2), x, result=Holder.spec))
    assert f(X).shape == (2,)
    Holder.spec = lt.library.TensorSpec((3,), lt.float32)
    with pytest.raises(lt.ShapeError, match="declared"):
        f(X)


def test_functions_inside_of_functions():
    def f(x):
        two = 2

        def outer(a, b=1):
            return a * two + b

        return lt.callback(lambda a: outer(a) - 1, x, result=x)

    for g in both(f):
        assert g(X).tolist() == (X * 2).tolist()


HELD = {
    "a tensor": lambda x: lt.callback(lambda a: a + x, x, result=x),
    "a size": lambda x: (lambda n: lt.callback(lambda a: a + n, x, result=x))(x.shape[0]),
    "a list made inside": lambda x: (lambda out: lt.callback(lambda a: out.append(a), x))([]),
}


@pytest.mark.parametrize("name", HELD)
def test_what_it_cannot_hold(name):
    with pytest.raises(lt.TraceError, match="(?s)which a callback uses.*test_callback.py"):
        lt.trace(HELD[name])(X)


def test_after_a_change_of_state():
    state = {"n": 0}

    def f(x):
        state["n"] += 1
        return lt.callback(lambda a: a + state["n"], x, result=x)

    with pytest.raises(lt.TraceError, match="(?s)after a change of Python state.*test_callback"):
        lt.trace(f)(X)


def test_after_a_write_to_what_it_reaches():
    w = lt.zeros(2)

    def reads(a):
        return a + w

    def f(x, y):
        w.add_(1)
        return lt.callback(sine, x, result=x), y.add_(1), lt.callback(lambda a: a, y, result=y)

    g = lt.trace(f)
    y, z = lt.ones(2), lt.ones(2)
    assert [t.tolist() for t in g(X, y)] == [t.tolist() for t in f(X, z)]
    for write in (lambda x: w.add_(1), lambda x: w[0].mul_(2)):
        with pytest.raises(lt.TraceError, match="(?s)can reach a tensor.*test_callback.py"):
            lt.trace(lambda x: (write(x), lt.callback(reads, x, result=x))[1])(X)  # noqa: B023
    with pytest.raises(lt.TraceError, match="can reach a tensor"):
        lt.trace(lambda x: (x.add_(1), lt.callback(lambda a: w + a, x, result=x))[1])(w)


def test_nothing_keeps_the_object_alive():
    scale = Scale(2)
    f = lt.trace(Scale.by_method)
    f(scale, X)
    gone = weakref.ref(scale)
    del scale
    gc.collect()
    assert gone() is None


def test_threads():
    f = lt.trace(lambda x: lt.callback(sine, x @ x, result=x))
    x = lt.rand(64, 64)
    want, wrong = bits(f(x)), []

    def work():
        for _ in range(50):
            if bits(f(x)) != want:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_what_goes_with_a_trace_may_call_the_function():
    """As a finalizer does: nothing is locked then."""

    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, t):
            return t * self.k

        def __del__(self):
            gone.append(bits(f(x)))

    gone, x, held = [], lt.ones(3), [Scale(0.0)]
    f = lt.trace(lambda x: lt.callback(held[0], x, result=x))
    for k in range(80):  # more than a function keeps
        held[0] = Scale(float(k))
        assert bits(f(x)) == bits(x * k)
    assert len(gone) > 10
