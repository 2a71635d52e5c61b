"""lt.cond and its kin: eager, trace and script give the same bits, gradients included."""

import collections

import numpy as np
import pytest

import lathe as lt

Pair = collections.namedtuple("Pair", "a b")


def bits(t):
    return None if t is None else (str(t.dtype), tuple(t.shape), t.detach().numpy().tobytes())


def run(call, inputs):
    """The bits of results and gradients."""
    inputs = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    ys = call(*inputs)
    ys = ys if isinstance(ys, (tuple, list)) else [ys]
    sum(y.sin().sum() for y in ys if y.requires_grad).backward()
    return [bits(t) for t in [*ys, *(x.grad for x in inputs)]]


def check(f, *inputs, script=True):
    """One program serves forward and backward, and gives eager's bits."""
    want = run(f, inputs)
    for capture in (lt.trace, lt.script) if script else (lt.trace,):
        captured = capture(f)
        for _ in range(2):
            assert run(captured, inputs) == want, capture.__name__
        assert captured.counts["node_by_node"] == 0
        assert captured.counts["traces"] == 1
    return captured


def chosen(x, y):
    return lt.cond(x.sum() > 0, lambda a, b: (a * 2 + b).sin(), lambda a, b: a * b, (x, y))


def nested(x, y):
    def positive(d):
        return {"p": d["a"] * d["b"], "q": Pair(d["a"], 1)}

    def negative(d):
        return {"p": d["a"] - d["b"], "q": Pair(d["b"], 2)}

    out = lt.cond(x.sum() > 0, positive, negative, ({"a": x, "b": y},))
    return out["p"] * out["q"].a, out["p"] * out["q"].b


def closing(x, y):
    return lt.cond((x * y).sum() > 0, lambda: x.exp() * y, lambda: y.sin() * x)


def while_sum(x):
    return lt.while_loop(
        lambda i, v: v.abs().sum() < 50, lambda i, v: (i + 1, v * 1.25 + x), (0, x)
    )[1]


def while_one(x):
    return lt.while_loop(lambda v: v.abs().max() > 0.01, lambda v: v * x.cos() * 0.5, x)


def counted(x):
    return lt.fori_loop(0, 40, lambda i, v: (v * x).tanh() + v * i * 0.01, x)


def short(x):
    return lt.fori_loop(2, 7, lambda i, v: (v * x).tanh() + i, x)


def indexed(x):
    return lt.fori_loop(0, x.shape[0], lambda i, v: v.tanh() * x[i] + v * i * 0.01, x)


def counted_by_data(x):
    n = (x[:, 0] > -0.5).sum()
    return lt.fori_loop(0, n, lambda i, v: v.tanh() * x.index_select(0, i.reshape(1)) + i, x)


def recurrent(x, h, w):
    return lt.scan(lambda h, x: ((h @ w + x).tanh(),) * 2, h, x)


def backwards(x, h, w):
    def step(h, x):
        h = (h @ w + x + h * h).tanh()
        return h, {"a": h * x, "b": [x.sum(), None]}

    h, ys = lt.scan(step, h, x, reverse=True)
    return h, ys["a"], ys["b"][0]


def negative_zeros(x, h):
    return lt.scan(lambda h, x: (h * 0.5 + x * x.sin(), x * 0.0 * -1.0), h, x)


def branches_inside(x, h):
    return lt.scan(lambda h, x: (h + x, lt.cond(x.sum() > 0, lambda: x * h, lambda: h)), h, x)


def loop_inside(x, h):
    return lt.scan(lambda h, x: (lt.fori_loop(0, 20, lambda i, v: v.sin() + x, h), h), h, x)


def scan_inside(x, h):
    return lt.scan(lambda h, row: (lt.scan(lambda c, e: (c * 0.5 + e, c), h, row)[0], h), h, x)


def mapped(x):
    return lt.map(lambda row: row.sin() * row.sum(), x)


def products(x):
    return lt.associative_scan(lambda a, b: a * b + a * 0.1, x)


