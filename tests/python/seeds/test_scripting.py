"""Rows SC: control flow that data decides, as Python writes it."""

import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np
import pytest
from compare import same
from consumers import needs_library
from rows import shows
from test_eager import TreeLSTM
from tf_names import autograph, tf
from tree_lstm import cells

import lathe as lt
from lathe import nn

torch = lt


@shows(
    "SC-01",
    "the fizzbuzz of the seed as written: texts that data chooses, `+=` on them, prints in order, "
    "16 as the result; one program for every i and n. It prints the same from C++ after saving",
)
@needs_library
def test_sc_01_fizzbuzz(capsys, cpp, tmp_path):
    @autograph.convert()
    def fizzbuzz(i, n):
        while i < n:
            msg = ""  # noqa: Q000
            if i % 3 == 0:
                msg += "Fizz"  # noqa: Q000
            if i % 5 == 0:
                msg += "Buzz"  # noqa: Q000
            if msg == "":  # noqa: Q000
                msg = tf.as_string(i)
            print(msg)
            i += 1
        return i

    path = tmp_path / "fizzbuzz.lathe"
    lt.save(fizzbuzz, path, inputs=(lt.tensor(1), lt.tensor(16)))
    loaded = lt.load(path)
    for i, n in ((1, 16), (3, 4), (5, 5), (1, 31)):
        words = [("Fizz" * (k % 3 == 0) + "Buzz" * (k % 5 == 0)) or str(k) for k in range(i, n)]
        for program in (fizzbuzz, loaded):
            assert program(lt.tensor(i), lt.tensor(n)).item() == n
            assert capsys.readouterr().out.split() == words
        assert cpp("fizzbuzz", path, i, n).decode().split() == [*words, str(n)]
    assert fizzbuzz.counts["traces"] == 1 and "while" in fizzbuzz.graph


@shows(
    "SC-02",
    "a scripted branch follows the data at each call, by one program; gradients, asked for from "
    "outside of it, go through the branch that was taken and through no other",
)
def test_sc_02_max():
    @torch.jit.script
    def foo(x, y):
        if x.max() > y.max():
            r = x
        else:
            r = y
        return r

    a, b = lt.tensor([1.0, 5.0]), lt.tensor([2.0, 3.0])
    assert foo(a, b).tolist() == [1, 5] and foo(b, a).tolist() == [1, 5]
    assert foo.counts["traces"] == 1
    for first, second, taken in ((a, b, 0), (b, a, 1)):
        leaves = [t.clone().requires_grad_() for t in (first, second)]
        (foo(*leaves) * lt.tensor([2.0, 3.0])).sum().backward()
        assert leaves[taken].grad.tolist() == [2, 3]
        other = leaves[1 - taken].grad
        assert other is None or other.abs().sum().item() == 0
    assert foo.counts["node_by_node"] == 0


@shows(
    "SC-06",
    "`for` over a range, tensor rows, a list, `enumerate` and `zip`; `while` with a tensor "
    "condition; `if/elif/else`",
)
def test_sc_06_control_flow():
    def lists(xs, ys, rows):
        s = rows[0] * 0
        for k, (a, b) in enumerate(zip(xs, ys)):
            if (a > b).any():
                s = s + a * k
            elif k > 0:
                s = s * 2
            else:
                s = s - b
        for x in xs:
            while (x > 1).any():
                x = x / 2
                s = s + x
        for row in rows:
            s = s + row if row.sum() > 0 else s - row
        return s

    scripted = lt.script(lists)
    for seed in range(5):
        lt.manual_seed(seed)
        xs, ys = ([lt.randn(2) * 3 for _ in range(3)] for _ in range(2))
        rows = lt.randn(4, 2)
        assert same(scripted(xs, ys, rows), lists(xs, ys, rows)), seed
    assert scripted.counts["traces"] == 1

    def f(x, n: int):
        total = x * 0
        for i in range(n):
            if x.sum() > 3:
                x = x - 1
            elif x.sum() > 0:
                x = x * 0.5
            else:
                x = x + 2
            total = total + x * i
        while total.sum() > 1:
            total = total / 2
        return total

    scripted = lt.script(f)
    for seed in range(6):
        lt.manual_seed(seed)
        x = lt.randn(3) * 3
        assert same(scripted(x, 5), f(x, 5)), seed


