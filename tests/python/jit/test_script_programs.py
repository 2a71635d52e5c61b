"""Random scripts of branches, loops and early exits: eager and script are equal by bytes.

Every program ends: each `while` counts its own rounds. All give the same structure, so that only
a fault of the front end could refuse them: a tensor, an integer, what may be None, and a list, a
dict and an object whose items change.
"""

import importlib.util
import random

import pytest
from script_checks import same

import lathe as lt

PROGRAMS, IN_A_FILE = 48, 8
REST = "o, l, d, s.h, s.n, l is m, g, q, p, r.l"
HEAD = """
import math

import lathe as lt


def grow(into, x, n):
    while n > 0 and len(into) < 7:
        into.append(x * n)
        n -= 1
    return into


class S:
    def __init__(self, h, n):
        self.h, self.n, self.c = h, n, 0

    def counts(self, most):
        self.c += 1
        return self.c % most != 0

    def step(self, x):
        if x.sum() > self.h.sum():
            self.h = self.h + x
            self.n += 1
"""
INPUTS = [((0.5, 0.25), 0), ((3.0, -1.0), 2), ((-4.0, 1.5), 1), ((9.0, 9.0), 5)]


class Program:
    """The text of one function."""

    def __init__(self, name, seed):
        self.random = random.Random(seed)
        self.lines = [f"def {name}(x, t):", "    y = x * 0.5", "    k = int(t)"]
        self.lines += [
            "    o = None",
            "    l = [x, 0]",
            "    d = {'k': 1, 'x': y}",
            "    s = S(x, 2)",
        ]
        self.lines += ["    m = l", "    g = []", "    q = [k]", "    p = []"]
        self.lines += ["    r = S(x, 0)", "    r.l = [0]"]
        self.counters = 0
        self.block(4, depth=0, loops=0)
        self.put(4, f"return x + y, k, {REST}")

    def put(self, indent, line):
        self.lines.append(" " * indent + line)

    def block(self, indent, depth, loops):
        for _ in range(self.random.randint(1, 3)):
            if not self.statement(indent, depth, loops):
                return

    def statement(self, indent, depth, loops):
        """False where nothing can follow."""
        compound = (self.choice, self.loop) if depth < 3 else ()
        kind = self.random.choice(
            (self.compute, self.change, self.lengthen, *compound, *compound, *compound)
        )
        if depth and self.random.random() < 0.2:
            return self.leave(indent, loops)
        return kind(indent, depth, loops)

    def compute(self, indent, depth, loops):
        self.put(indent, self.random.choice((
            "x = x * 1.5 + 1", "x = x - y", "y = y + x * 0.25", "x, y = y, x + 0.5", "k = k + 1",
            "k = (2 * k + 5) % 11",
            "y = y * k", "x = x + k", "y = y.clone()\n{}y[0] = k", "x = x.abs()",
            "k = 9 // k", "k = k % (k - 2) + 4 // 3", "y = y * (5 / k)", "x = x * math.sqrt(k * k)",
            "y = y.clone()\n{0}y += k\n{0}y[1:] -= k", "y = y + x[k % 2:].sum()",
            "y = y.clone()\n{0}y[: k % 3] = 0.5", "x = x + lt.zeros(k % 2 + 2)[:2]",
        )).format(" " * indent))  # fmt: skip
        return True

    def change(self, indent, depth, loops):
        """What may be None, and items of what holds others."""
        self.put(indent, self.random.choice((
            "o = x * 0.5", "o = None", "o = y if o is None else o + 1", "l[0] = l[0] + 1",
            "l[1] = k", "m[0] = x", "d['x'] = d['x'] * 0.5", "d['k'] += 2", "s.h = s.h - x",
            "s.n = s.n + k", "s.step(x)", "s = S(y, s.n)", "k, s.n = s.n, k",
            "x = x if o is None else x + o", "y = l[0] * 2", "k = d['k'] + len(l)",
            "x = sum([v * 0.5 for v in (l[0], d['x'], s.h)])", "t2 = (x, k)\n{}x = t2[0] * t2[1]",
        )).format(" " * indent))  # fmt: skip
        return True

    def lengthen(self, indent, depth, loops):
        """Lists that grow and shrink: of tensors, of integers, of pairs."""
        self.put(indent, self.random.choice((
            "g.append(x)", "g.append(y * 0.5)", "g += [x, y]", "g = g + [x + 1]", "g.insert(0, y)",
            "if g:\n{0}    x = x + g[-1] * 0.5", "if len(g) > 1:\n{0}    y = g.pop() - g.pop(0)",
            "y = lt.stack(g).sum(0) if g else y", "x = lt.cat(g)[-2:] if len(g) > 0 else x",
            "for v in g:\n{0}    y = y + v * 0.25", "g = [v * 0.5 + x for v in g]",
            "g = [v for v in g if v.sum() > y[0]]", "g = g[1:]", "g.clear()", "g.extend(g[:1])",
            "g = [v * i for i, v in enumerate(g)]", "x = sum(g) if g else x * 2",
            "q.append(k)", "q.append(len(g))", "q = q + [1, k]", "q = [n % 5 for n in q if n > 1]",
            "k = q[-1] if q else k", "k = sum(q) % 7", "k = len(q)", "k = k + (k in q)",
            "while len(q) > 3:\n{0}    k = (k + q.pop()) % 9", "q.reverse()", "q = q[::-1] + [k]",
            "if q:\n{0}    q[0] = k", "if len(q) > 1:\n{0}    del q[1]",
            "if len(q) > 2:\n{0}    k = max(q) - min(q)", "q = list(q)",
            "for i, n in enumerate(q):\n{0}    k = (k + i * n) % 11",
            "for n, v in zip(q, g):\n{0}    x = x + v * (n % 3)",
            "grow(g, x, k % 4)", "g = grow([], y, k % 3)", "r.l.append(k)",
            "r.l = r.l[-2:] + [len(g)]",
            "k = k + r.l.pop() if r.l else k", "x = x + sum([v for v in r.l if v > k])",
            "if g:\n{0}    x = x + g[k % len(g)]", "if q:\n{0}    q[k % len(q)] += 1",
            "with lt.no_grad():\n{0}    g.append(x * 2)",
            "p.append((k, x))", "p.append((len(p), y + 1))",
            "for n, v in p:\n{0}    y = y - v * (n % 2)",
        )).format(" " * indent))  # fmt: skip
        return True

    def condition(self):
        return self.random.choice((
            "o is not None and o.sum() > 1", "o is None", "s.n > d['k']", "l[0].sum() > 2",
            "x.sum() > 3", "y[0] < x[1]", "k > 1", "k % 3 == 0", "x.max() < 6 and k < 4",
            "not (y.sum() > 0 or k == 2)", "x[0] > 0.75", "len(q) < 3", "g", "not p and q",
            "g and g[0].sum() > 1",
        ))  # fmt: skip

    def choice(self, indent, depth, loops):
        self.put(indent, f"if {self.condition()}:")
        self.block(indent + 4, depth + 1, loops)
        if self.random.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 4, depth + 1, loops)
        return True

    def loop(self, indent, depth, loops):
        self.counters += 1
        n, kind = f"n{self.counters}", self.random.randrange(6)
        if kind == 0:
            self.put(indent, f"{n} = 0")
            self.put(indent, f"while {self.condition()} and {n} < 4:")
            self.put(indent + 4, f"{n} += 1")
        elif kind == 1:
            self.put(indent, f"{n} = 0")
            self.put(indent, f"while (c{n} := x.sum()) > y[0] and {n} < 4:")
            self.put(indent + 4, f"{n} += 1")
            self.put(indent + 4, f"y = y + c{n}")
        elif kind == 2:
            self.put(indent, f"{n} = 0")
            self.put(indent, f"while int(x.sum()) % 3 != 0 and {n} < 4:")
            self.put(indent + 4, f"{n} += 1")
        elif kind == 3:
            self.put(indent, f"while s.counts({self.random.choice((2, 5))}) and lt.rand(()) < 0.8:")
        elif kind == 4:
            self.put(indent, f"for {n} in range({self.random.randint(0, 3)}):")
        else:
            self.put(indent, f"for {n} in range(int(t) + 1):")
        self.block(indent + 4, depth + 1, loops + 1)
        return True

    def leave(self, indent, loops):
        ways = [f"return x, k, {REST}", f"return y - x, k + 7, {REST}"] + ["break", "continue"] * (
            2 * bool(loops)
        )
        self.put(indent, self.random.choice(ways))
        return False