def linear_recurrence(x):
    def combine(p, q):
        return p[0] * q[0], q[0] * p[1] + q[1]

    return lt.associative_scan(combine, (x, x * 2), axis=1, reverse=True)[1]


ROWS = (1, 2, 21, 128, 129, 300)
FUNCTIONS = {
    chosen: 2, nested: 2, closing: 2, while_sum: 1, while_one: 1, counted: 1, short: 1,
    indexed: 1, counted_by_data: 1, mapped: 1, products: 1, linear_recurrence: 1,
}  # fmt: skip
SCANS = (recurrent, backwards, negative_zeros, branches_inside)


def draw(*shape):
    return lt.tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32"))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("sign", [1, -1])
def test_same_bits_in_each_mode(f, sign):
    x = draw(7, 4) * 0.5
    check(f, *[x * sign, x.cos()][: FUNCTIONS[f]])


@pytest.mark.parametrize("f", SCANS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("rows", ROWS)
def test_scans_of_any_length(f, rows):
    if f is branches_inside and rows < 3:
        rows = 21  # of few rows no branch may read h: eager then has no gradient
    inputs = [draw(rows, 4) * 0.5, draw(4), draw(4, 4) * 0.3]
    check(f, *inputs[: f.__code__.co_argcount])


def test_structures_inside_each_other():
    check(loop_inside, draw(19, 4), draw(4))
    check(scan_inside, draw(18, 3), draw(1).reshape(()))


def test_one_program_for_many_lengths():
    traced = lt.trace(recurrent)
    h, w = draw(4), draw(4, 4) * 0.3
    for rows in (3, 17, 200, 1, 129):
        assert run(traced, [draw(rows, 4), h, w]) == run(recurrent, [draw(rows, 4), h, w])
    assert traced.counts["traces"] == 1


@pytest.mark.parametrize("rows", [3, 40, 150])
@pytest.mark.parametrize("f", [recurrent, backwards, indexed, while_one, mapped, counted])
def test_second_order(f, rows):
    """To rounding: a graph recomputes in its backward pass what eager keeps."""
    x = draw(rows, 4).double() * 0.3
    inputs = [x, draw(4).double(), draw(4, 4).double() * 0.3][: f.__code__.co_argcount]
    found = []
    for call in (f, lt.trace(f)):
        leaves = [t.clone().requires_grad_() for t in inputs]
        ys = call(*leaves)
        ys = ys if isinstance(ys, tuple) else (ys,)
        grads = lt.autograd.grad(sum(y.sin().sum() for y in ys), leaves, create_graph=True)
        sum((g * g).sum() for g in grads).backward()
        found.append([t.detach().numpy() for t in [*ys, *grads, *(t.grad for t in leaves)]])
    for want, got in zip(*found):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


# ── what they mean ──────────────────────────────────────────────────────────────────────────────


def numbers():
    return lt.while_loop(
        lambda i, p: i < 3, lambda i, p: (i + 1, (p[0] * 2, p[1])), (0, (0.5, True))
    )


def test_numbers_become_tensors():
    for call in (lambda f: f, lt.trace):
        i, (r, b) = call(numbers)()
        assert (i.item(), r.item(), b.item()) == (3, 4.0, True)
        assert (i.dtype, r.dtype, b.dtype) == (lt.int64, lt.float32, lt.bool)
        assert call(lambda: lt.cond(True, lambda: 1, lambda: 2))().dtype == lt.int64


def test_the_forms_of_while_loop():
    x = lt.ones(2)
    assert type(lt.while_loop(lambda v: v.sum() < 9, lambda v: [v * 2], [x])) is tuple
    one = lt.while_loop(lambda v: v.sum() < 9, lambda v: v * 2, x)
    many = lt.while_loop(lambda d: d["x"].sum() < 9, lambda d: {"x": d["x"] * 2}, {"x": x})
    assert bits(one) == bits(many["x"]) and one.sum().item() == 16
    assert bits(lt.while_loop(lambda v: False, lambda v: v * 2, x)) == bits(x)


def test_scan_against_its_definition():
    x, h = draw(5, 3), draw(3)
    carry, ys = h, [None] * 5
    for i in reversed(range(5)):
        carry, ys[i] = carry * 0.5 + x[i], carry * x[i]
    last, stacked = lt.scan(lambda c, row: (c * 0.5 + row, c * row), h, x, reverse=True)
    assert bits(last) == bits(carry) and bits(stacked) == bits(lt.stack(ys))
    by_dim = lt.scan(lambda c, row: (c, row * 2), 0, x, dim=1)[1]
    assert bits(by_dim) == bits(x * 2)


def test_scan_without_xs_and_without_ys():
    def powers(h):
        return lt.scan(lambda c, _: (c * 2, None), h, None, length=20)

    for call in (powers, lt.trace(powers), lt.script(powers)):
        h, ys = call(lt.ones(2))
        assert ys is None and h.tolist() == [2.0**20] * 2


@pytest.mark.parametrize("call", [lambda f: f, lt.trace, lt.script])
def test_no_rounds(call):
    def rows(h, x):
        return lt.scan(lambda h, row: (h + row, (row * 2, row.sum() > 0)), h, x)

    h, (ys, flags) = call(rows)(lt.ones(3), lt.zeros(0, 3))
    assert h.tolist() == [1, 1, 1] and ys.shape == (0, 3)
    assert flags.shape == (0,) and flags.dtype == lt.bool
    assert call(indexed)(lt.zeros(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("order", [(5, 0, 1), (0, 5, 1)])
def test_a_loop_says_nothing_about_its_length(order):
    """That i < n in every round does not mean that there is one."""

    def f(x):
        v = lt.fori_loop(0, x.shape[0], lambda i, v: v.sin() + x[i], x)
        return v.sum() + (1 if x.shape[0] > 0 else 2)

    traced = lt.trace(f)
    for n in order:
        assert run(traced, [lt.ones(n, 2)]) == run(f, [lt.ones(n, 2)]), n


def test_associative_scan_has_the_order_it_says():
    x = draw(11, 2)

    def combine(a, b):
        return a * 0.7 + b * b

    want, d = x, 1
    while d < 11:
        want = lt.cat([want[:d], combine(want[:-d], want[d:])])
        d *= 2
    assert bits(lt.associative_scan(combine, x)) == bits(want)
    sums = lt.associative_scan(lambda a, b: a + b, lt.arange(9), reverse=True)
    assert sums.tolist() == [sum(range(i, 9)) for i in range(9)]


def test_both_branches_are_recorded_once():
    seen = []

    def note(name, value):
        seen.append(name)
        return value

    def f(x):
        return lt.cond(x.sum() > 0, lambda: x * 2, lambda: x * 3)

    traced = lt.trace(f)
    assert traced(lt.ones(2)).tolist() == [2, 2] and traced(-lt.ones(2)).tolist() == [-3, -3]
    assert traced.counts["traces"] == 1
    assert lt.cond(lt.tensor(True), lambda: note("yes", 1), lambda: note("no", 2)).item() == 1
    assert seen == ["yes"]


def test_writes_to_tensors_are_part_of_the_loop():
    def f(x):
        total = lt.zeros(3)
        total.requires_grad_(False)

        def body(i, v):
            total.add_(v.detach())
            return v * 0.5

        last = lt.fori_loop(0, 30, body, x)
        return last, total

    x = draw(3)
    want = [bits(t) for t in f(x)]
    assert [bits(t) for t in lt.trace(f)(x)] == want


def test_random_numbers_in_a_loop():
    def f(x):
        return lt.fori_loop(0, 25, lambda i, v: v + lt.rand(3), x)

    lt.manual_seed(4)
    want = bits(f(lt.zeros(3)))
    lt.manual_seed(4)
    assert bits(lt.trace(f)(lt.zeros(3))) == want


# ── bounded memory ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.serial
def test_ten_thousand_rounds_in_bounded_memory(tmp_path):
    """16 KiB a round: 160 MiB if all rounds were kept. In a process of its own, which knows its
    peak."""
    import subprocess
    import sys

    program = tmp_path / "rounds.py"
    program.write_text(
        "import resource, lathe as lt\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10\n"
        "def f(x, n):\n"
        "    return lt.fori_loop(0, n, lambda i, v: (v * 1.01).sin() + x, x)\n"
        "def g(x, n):\n"
        "    return lt.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v.sin() + x),\n"
        "                         (0, x))[1]\n"
        "for loop in (f, g):\n"
        "    traced = lt.trace(loop)\n"
        "    for n in (200, 10000):\n"
        "        x = lt.ones(4096, requires_grad=True)\n"
        "        traced(x, lt.tensor(n)).sum().backward()\n"
        "        if n == 200: before = peak()\n"
        "    assert traced.counts['node_by_node'] == 0\n"
        "    print(peak() - before)\n"
        "def s(x):\n"
        "    return lt.scan(lambda h, r: ((h * 0.5 + r).tanh(),) * 2, x[0], x)[1]\n"
        "for call in (s, lt.trace(s)):\n"
        "    before = peak()\n"
        "    x = lt.ones(4000, 16, requires_grad=True)\n"
        "    call(x).sum().backward()\n"
        "    print(peak() - before)\n"
    )
    out = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    grown = [int(line) for line in out.stdout.split()]
    assert len(grown) == 4 and max(grown[:2]) < 24, f"MiB: {grown}"
    assert max(grown[2:]) < 96, f"MiB: {grown}, where all of x in each round would be 1,000"


# ── errors ──────────────────────────────────────────────────────────────────────────────────────


def eager_and_trace(f, *args):
    yield lambda: f(*args)
    yield lambda: lt.trace(f)(*args)


X = lt.ones(3)
WRONG = {
    "branches of other dtypes": (
        lambda x: lt.cond(x.sum() > 0, lambda: x, lambda: x.double()), lt.TraceError,
        "value 0 changes its type between the branches", False),
    "branches of other ranks": (
        lambda x: lt.cond(x.sum() > 0, lambda: x, lambda: x.sum()), lt.TraceError,
        "changes its type between the branches", False),
    "branches of other structures": (
        lambda x: lt.cond(x.sum() > 0, lambda: (x, x), lambda: x), lt.TraceError,
        "another structure than before", False),
    "a condition of several elements": (
        lambda x: lt.cond(x > 0, lambda: x, lambda: x), lt.ValueError, "one element", True),
    "a condition that is a text": (
        lambda x: lt.cond("yes", lambda: x, lambda: x), lt.TypeError,
        "no bool and no tensor", True),
    "an operand that is a text": (
        lambda x: lt.cond(x.sum() > 0, lambda a: x, lambda a: x, ("a",)), lt.TypeError,
        "no tensor and no number", True),
    "rounds of other dtypes": (
        lambda x: lt.fori_loop(0, 20, lambda i, v: v.double(), x), lt.TypeError,
        "changes its type from round to round", True),
    "rounds of other structures": (
        lambda x: lt.fori_loop(0, 20, lambda i, v: (v, v), x), lt.ValueError, "structure", True),
    "None in place of a value": (
        lambda x: lt.fori_loop(0, 20, lambda i, v: (v[0], None), (x, x)), lt.ValueError,
        "None where it had a value", True),
    "a bound that is a float": (
        lambda x: lt.fori_loop(0, 2.5, lambda i, v: v, x), lt.TypeError, "no integer", True),
    "a condition that is None": (
        lambda x: lt.while_loop(lambda v: None, lambda v: v, x), lt.TypeError,
        "no bool and no tensor", True),
    "a while of several elements": (
        lambda x: lt.while_loop(lambda v: v > 0, lambda v: v, x), lt.ValueError, "one element",
        True),
    "a scan without a length": (
        lambda x: lt.scan(lambda c, _: (c, c), x), lt.ValueError, "rounds is not known", True),
    "a length that is a text": (
        lambda x: lt.scan(lambda c, _: (c, c), x, length="3"), lt.TypeError, "no integer", True),
    "a negative length": (
        lambda x: lt.scan(lambda c, _: (c, c), x, length=-1), lt.ValueError, "negative", True),
    "xs of different lengths": (
        lambda x: lt.scan(lambda c, r: (c, c), x, (x, lt.ones(4))), lt.ShapeError,
        "no row for each round", True),
    "an axis that xs have not": (
        lambda x: lt.scan(lambda c, r: (c, c), x, x, dim=2), lt.IndexError, "has not", True),
    "results that have no such axis": (
        lambda x: lt.scan(lambda c, r: (c, r.sum()), x, lt.ones(2, 3), dim=1), lt.IndexError,
        "cannot be stacked along dim", True),
    "a scan that gives no pair": (
        lambda x: lt.scan(lambda c, r: c, x, x), lt.TypeError, "no pair", True),
    "ys of different sizes": (
        lambda x: lt.scan(lambda c, r: (lt.cat([c, c]), c), x, x), (lt.ShapeError, lt.TraceError),
        "different sizes|from round to round", True),
    "nothing to scan": (
        lambda x: lt.associative_scan(lambda a, b: a, ()), lt.ValueError, "nothing to scan", True),
    "elems of different sizes": (
        lambda x: lt.associative_scan(lambda a, b: a, (x, lt.ones(4))), lt.ShapeError,
        "different sizes along the axis", True),
    "a combination of another shape": (
        lambda x: lt.associative_scan(lambda a, b: a[:1], x), lt.ShapeError, "another shape", True),
    "an axis that elems have not": (
        lambda x: lt.associative_scan(lambda a, b: a, x, axis=1), lt.IndexError, "has not", True),
    "a combination of another dtype": (
        lambda x: lt.associative_scan(lambda a, b: a.double(), x), lt.TypeError, "changes its type",
        True),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    f, error, text, eager = WRONG[name]
    for call in list(eager_and_trace(f, X))[not eager :]:
        with pytest.raises(error, match=text) as found:
            call()
        assert "  at:       " in str(found.value)


def test_what_changes_a_python_object_is_refused():
    seen, counts, box = [], {"n": 0}, collections.namedtuple("Box", "items")([])

    def appends(x):
        return lt.cond(x.sum() > 0, lambda: (seen.append(1), x)[1], lambda: x * 2)

    def counts_rounds(x):
        def body(i, v):
            counts["n"] += 1
            return v + 1

        return lt.fori_loop(0, 30, body, x) * counts["n"]

    def fills(x):
        return lt.map(lambda r: (box.items.append(r), r)[1], x)

    for f in (appends, counts_rounds, fills):
        with pytest.raises(lt.TraceError, match="changes a Python object"):
            lt.trace(f)(lt.ones(20))
    assert not seen and not box.items

    def local(x):
        n = 0

        def body(i, v):
            nonlocal n
            n += 1
            return v + n

        return lt.fori_loop(0, 30, body, x) * n

    with pytest.raises(lt.TraceError, match="changes a Python object"):
        lt.trace(local)(lt.ones(2))
    assert local(lt.ones(2)).tolist() == [30 * 466] * 2


def test_what_moves_on_or_is_older_than_the_part_is_refused():
    w = lt.ones(2, requires_grad=True)

    def iterator(x):
        numbers = iter([1.0, 2.0])
        return lt.cond(x.sum() > 0, lambda: x * next(numbers), lambda: x)

    def exhausted(x):
        numbers = iter([1.0, 2.0])

        def body(i, v):
            for n in numbers:
                v = v + n
            return v

        return lt.fori_loop(0, 20, body, x)

    def generator(x):
        numbers = (float(n) for n in range(30))
        return lt.fori_loop(0, 20, lambda i, v: v + next(numbers), x)

    def made_before(x):
        box = {"n": 0}

        def body(i, v):
            box["n"] += 1
            return v + box["n"]

        return lt.fori_loop(0, 20, body, x)

    def gradient(x):
        w.grad = None
        lt.cond(x.sum() > 0, lambda: ((w * x).sum().backward(), x)[1], lambda: x)
        return w.grad

    for f in (iterator, exhausted, generator, made_before, gradient):
        with pytest.raises(lt.TraceError, match="changes a Python object"):
            lt.trace(f)(lt.ones(2))


def test_a_part_may_change_what_it_makes():
    def f(x):
        def body(i, v):
            parts, named, seen = [v], {}, {1}
            parts.append(v + 1)
            named["a"] = 1.0
            named["b"] = {**{"c": v}}
            named["b"]["c"] = v * 0.5
            seen.add(2)
            return parts[1] + named["a"] + named["b"]["c"]

        return lt.fori_loop(0, 20, body, x)

    assert lt.trace(f)(lt.ones(2)).tolist() == f(lt.ones(2)).tolist()


def test_a_tensor_cannot_leave_the_part_that_made_it():
    def f(x):
        kept = []
        y = lt.cond(x.sum() > 0, lambda: x * 2, lambda: (kept.append(x * 3), x)[1])
        return y + kept[0]

    with pytest.raises(lt.TraceError):
        lt.trace(f)(lt.ones(2))


def test_exceptions():
    def fails():
        raise KeyError("of the user's")

    def f(x):
        return lt.cond(x.sum() > 0, lambda: x, fails)

    assert f(lt.ones(2)).tolist() == [1, 1]
    with pytest.raises(lt.TraceError, match="KeyError: 'of the user's'|KeyError"):
        lt.trace(f)(lt.ones(2))
    with pytest.raises(KeyError):
        f(-lt.ones(2))
    with pytest.raises(KeyError):
        lt.fori_loop(0, 3, lambda i, v: fails(), lt.ones(2))


def test_a_condition_that_differs_between_examples():
    def f(x):
        return lt.cond(x.sum() > 0, lambda: x, lambda: -x)

    with pytest.raises(lt.ValueError, match="differs between the examples"):
        lt.vmap(f)(draw(3, 2))


# ── transforms ──────────────────────────────────────────────────────────────────────────────────


def test_vmap_over_loops():
    x, w = draw(3, 18, 4), draw(4, 4) * 0.3

    def step(rows):
        return lt.scan(lambda h, r: ((h @ w + r).tanh(),) * 2, rows[0] * 0, rows)

    for f in (step, lambda r: lt.fori_loop(0, 20, lambda i, v: v.sin() + r, r), mapped):
        got, want = lt.vmap(f)(x), [f(row) for row in x]
        got = got if isinstance(got, tuple) else (got,)
        for i, w_i in enumerate(want):
            for g, t in zip(got, w_i if isinstance(w_i, tuple) else (w_i,)):
                np.testing.assert_allclose(g[i].numpy(), t.numpy(), rtol=2e-6, atol=1e-6)


def test_derivatives_of_loops():
    x = draw(20, 3).double() * 0.4

    def f(v):
        return lt.scan(lambda c, r: ((c * r).sin() + r, c), v[0], v)[0].sum()

    want = lt.func.grad(f)(x)
    leaf = x.clone().requires_grad_()
    f(leaf).backward()
    assert bits(want) == bits(leaf.grad)
    _, pull = lt.func.vjp(f, x)
    assert bits(pull(lt.ones((), dtype=lt.float64))[0]) == bits(want)
    jacobian = lt.func.jacrev(lambda v: lt.scan(lambda c, r: (c * r, c), v[0], v)[0])(x)
    assert jacobian.shape == (3, 20, 3)
    around = lt.func.grad(lambda v: lt.trace(f)(v))(x)
    np.testing.assert_allclose(around.numpy(), want.numpy(), rtol=1e-12)


# ── the page ────────────────────────────────────────────────────────────────────────────────────


def test_the_page(tmp_path, monkeypatch):
    import re
    import runpy
    from pathlib import Path

    page = (Path(__file__).resolve().parents[3] / "docs/control_flow.md").read_text()
    code = "\n\n".join(re.findall(r"```python\n(.*?)```", page, re.S))
    path = tmp_path / "page.py"
    path.write_text(code)
    runpy.run_path(str(path))