@shows(
    "SC-03",
    "the seed's `while_loop` as written, lambdas that print and all: 10,000 turns in one loop of "
    "the program, each of which prints both lines in order; without prints in 50 ms (beside "
    "busy processes: faster than eager)",
)
def test_sc_03_while_loop(capsys):
    n = 10000
    x = tf.constant(list(range(n)))
    c = lambda i, x: i < n  # noqa: E731
    b = lambda i, x: (tf.Print(i + 1, [i]), tf.Print(x + 1, [i], "x:"))  # noqa: E731

    def seed(x):
        return tf.while_loop(c, b, (0, x))

    lines = [line for k in range(n) for line in (f"[{k}]", f"x:[{k}]")]
    for program in (seed, lt.trace(seed), lt.script(seed)):
        i, out = program(x)
        with tf.Session() as sess:
            print(sess.run(i))
        assert same(out, x + n)
        assert capsys.readouterr().out.split() == [*lines, str(n)]

    @lt.script
    def count(i, x):
        return lt.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x + 1), (i, x))

    i, out = count(lt.tensor(0), x)
    assert i.item() == n and same(out, x + n)
    assert count.graph.count("add(") == 2, "a loop, not its turns"

    def best(function):
        times = []
        while len(times) < 40 and min(times, default=1) >= 0.05:
            began = time.perf_counter()
            function()
            times.append(time.perf_counter() - began)
        return min(times)

    def additions():
        a, i = x, lt.tensor(0)
        while i < n:
            i = i + 1
            a = a + 1

    ours = best(lambda: count(lt.tensor(0), x))
    assert ours < 0.05 or ours < best(additions), "also where other processes slow the machine"