def functions(path, first):
    """As functions of a file, since scripts are read from there."""
    texts = ["\n".join(Program(f"f{i}", first + i).lines) for i in range(IN_A_FILE)]
    path.write_text("\n\n\n".join([HEAD, *texts]) + "\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(getattr(module, f"f{i}"), texts[i]) for i in range(IN_A_FILE)]


@pytest.mark.parametrize("first", range(0, PROGRAMS, IN_A_FILE))
def test_random_scripts_equal_eager(first, tmp_path):
    for f, text in functions(tmp_path / f"scripts_{first}.py", first):
        scripted = lt.script(f)
        for values, turns in INPUTS:
            args = lt.tensor(values), lt.tensor(turns)
            lt.manual_seed(turns)
            try:
                want = f(*args)
            except OverflowError:  # an integer that has grown too large for a tensor beside it
                continue
            except ZeroDivisionError as e:
                lt.manual_seed(turns)
                with pytest.raises(ZeroDivisionError, match=str(e)):
                    scripted(*args)
                continue
            lt.manual_seed(turns)
            same(scripted(*args), want), text


def _cost(w, x):
    return (w * x * w).sum() * _scale


_scale = 2.0


def test_transforms_of_functions_from_outside(monkeypatch):
    def all_of_them(w, x):
        slope, value = lt.func.grad_and_value(_cost)(w, x)
        return lt.func.grad(_cost)(w, x), slope, value, lt.func.hessian(_cost)(w, x)

    scripted = lt.script(all_of_them)
    w, x = lt.tensor([1.0, 3.0]), lt.tensor([2.0, 5.0])
    for scale in 2.0, 2.0, 3.0, 4.0:
        monkeypatch.setitem(globals(), "_scale", scale)
        for got, wanted in zip(scripted(w, x), all_of_them(w, x)):
            assert got.tolist() == wanted.tolist()
    assert scripted.counts["traces"] <= 2
