"""Python functions changed at random, by their syntax trees.

The corpus is what the tests of scripts are about: each function that stands in one of them. A
program is one of these functions with a few changes, each of which keeps it Python: expressions
and statements of other functions in the place of its own, odd constants, other operators, builtins
around values, statements inside of loops, branches, handlers and functions.
"""

import ast
import copy
import functools
import random
import warnings
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
MODULES = "python/jit/test_script*.py"
ODD = [0, 1, -1, 2, 3, 7, 64, 1 << 31, 1 << 62, 1 << 64, 10**30, 0.0, -0.0, 0.5, 1e308, 1e-320]
ODD += [True, False, None, "", "a", "{}", b"x", (), ..., 2j, float("inf"), float("nan")]
BINARY = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult]
BINARY += [ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift]
COMPARE = [ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE]
COMPARE += [ast.Is, ast.IsNot, ast.In, ast.NotIn]
STORES = [" = {}", " += {}", " in {}", ", {} = {}", "[0] = {}", ".a = {}", ": int = "]
AROUND = """
len({}); int({}); float({}); bool({}); str({}); repr({}); list({}); tuple({}); sorted({}); sum({})
max({}, 1); min({}); abs({}); round({}); range({}); list(enumerate({})); dict(a={}); set([{}])
isinstance({}, int); getattr({}, 'shape', None); {}.shape; {}.sum(); {}.to(lt.int64); {}.T
{}.item(); {}[0]; {}[-1]; {}[:, None]; {}[::2]; {}[{}]; f'{{{}}}'; f'{{{}:.3f}}'; [e for e in {}]
not {}; -{}; {{k: k for k in {}}}; ({} if {} else {}); {} and {}; {} or {}; (lambda: {})()
(lambda a: a)({}); (t := {}); [*{}, 1]; ({}, {}); [{}, {}]; {{'k': {}}}; {{'k': {}}}['k']
hash({}) == hash({}); type({}); lt.where({}, {}, {}); lt.cat([{}, {}]); {}.view(-1); lt.zeros({})
{}.requires_grad_(); next(iter({})); any({}); all([{}]); zip({}, {}); list(map(lambda a: a, {}))
reversed({}); {} < {} < {}; print({}); {}.backward(); {}.detach(); {}.numpy(); {}.tolist()
lt.cond({}, lambda: {}, lambda: {}); divmod({}, 2); pow({}, 2, 7); {}.append({}); {}.nobody
open({}); eval('1'); globals(); locals(); vars({}); ~{}; +{}
"""
INSIDE = """
if {}:
    pass
else:
    {} = {}
---
while {}:
    pass
---
for {} in {}:
    pass
---
for i in range(3):
    pass
else:
    {} = {}
---
try:
    pass
except Exception as e:
    {} = {}
finally:
    {} = {}
---
try:
    pass
except (ValueError, lt.Error):
    return {}
---
with lt.no_grad():
    pass
---
def g(a=1, *b, **c):
    pass
{} = g({})
---
match {}:
    case [{}, *_] | {{'a': {}}}:
        pass
    case 0 | None:
        {} = {}
    case _:
        pass
---
class C:
    v = {}
{} = C()
"""
ALONE = """
break
---
continue
---
return
---
return {}
---
raise ValueError({})
---
raise
---
assert {}, {}
---
del {}
---
{} += {}
---
{}[0] = {}
---
{}.a = {}
---
{}, {} = {}
---
{}: int = {}
---
print({}, end='')
---
yield {}
---
global x
---
nonlocal x
---
import math
---
from os import path
---
{} = [{}] * 3
---
f({}, {})
"""


@functools.cache
def corpus():
    """The functions of the tests of scripts that have plain parameters, in order."""
    found = []
    for path in sorted(TESTS.glob(MODULES)):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("test"):
                continue
            a = node.args
            if not a.args or a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs:
                continue
            if a.args[0].arg not in ("self", "cls") and not node.decorator_list:
                found.append(node)
    return found