@shows(
    "SC-04",
    "the TreeLSTM cell in both readings over a list whose length each call decides: equal eager "
    "for 0 to 9 children (the flat one needs one), aliases as in eager, and a scripted step trains "
    "it; a length is captured once",
)
def test_sc_04_tree_lstm():
    lt.manual_seed(2)
    cell = TreeLSTM(3, 4, 9)
    inputs = lt.randn(2, 3)
    readings = [kind(3, 4, 9) for kind in cells(torch).values()]
    with lt.no_grad():
        for net, fewest in ((cell, 0), (readings[0], 0), (readings[1], 1)):
            scripted = lt.script(net.forward)
            for _ in range(2):
                for n in range(fewest, 10):
                    children = [lt.randn(2, 8) for _ in range(n)]
                    assert same(scripted(inputs, children), net(inputs, children)), n
            assert scripted.counts["traces"] == 10 - fewest
            if fewest:
                with pytest.raises(UnboundLocalError):
                    net(inputs, [])
                with pytest.raises((UnboundLocalError, lt.ScriptError)):
                    scripted(inputs, [])
    twin = TreeLSTM(3, 4, 9)
    twin.load_state_dict(cell.state_dict())
    ways = []
    for model in (cell, twin):
        optimizer = lt.optim.SGD(model.parameters(), lr=0.1)

        def step(inputs, children, model=model, optimizer=optimizer):
            loss = (model(inputs, children) ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        ways.append(step)
    plain, compiled = ways[0], lt.script(ways[1])
    children = [lt.randn(2, 8) for _ in range(3)]
    losses = []
    for k in range(6):
        loss = plain(inputs, children)
        other = (ways[1] if k == 0 else compiled)(inputs, children)
        assert same(loss, other)  # the first step makes the gradients that the capture then finds
        losses.append(loss.item())
    assert losses[-1] < losses[0]


@shows(
    "SC-05",
    "the subset is a page (`docs/script.md`), whose code runs; what is outside of it is refused by "
    "its name, with file and line, the line's text and a caret under the place",
)
def test_sc_05_the_page_and_refusals(tmp_path):
    page = (Path(__file__).resolve().parents[3] / "docs/script.md").read_text()
    code = tmp_path / "page.py"
    code.write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.S)))
    done = subprocess.run([sys.executable, code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    def deletes(x):
        del x.data
        return x

    def yields(x):
        yield x

    def defines(x):
        class Local:
            value = 2

        return x * Local.value

    def waits(x):
        total = 0
        while x.sum() > total:
            x = x - 1
        else:
            x = x * 2
        return x

    cases = (
        (deletes, 1, "deleted", None), (yields, 0, "generator", None),
        (defines, 1, "class", "class Local:"),
        (waits, 2, "else of a loop", "while x.sum() > total:"),
    )  # fmt: skip
    for function, line, construct, marked in cases:
        with pytest.raises((lt.ScriptError, lt.TraceError)) as caught:
            lt.script(function)(lt.ones(2))
        text = str(caught.value)
        first = function.__code__.co_firstlineno
        assert construct in text and f"test_scripting.py:{first + line}" in text, text
        if marked is not None:
            source, carets = text.split("\n")[text.split("\n").index(f"            {marked}") :][:2]
            at = re.search(r"\^+", carets)
            assert source[at.start() : at.end()] == marked, text


def nested_source(rng, name):
    """A function of x and n: branches and loops inside each other, six deep."""
    lines = [f"def {name}(x, n):", "    y = x * 0", "    k = 0"]

    def block(depth, indent):
        pad = "    " * indent
        lines.append(f"{pad}y = y + x * {rng.integers(1, 5)}")
        if depth == 0:
            lines.append(f"{pad}x = x * 0.5 - {rng.integers(0, 3)}")
            return
        kind = rng.integers(0, 4)
        if kind == 0:
            lines.append(f"{pad}if x.sum() > {rng.integers(-3, 4)}:")
            block(depth - 1, indent + 1)
            lines.append(f"{pad}elif y.sum() > {rng.integers(-3, 4)}:")
            lines.append(f"{pad}    y = y - 1")
            lines.append(f"{pad}else:")
            lines.append(f"{pad}    x = x + 1")
        elif kind == 1:
            lines.append(f"{pad}for i{depth} in range(n):")
            block(depth - 1, indent + 1)
        elif kind == 2:
            lines.append(f"{pad}t{depth} = lt.tensor(0)")
            lines.append(f"{pad}while t{depth} < {rng.integers(1, 3)}:")
            lines.append(f"{pad}    t{depth} = t{depth} + 1")
            block(depth - 1, indent + 1)
        else:
            lines.append(f"{pad}if n > 1:")
            block(depth - 1, indent + 1)
            lines.append(f"{pad}else:")
            lines.append(f"{pad}    y = -y")

    block(6, 1)
    return "\n".join([*lines, "    return x + y", ""])


@shows(
    "SC-07",
    "branches and loops six deep, over data and over numbers: 50 random programs on 1,000 inputs "
    "in all give what plain Python gives",
)
def test_sc_07_random_nestings(tmp_path):
    rng = np.random.default_rng(7)
    sources = [nested_source(rng, f"f{k}") for k in range(50)]
    path = tmp_path / "nestings.py"
    path.write_text("import lathe as lt\n\n\n" + "\n\n".join(sources))
    names = {"__name__": "nestings"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    checked = 0
    for k in range(50):
        plain = names[f"f{k}"]
        scripted = lt.script(plain)
        for n in (1, 2):
            for _ in range(10):
                x = lt.from_numpy((rng.standard_normal(3) * 4).astype(np.float32))
                assert same(scripted(x, n), plain(x, n)), sources[k]
                checked += 1
        assert scripted.counts["traces"] == 2, "one for each n, none for the data"
    assert checked == 1000


class Gated(nn.Module):
    """A module with submodules in a list, and a method besides forward."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.scale = 2.0

    def gate(self, x):
        if x.sum() > 0:
            return x * self.scale
        return -x

    def forward(self, x):
        for k in range(3):
            x = self.gate(self.parts[k](x))
        return self.parts[-1](x)


@shows("SC-11", "functions, methods, and modules with submodules in a list that is indexed")
def test_sc_11_what_is_scripted():
    net = Gated()
    with lt.no_grad():
        for way in (lt.script(net), lt.script(net.forward), lt.script(lambda x: net(x))):
            for _ in range(4):
                x = lt.randn(2, 3)
                assert same(way(x), net(x))
            assert way.counts["traces"] == 1
        gate = lt.script(net.gate)
        assert gate(lt.ones(2)).tolist() == [2, 2] and gate(-lt.ones(2)).tolist() == [1, 1]
        net.scale = 3.0
        assert gate(lt.ones(2)).tolist() == [3, 3]


@shows(
    "SC-12",
    "a loop over data is one loop of the program: 10 and 10,000 turns run the same graph "
    "(a range over a Python number is unrolled)",
)
def test_sc_12_loops_stay():
    @lt.script
    def total(i, n, x):
        while i < n:
            x = x + i
            i += 1
        return x

    for n in (10, 10000, 0):
        want = float(np.float32(sum(range(n))))
        x = lt.zeros(2, dtype=lt.float64)
        assert total(lt.tensor(0), lt.tensor(n), x).tolist() == [want] * 2
    assert total.counts["traces"] == 1 and total.graph.count("add(") == 2


@shows(
    "SC-13",
    "a name that is one text or another, made of numbers that are known or chosen by data, is one "
    "text; a real conflict of types is refused at the `if`, with both kinds and both lines",
)
def test_sc_13_kinds(capsys):
    def shout(x, i):
        msg = ""
        if i % 3 == 0:
            msg += "Fizz"
        if i % 5 == 0:
            msg += "Buzz"
        if msg == "":
            msg = str(i)
        return x + len(msg)

    scripted = lt.script(shout)
    assert [scripted(lt.zeros(1), i).item() for i in (3, 5, 15, 7)] == [4, 4, 8, 1]

    @lt.script
    def tell(x):
        msg = "none"
        if x > 0:
            msg = f"{x:.1f}"
        print(msg)
        return x

    for value, said in ((2.0, "2.0"), (-1.0, "none"), (0.25, "0.2")):
        tell(lt.tensor(value))
        assert capsys.readouterr().out == said + "\n"
    assert tell.counts["traces"] == 1

    def conflict(x):
        if x.sum() > 0:
            y = 1
        else:
            y = x
        return y

    first = conflict.__code__.co_firstlineno
    with pytest.raises(lt.ScriptError, match=rf"(?s)'y'.*1 and a tensor.*:{first + 1}") as caught:
        lt.script(conflict)(lt.ones(2))
    assert f"lines {first + 2} and {first + 4}" in caught.value.got


@shows(
    "SC-08",
    "`assert` with a message raises it at run time with the user's line, and prints are made at "
    "each call in program order, before and after it, of tensors and of Python's values",
)
def test_sc_08_assert_and_print(capsys):
    def f(x, n):
        print("begin", n)
        assert x.sum() > 0, f"sum {x.sum():.1f}"
        print("sum:", x.sum())
        x = x - 1
        while x.sum() > 0:
            print("round", x, [n, "text"])
            assert x.max() < 50, "too large"
            x = x - 2
        print("end")
        return x

    scripted = lt.script(f)
    for row in ([1.0, 1.0], [5.0, 2.0], [-1.0, 0.5], [60.0, 1.0], [3.0, 3.0]):
        said, errors = [], []
        for way in (f, scripted):
            try:
                errors.append(way(lt.tensor(row), 7).tolist())
            except AssertionError as e:
                frame = traceback.extract_tb(e.__traceback__)[-1]
                errors.append((str(e), frame.filename, frame.lineno))
            said.append(capsys.readouterr().out)
        assert said[0] == said[1] and said[0].startswith("begin 7\n"), row
        assert errors[0] == errors[1], row
    assert scripted.counts["traces"] == 1


@shows("SC-14", "`i += 1` on a number or on a tensor: two captures of one function")
def test_sc_14_numbers_or_tensors():
    @lt.script
    def up(i, x):
        i += 1
        return x * i, i

    y, i = up(2, lt.ones(2))
    assert y.tolist() == [3, 3] and i == 3 and type(i) is int
    given = lt.tensor(2)
    y, i = up(given, lt.ones(2))
    assert y.tolist() == [3, 3] and i.item() == 3 and given.item() == 3, "in place, as in eager"
    assert up.counts["traces"] == 2


@shows(
    "SC-15",
    "`break`, `continue` and `return` as in Python: after a loop, out of one, and out of two in "
    "each other that data ends; one program",
)
def test_sc_15_early_exits():
    def f(x, n: int):
        total = x * 0
        for i in range(n):
            if i == 2:
                continue
            while x.sum() < 20:
                x = x + 1
                if x.sum() > 12:
                    break
                if x.sum() > 5:
                    continue
                total = total + x
            if total.sum() > 50:
                break
            x = x * 0.25
        if total.sum() > 30:
            return total * 2
        return total

    scripted = lt.script(f)
    for start in (-3.0, 0.5, 3.0, 13.0, 20.0, 90.0):
        x = lt.tensor([start])
        assert same(scripted(x, 6), f(x, 6)), start
    assert scripted.counts["traces"] == 1

    def early(x, rounds):
        k = 0
        while k < rounds:
            while x.sum() < 100:
                x = x * 2 + 1
                if x.max() > 30:
                    return x
                if x.max() > 20:
                    break
                for j in range(3):
                    if x[j % 2] < -j:
                        continue
                    if x.sum() > 60 + j:
                        return -x
            x = x * 0.5 - 3
            k = k + 1
        return x * 0

    scripted = lt.script(early)
    for row in ([0.0, 0.0], [11.0, 4.0], [25.0, 90.0], [-9.0, 2.0], [21.0, 1.0], [3.0, 40.0]):
        for rounds in (0, 1, 5):
            x, n = lt.tensor(row), lt.tensor(rounds)
            assert same(scripted(x, n), early(x, n)), (row, rounds)
    assert scripted.counts["traces"] == 1


@shows(
    "SC-17",
    "`for row in x`, and `scan` over any axis, which is one loop of the program for any number of "
    "rows; differentiable",
)
def test_sc_17_rows():
    def horner(x):
        s = lt.zeros(x.shape[1])
        for row in x:
            s = s * 2 + row
        return s

    for rows in (3, 1):
        x = lt.randn(rows, 4)
        assert same(lt.script(horner)(x), horner(x))

    def running(x, axis):
        return lt.scan(lambda s, row: (s * 0.5 + row, s), x.select(axis, 0) * 0, x, dim=axis)

    a, gradients = np.random.default_rng(0).standard_normal((3, 4)), []
    for axis in (0, 1):
        x = lt.tensor(a)
        last, before = running(x, axis)
        want, rows = np.zeros(a.shape[1 - axis]), []
        for row in np.moveaxis(a, axis, 0):
            rows.append(want)
            want = want * 0.5 + row
        np.testing.assert_array_equal(last.numpy(), want)
        np.testing.assert_array_equal(before.numpy(), np.stack(rows, axis))
        traced = lt.trace(running)
        assert same(traced(x, axis)[0], last) and "for %" in traced.graph
        longer = lt.cat([x, x], axis)
        assert same(traced(longer, axis)[0], running(longer, axis)[0])
        assert traced.counts["traces"] == 1
        for way in (running, traced):
            x = lt.tensor(a).requires_grad_()
            way(x, axis)[0].sum().backward()
            gradients.append(x.grad)
        assert same(*gradients[-2:])
        weights = 0.5 ** np.arange(a.shape[axis] - 1, -1, -1.0)
        shape = [1, 1]
        shape[axis] = -1
        np.testing.assert_array_equal(
            x.grad.numpy(), np.broadcast_to(weights.reshape(shape), a.shape)
        )


@shows(
    "SC-18",
    "`lt.reduce` and `lt.map` with a function of the user's, scripted or not, over any axis: one "
    "loop of the program, differentiable; prefixes by `associative_scan`",
)
def test_sc_18_user_reductions():
    @lt.script
    def combine(a, b):
        return a + b + a * b

    def product(x, axis):
        return lt.reduce(combine, lt.zeros_like(x.select(axis, 0)), x, dim=axis)

    def squares(x, axis):
        return lt.map(lambda row: row * row.sum(), x, dim=axis)

    a = np.random.default_rng(1).standard_normal((5, 3))
    for axis in (0, 1):
        want = np.prod(1 + a, axis) - 1
        traced, mapped = lt.trace(product), lt.trace(squares)
        for way in (product, traced, lt.script(product)):
            np.testing.assert_allclose(way(lt.tensor(a), axis).numpy(), want, rtol=1e-12)
        assert traced.graph.count("for %") == 1 and traced.graph.count("mul(") == 1
        assert same(traced(lt.tensor(a), axis), product(lt.tensor(a), axis))
        each = a * a.sum(1 - axis, keepdims=True)
        for way in (squares, mapped):
            np.testing.assert_allclose(way(lt.tensor(a), axis).numpy(), each, rtol=1e-12)
        assert mapped.graph.count("for %") == 1
        assert lt.autograd.gradcheck(lambda x, k=axis: product(x, k), lt.tensor(a).requires_grad_())
        assert lt.autograd.gradcheck(lambda x, k=axis: squares(x, k), lt.tensor(a).requires_grad_())
    prefixes = lt.associative_scan(combine, lt.tensor(a), axis=0).numpy()
    np.testing.assert_allclose(prefixes, np.cumprod(1 + a, 0) - 1, rtol=1e-12)


@shows(
    "SC-19",
    "an LSTM cell written in a script as a `scan` takes at most 1.5 times as long as `nn.LSTM`, "
    "eager or traced, whichever is faster (16 examples, 128 wide, 50 steps)",
)
def test_sc_19_a_cell_of_ones_own():
    steps, batch, width = 50, 16, 128
    layer = nn.LSTM(width, width)
    wi, wh = layer.weight_ih_l0.detach().T, layer.weight_hh_l0.detach().T
    bias = (layer.bias_ih_l0 + layer.bias_hh_l0).detach()

    @lt.script
    def own(x, h, c):
        def cell(state, row):
            h, c = state
            i, f, g, o = (row @ wi + h @ wh + bias).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            return (h, c), h

        return lt.scan(cell, (h, c), x)[1]

    x, zeros = lt.randn(steps, batch, width), lt.zeros(batch, width)
    traced = lt.trace(lambda x: layer(x)[0])
    ways = {"own": lambda: own(x, zeros, zeros), "eager": lambda: layer(x)[0],
            "traced": lambda: traced(x)}  # fmt: skip
    times = {name: [] for name in ways}
    with lt.no_grad():
        np.testing.assert_allclose(ways["own"]().numpy(), layer(x)[0].numpy(), atol=2e-6)
        for _ in range(30):
            for name, way in ways.items():
                began = time.perf_counter()
                way()
                times[name].append(time.perf_counter() - began)
    best = {name: min(all) for name, all in times.items()}
    assert best["own"] <= 1.5 * min(best["eager"], best["traced"]), best
