"""print() and warnings.warn() in captured functions: eager's bytes, in eager's order."""

import collections
import contextlib
import dataclasses
import io
import sys
import warnings

import pytest

import lathe as lt


def printed(f, *args):
    """(what a call prints, its result)"""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        result = f(*args)
    return said.getvalue(), result


def check(f, *calls, capture=lt.trace):
    """Each call prints what eager prints; the captured function."""
    captured = capture(f)
    for args in calls:
        want, got = printed(f, *args)[0], printed(captured, *args)[0]
        assert got == want != ""
    assert captured.counts["node_by_node"] == 0
    return captured


X, Y, LONG = lt.tensor([1.5, -2.0]), lt.tensor([0.25, 1e-7]), lt.arange(2000.0)


# ── what is said ────────────────────────────────────────────────────────────────────────────────


class Shown:
    def __init__(self, x):
        self.x = x

    def __str__(self):
        return f"Shown({self.x})"

    def __repr__(self):
        return "<shown %r>" % (self.x,)  # noqa: UP031


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Record:
    x: object
    n: int = 1


LINEAR = lt.nn.Linear(2, 2)

SAYINGS = {
    "plain text": lambda x: print("a", 1, 2.5, None, True),
    "nothing": lambda x: print(),
    "a tensor": lambda x: print(x, x * 2),
    "sep and end": lambda x: print("x", x, sep="|", end="!\n"),
    "flush": lambda x: print(x, flush=True),
    "sizes": lambda x: print(x.shape, x.shape[0], x.shape[0] * 2, x.dtype, x.device),
    "containers": lambda x: print([x, 1], (x,), {"a": x, "b": [None, "c"]}, {x.shape[0]: 1}),
    "an f-string": lambda x: print(f"x={x} {x.sum():.3f} {x[0]!r:>20} {x.shape[0]:03}"),
    "an inner format": lambda x: print(f"{x.sum():{'.' + str(2)}f} {3.14159:.2f}"),
    "str and repr": lambda x: print(str(x) + "|" + repr(x), str(x.shape[0])),
    "percent": lambda x: print("%s %5.2f %d" % (x, x.sum(), 3), "%r" % x),  # noqa: UP031
    "format": lambda x: print("{0} {0!r} {1:.1f} {k}".format(x, x.sum(), k=x)),  # noqa: UP032
    "join": lambda x: print(", ".join([str(x), "b", f"{x.sum()}"])),
    "added up": lambda x: print("a" + f"{x}" + "b" + str(x.shape[0])),
    "an object": lambda x: print(Shown(x), [Shown(x)], f"{Shown(x)!r}", Shown("a")),
    "a named tuple": lambda x: print(Pair(x, 1)),
    "a dataclass": lambda x: print(Record(x), [Record(x, 2)]),
    "a module": lambda x: print(LINEAR, LINEAR.weight, [LINEAR.bias]),
    "a star": lambda x: print(*[x[i] for i in range(2)], sep="\n"),
}  # fmt: skip


# The methods of a class are no part of a script's text.
SAID = [(name, c) for name in SAYINGS for c in (lt.trace, lt.script)]
SAID.remove(("an object", lt.script))


@pytest.mark.parametrize("name, capture", SAID)
def test_what_is_said(name, capture):
    say = SAYINGS[name]

    def f(x):
        say(x)
        return x * 2

    check(f, (X,), (Y,), (lt.ones(3),), capture=capture)


def test_a_long_tensor_is_shortened():
    check(lambda x: print(x, [x]), (LONG,), (LONG * 2,))


def test_print_options_are_those_of_the_run():
    f = lt.trace(lambda x: print(x))
    f(X)
    lt.set_printoptions(precision=1)
    try:
        assert printed(f, X / 3)[0] == f"{X / 3}\n"
    finally:
        lt.set_printoptions(precision=4)


def test_history_is_part_of_the_text():
    def f(x):
        y = x * 3
        print(x, y, y.detach(), (y + 1).sum(), [y])
        print(f"{y.sum()} {y.sum()!s}")
        return y

    check(f, (X.clone().requires_grad_(),), (Y.clone().requires_grad_(),))


def test_a_text_keeps_what_it_was_made_of():
    def f(x):
        y = x.clone()
        text = f"{y}"
        y.add_(1)
        print(text, y)
        return y

    check(f, (X,), (Y,))


def test_one_trace_for_all_sizes():
    calls = [(lt.ones(n),) for n in (2, 3, 9)]
    f = check(lambda x: print(x.shape[0], f"{x.shape[0]} {x}"), *calls)
    assert f.counts["traces"] == 1


def test_a_float_that_changes():
    f = check(lambda x, lr: print("lr", lr, f"{lr:.3e}", x * lr), *[(X, k / 7) for k in range(6)])
    assert f.counts["traces"] == 2