@functools.cache
def parts():
    """(expressions, statements) of the corpus."""
    nodes = [n for f in corpus() for s in f.body for n in ast.walk(s)]
    expressions = [n for n in nodes if isinstance(n, ast.expr) and _loads(n)]
    return expressions, [n for n in nodes if isinstance(n, ast.stmt)]


def _loads(node):
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not isinstance(
        node, (ast.Starred, ast.Slice, ast.JoinedStr, ast.FormattedValue)
    )


class Mutation:
    """One function, changed in place."""

    def __init__(self, function, random):
        self.function, self.random = function, random
        self.names = [a.arg for a in function.args.args]
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.names.append(node.id)

    def once(self):
        choice = self.random.choice
        choice([self.replace, self.replace, self.around, self.around, self.operator, self.constant,
                self.name, self.insert, self.insert, self.alone, self.inside, self.inside,
                self.delete, self.swap])()  # fmt: skip

    # ── places ──────────────────────────────────────────────────────────────────────────────────

    def expressions(self):
        """(owner, field, index or None) of each expression that is read."""
        places = []
        for node in ast.walk(self.function):
            if isinstance(node, (ast.arguments, ast.JoinedStr, ast.FormattedValue, ast.pattern)):
                continue
            for field, value in ast.iter_fields(node):
                if field in ("returns", "annotation"):
                    continue
                for i, item in enumerate(value) if isinstance(value, list) else ((None, value),):
                    if isinstance(item, ast.expr) and _loads(item):
                        places.append((node, field, i))
        return places

    def blocks(self):
        return [
            value
            for node in ast.walk(self.function)
            for field, value in ast.iter_fields(node)
            if field in ("body", "orelse", "finalbody") and isinstance(value, list) and value
        ]

    def put(self, place, node):
        owner, field, index = place
        if index is None:
            setattr(owner, field, node)
        else:
            getattr(owner, field)[index] = node

    def at(self, place):
        owner, field, index = place
        value = getattr(owner, field)
        return value if index is None else value[index]

    # ── material ────────────────────────────────────────────────────────────────────────────────

    def own_names(self, node):
        """The node, its names ones of this function, mostly."""
        node = copy.deepcopy(node)
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and n.id != "lt" and self.random.random() < 0.8:
                n.id = self.random.choice(self.names)
        return node

    def expression(self, deep=True):
        pick = self.random.random()
        if pick < 0.4:
            return ast.Name(self.random.choice(self.names), ast.Load())
        if pick < 0.6 or not deep:
            return ast.Constant(self.random.choice(ODD))
        return self.own_names(self.random.choice(parts()[0]))

    def filled(self, template):
        """The template with expressions of this function for each {}."""
        holes = template.replace("{{", "").replace("}}", "").count("{}")
        texts = [f"({ast.unparse(self.expression(deep=False))})" for _ in range(holes)]
        return template.format(*texts)

    def statements(self, templates):
        """Of a random template: a name for each {} that is written to, expressions elsewhere."""
        lines = []
        for line in self.random.choice(templates.split("---")).strip().splitlines():
            store = self.random.choice(self.names)
            for sign in STORES:
                if line.lstrip().removeprefix("for ").startswith("{}" + sign):
                    line = line.replace("{}", store, 1)
            if "case [" in line or line.startswith("del "):
                line = line.replace("{}", store, 1).replace("{}", "0")
            lines.append(line if "{}" not in line else self.filled(line))
        return ast.parse("\n".join(lines)).body

    # ── changes ─────────────────────────────────────────────────────────────────────────────────

    def replace(self):
        self.put(self.random.choice(self.expressions()), self.expression())

    def around(self):
        place = self.random.choice(self.expressions())
        texts = [t for line in AROUND.strip().splitlines() for t in line.split("; ")]
        template = self.random.choice(texts)
        holes = template.replace("{{", "").replace("}}", "").count("{}")
        inside = [ast.unparse(self.at(place)), *(ast.unparse(self.expression()) for _ in range(9))]
        texts = [f"({t})" for t in inside[:holes]]
        self.put(place, ast.parse(template.format(*texts), mode="eval").body)

    def operator(self):
        nodes = [n for n in ast.walk(self.function) if isinstance(n, (ast.BinOp, ast.AugAssign))]
        compares = [n for n in ast.walk(self.function) if isinstance(n, ast.Compare)]
        if nodes:
            self.random.choice(nodes).op = self.random.choice(BINARY)()
        if compares:
            node = self.random.choice(compares)
            node.ops = [self.random.choice(COMPARE)() for _ in node.ops]

    def constant(self):
        places = [p for p in self.expressions() if isinstance(self.at(p), ast.Constant)]
        if places:
            self.put(self.random.choice(places), ast.Constant(self.random.choice(ODD)))

    def name(self):
        names = [n for n in ast.walk(self.function) if isinstance(n, ast.Name)]
        if names:
            self.random.choice(names).id = self.random.choice(self.names)

    def insert(self):
        block = self.random.choice(self.blocks())
        new = self.own_names(self.random.choice(parts()[1]))
        block.insert(self.random.randint(0, len(block)), new)

    def alone(self):
        block = self.random.choice(self.blocks())
        at = self.random.randint(0, len(block))
        block[at:at] = self.statements(ALONE)

    def inside(self):
        """Some statements of a block into the first `pass` of a template."""
        block = self.random.choice(self.blocks())
        first = self.random.randrange(len(block))
        last = self.random.randint(first + 1, len(block))
        new = self.statements(INSIDE)
        moved = block[first:last]
        for node in ast.walk(ast.Module(new, [])):
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Pass):
                node.body = moved
                moved = [ast.Pass()]
        block[first:last] = new

    def delete(self):
        block = self.random.choice(self.blocks())
        if len(block) > 1:
            del block[self.random.randrange(len(block))]

    def swap(self):
        block = self.random.choice(self.blocks())
        i, k = (self.random.randrange(len(block)) for _ in range(2))
        block[i], block[k] = block[k], block[i]


