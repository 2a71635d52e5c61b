"""Rows SC: control flow that data decides, as Python writes it."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compare import same
from rows import shows
from test_eager import TreeLSTM

import lathe as lt
from lathe import nn

torch = lt


@shows(
    "SC-02",
    "partly: a scripted branch follows the data. Not: gradients asked for from outside of it",
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


@shows(
    "SC-06",
    "partly: `for` over a range and tensor rows, `while` with a tensor condition, `if/elif/else`",
)
def test_sc_06_control_flow():
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
    "`while_loop` with the seed's lambdas: 10,000 turns in one loop of the program, each of which "
    "prints both lines in order",
)
def test_sc_03_while_loop(capsys):
    n = 10000
    x = lt.tensor(list(range(n)))

    @lt.script
    def count(i, x):
        return lt.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x + 1), (i, x))

    i, out = count(lt.tensor(0), x)
    assert i.item() == n and same(out, x + n)
    assert count.graph.count("add(") == 2, "a loop, not its turns"

    def show(value, listed, label=""):
        print(f"{label}[{listed}]")
        return value

    def shown(i, x):
        return lt.while_loop(
            lambda i, x: i < n, lambda i, x: (show(i + 1, i), show(x + 1, i, "x:")), (i, x)
        )

    lines = [line for k in range(n) for line in (f"[{k}]", f"x:[{k}]")]
    for program in (shown, lt.trace(shown), lt.script(shown)):
        i, out = program(lt.tensor(0), x)
        assert i.item() == n and same(out, x + n)
        assert capsys.readouterr().out.split() == lines


@shows(
    "SC-04",
    "partly: the TreeLSTM cell over a list of children: equal eager for 0 to 9 of them, aliases as "
    "in eager, and a scripted step trains it. Not: one program for every length of the list",
)
def test_sc_04_tree_lstm():
    lt.manual_seed(2)
    cell = TreeLSTM(3, 4, 9)
    scripted = lt.script(cell.forward)
    inputs = lt.randn(2, 3)
    with lt.no_grad():
        for n in range(10):
            children = [lt.randn(2, 8) for _ in range(n)]
            assert same(scripted(inputs, children), cell(inputs, children)), n
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
    "partly: the subset is a page (`docs/script.md`), whose code runs; what is outside of it is "
    "refused by its name, with file and line. Not: a caret",
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

    for function, construct in ((deletes, "deleted"),):
        with pytest.raises((lt.ScriptError, lt.TraceError)) as caught:
            lt.script(function)(lt.ones(2))
        text = str(caught.value)
        first = function.__code__.co_firstlineno
        assert construct in text and f"test_scripting.py:{first + 1}" in text


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
    "partly: a text made by numbers that are known; a real conflict of types is refused at the "
    "`if`, with both kinds. Not: texts that data decides",
)
def test_sc_13_kinds():
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

    def conflict(x):
        if x.sum() > 0:
            y = 1
        else:
            y = x
        return y

    line = conflict.__code__.co_firstlineno + 1
    with pytest.raises(lt.ScriptError, match=rf"(?s)'y'.*1 and a tensor.*scripting.py:{line}"):
        lt.script(conflict)(lt.ones(2))


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
    "partly: `break`, `continue` and `return` after a loop as in Python, in nested loops too. "
    "Not: a return from inside a loop that data ends",
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


@shows(
    "SC-17",
    "partly: `for row in x`, and `scan` over any axis; differentiable. Not: recorded as a loop",
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

    a = np.random.default_rng(0).standard_normal((3, 4))
    for axis in (0, 1):
        x = lt.tensor(a)
        last, before = running(x, axis)
        want, rows = np.zeros(a.shape[1 - axis]), []
        for row in np.moveaxis(a, axis, 0):
            rows.append(want)
            want = want * 0.5 + row
        np.testing.assert_array_equal(last.numpy(), want)
        np.testing.assert_array_equal(before.numpy(), np.stack(rows, axis))
        assert same(lt.trace(running)(x, axis)[0], last)
        x.requires_grad_()
        running(x, axis)[0].sum().backward()
        weights = 0.5 ** np.arange(a.shape[axis] - 1, -1, -1.0)
        shape = [1, 1]
        shape[axis] = -1
        np.testing.assert_array_equal(
            x.grad.numpy(), np.broadcast_to(weights.reshape(shape), a.shape)
        )