# ── where it goes ───────────────────────────────────────────────────────────────────────────────


def test_the_stream_is_that_of_the_run(capsys):
    def f(x):
        print("out", x)
        print("err", x, file=sys.stderr)
        return x

    g = lt.trace(f)
    for x in (X, Y):
        g(x)
        got = capsys.readouterr()
        f(x)
        assert got == capsys.readouterr()


def test_files():
    def f(x, file):
        print("to", x, file=file)
        return x

    g = lt.trace(f)
    for _ in range(2):
        file = io.StringIO()
        g(X, file), g(Y, file)
        assert file.getvalue() == f"to {X}\nto {Y}\n"


class Tee:
    def __init__(self):
        self.parts = []

    def write(self, text):
        self.parts.append(text)


def test_a_file_of_the_programs_own():
    tee = Tee()
    f = lt.trace(lambda x: print(x, "a", file=tee))
    f(X), f(Y)
    assert "".join(tee.parts) == f"{X} a\n{Y} a\n"


# ── order ───────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_dropped_or_merged():
    def f(x):
        print("twice")
        print("twice")
        x.exp()
        print(x)
        print(x)
        return 1

    check(f, (X,), (X,))


def test_before_an_error():
    def f(x, i):
        print("before", i)
        y = lt.index_select(x, 0, i)
        print("after")
        return y

    g = lt.trace(f)
    g(X, lt.tensor([1]))
    for h in (f, g):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), pytest.raises(lt.IndexError):
            h(X, lt.tensor([7]))
        assert said.getvalue() == "before tensor([7])\n"


def test_an_error_of_the_functions_own():
    def f(x, n):
        print("before", x)
        if n > 2:
            raise KeyError(n)
        return x

    g = lt.trace(f)
    g(X, 1)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.raises(KeyError):
        g(X, 3)
    assert said.getvalue() == f"before {X}\n"


class Counter:
    def __init__(self):
        self.n, self.log = 0, []

    def step(self, x):
        self.n += 1
        print("step", self.n, x)
        self.log.append(self.n)
        print("log", self.log)
        return x * self.n


def test_with_changes_of_python_state():
    """What is printed of Python's state is known at the capture, and guarded."""
    plain, traced = Counter(), Counter()
    step = lt.trace(traced.step)
    for x in (X, Y, X):
        assert printed(plain.step, x)[0] == printed(step, x)[0]
    assert (plain.n, plain.log) == (traced.n, traced.log)


def test_under_the_tape():
    def f(x):
        h = x * 2
        print(f"h {h.sum():.2f}")
        return (h * h).sum()

    captured = lt.trace(f)
    for x in (X, Y):
        results = []
        for g in (f, captured):
            leaf = x.clone().requires_grad_()
            said, y = printed(g, leaf)
            more, _ = printed(y.backward)
            results.append((said, more, leaf.grad.tolist()))
        assert results[0] == results[1] and results[0][1] == ""
    assert captured.counts["node_by_node"] == 0


# ── loops and branches that data decides ────────────────────────────────────────────────────────


def doubled(x, n):
    i = 0
    while i < n:
        x = x * 1.5
        print("round", i, x.detach(), f"{x.sum():.2f}", i + 1)
        if x[0] > 3:
            print("large")
        i += 1
    print("done", i)
    return x


@pytest.mark.parametrize("rounds", [0, 5, 200])
def test_a_loop_with_gradients(rounds):
    """A loop of many rounds is run again from checkpoints: without its prints."""
    results = []
    for f in (doubled, lt.script(doubled)):
        leaf = X.clone().requires_grad_()
        said, y = printed(f, leaf, lt.tensor(rounds))
        assert printed(y.sum().backward)[0] == ""
        results.append((said, y.tolist(), leaf.grad.tolist()))
    assert results[0] == results[1]


def structures(x):
    def round(carry, row):
        print("row", row, carry)
        return carry + row, carry

    carry, _ = lt.scan(round, lt.zeros(2), x)

    def yes(c):
        print("yes", c)
        return c

    y = lt.cond(carry.sum() > 3, yes, lambda c: (print("no"), c * 3)[1], (carry,))
    return lt.while_loop(lambda c: c.sum() < 50, lambda c: (print("while", c), c * 2)[1], y)


@pytest.mark.parametrize("capture", [lt.trace, lt.script])
def test_structures(capture):
    check(structures, (lt.ones(3, 2),), (lt.ones(3, 2) / 4,), capture=capture)