VALUES = """
lt.tensor([1.0, -2.0, 0.5]); lt.ones(2, 2); lt.tensor(2.0); lt.tensor([1, 2, 3]); lt.tensor(3)
lt.tensor([True, False, True]); lt.ones(3); lt.zeros(0); 2; 3; 0; -1; 2.5; True; None
[1, 2]; [lt.ones(3), lt.zeros(3)]; (1.0, lt.ones(3)); {'a': lt.ones(3), 'b': 1}; 'a'
"""


def _argument(name, random):
    texts = [t for line in VALUES.strip().splitlines() for t in line.split("; ")]
    if random.random() < 0.6:
        texts = texts[:3] if name not in "nkij" else ["2", "3", "lt.tensor(2)"]
    return random.choice(texts)


def _stores_twice(function):
    """Is there `x, x = a, b`? CPython 3.11 leaves a in x, which is not what the language says."""
    for node in ast.walk(function):
        if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
            names = [n.id for n in node.elts if isinstance(n, ast.Name)]
            if len(names) != len(set(names)):
                return True
    return False


def program(seed):
    """The text of a module: `f` and `arguments()`, which gives new ones at each call."""
    r = random.Random(seed)
    while True:
        function = copy.deepcopy(r.choice(corpus()))
        names = [a.arg for a in function.args.args]
        arguments = ", ".join(_argument(n, r) for n in names)
        mutation = Mutation(function, r)
        function.name = "f"
        try:
            for _ in range(r.randint(1, 5)):
                mutation.once()
            if _stores_twice(function):
                continue
            text = f"import lathe as lt\n\n\n{ast.unparse(ast.fix_missing_locations(function))}\n"
            text += f"\n\ndef arguments():\n    return [{arguments}]\n"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                compile(text, "program", "exec")
        except (SyntaxError, ValueError, RecursionError, IndexError):
            continue  # no program: another one
        return text