def test_ten_thousand_rounds_of_a_script():
    def count(i, x, n):
        while i < n:
            print(i)
            print("x:", i, sep="")
            i, x = i + 1, x + 1
        return i, x

    n = 10_000
    said, (i, out) = printed(lt.script(count), lt.tensor(0), lt.arange(n), lt.tensor(n))
    assert said == "".join(f"tensor({k})\nx:tensor({k})\n" for k in range(n))
    assert i.item() == n and bool((out == lt.arange(n) + n).all())


REFUSED = {
    "a comparison": (lambda x: f"{x}" == "a", "a text is used"),
    "a length": (lambda x: len(str(x)), "a text is used"),
    "a method": (lambda x: f"{x}".upper(), "a text is used"),
    "a key": (lambda x: {f"{x.sum()}": x}, "a text is used"),
    "a result": (lambda x: f"{x}", "a text is used"),
    "a history that a run tells": (
        lambda x: lt.scan(lambda c, r: (print(c), (c + r, r))[1], lt.zeros(2), x), "its history"),
    "an example of a vmap": (lambda x: lt.vmap(lambda r: (print(f"{r.sum():.1f}"), r)[1])(x),
                             "inside vmap"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    f, why = REFUSED[name]
    with pytest.raises((lt.TraceError, lt.UnsupportedError), match=f"(?s){why}.*test_print.py"):
        lt.trace(f)(lt.ones(2, 2, requires_grad=True))


def test_numbers_in_texts_are_guarded():
    def f(x, table):
        return table[f"n{x.shape[0]}"] + x

    g, table = lt.trace(f), {"n2": 1, "n3": 2}
    assert g(lt.zeros(2), table).tolist() == [1, 1] and g(lt.zeros(3), table).tolist() == [2] * 3


class Losses:
    def __init__(self):
        self.all = []

    def step(self, x):
        loss = (x * x).sum()
        print(f"loss {loss.item():.4f}", loss.item(), [loss.item()], "%.1f" % loss.item())  # noqa: UP031
        self.all.append(loss.item())
        return loss.item(), {"any": (x > 0).any().item(), "n": x.long().sum().item()}


def test_items():
    """A number taken out of a tensor is printed, given and stored."""
    plain, traced = Losses(), Losses()
    step = lt.trace(traced.step)
    for x in (X, Y, X):
        assert printed(plain.step, x) == printed(step, x)
    assert traced.all == plain.all and step.counts["traces"] == 1
    assert [type(v) for v in step(X)[1].values()] == [bool, int]


USES = {
    "branch": lambda x: x if x.max().item() > 0 else -x, "sum": lambda x: x.max().item() + 1,
    "argument": lambda x: x.clamp(max=x.max().item()), "size": lambda x: lt.zeros(x.max().item()),
    "function": lambda x: round(x.max().item(), 2), "key": lambda x: {x.max().item(): 1},
    "index": lambda x: [1, 2, 3][x.long().max().item()], "method": lambda x: x.max().item().hex(),
    "beside a tensor": lambda x: x / x.max().item(), "extreme": lambda x: max(x.max().item(), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_other_uses_of_items(name):
    with pytest.raises(lt.TraceError, match="(?s)item: a trace sees types.*at: .*test_print.py"):
        lt.trace(USES[name])(lt.ones(2))


def test_graph_text_and_explain():
    f = lt.trace(lambda x: (print(x), x * 2)[1])
    f(X)
    assert "ordered_callback(<print>" in f.graph
    assert "ordered_callback of <print>" in f.explain(verbose=True)


# ── warnings ────────────────────────────────────────────────────────────────────────────────────


def warned(f, *args):
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        f(*args)
    return [(str(w.message), w.category, w.filename, w.lineno) for w in got]


def warns(x):
    warnings.warn(f"sum {x.sum():.2f}")  # noqa: B028
    warnings.warn("plain", DeprecationWarning, stacklevel=2)
    warnings.warn(RuntimeWarning(f"{x}"), stacklevel=3)
    return x


def calls_warns(x):
    return warns(x)


@pytest.mark.parametrize("f", [warns, calls_warns])
def test_warnings(f):
    captured = lt.trace(f)

    def call(g, x):
        return g(x)

    for x in (X, Y):
        assert warned(call, f, x) == warned(call, captured, x)


def test_a_warning_of_a_script():
    def f(x):
        i = 0
        while i < x.sum():
            warnings.warn(f"round {i} of {x}", RuntimeWarning)  # noqa: B028
            i += 1
        return x

    assert warned(f, lt.ones(3)) == warned(lt.script(f), lt.ones(3))


def test_a_warning_that_is_an_error():
    f = lt.trace(lambda x: warnings.warn(f"sum {x.sum()}"))  # noqa: B028
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(X)
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="sum -0.5"):
            f(X)


def test_once_per_line():
    f = lt.trace(lambda x: warnings.warn("the same each time"))  # noqa: B028
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("default")
        for _ in range(3):
            f(X)
    assert len(got) == 1
