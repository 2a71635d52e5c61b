"""Joining: one value of what two branches, or the rounds of a loop, give under one name."""

import ast

from .. import ops
from .._lathe import SymFloat, Tensor
from .observe.effects import sequence_maker
from .script_values import Number

_MOST_LEVELS = 128  # of a value in lists, tuples and dicts
_NUMBERS = (bool, int, float, SymFloat)
_PLAIN = (str, bytes, type(None), type(Ellipsis), complex)


class Undefined:
    """A name that has a value on some paths only."""

    def __init__(self, why):
        self.why = why

    @staticmethod
    def at(node, name):
        kind = "branch of the if" if not isinstance(node, (ast.While, ast.For)) else "loop"
        return Undefined(f"only one {kind} at line {node.lineno} defines it")


class Missing:
    """What a loop would return, where it has not."""


def stand_in(value):
    """Makes values of the same kind, which nothing will read: tensors of no elements, zeros."""
    if isinstance(value, Tensor):
        sizes, dtype = (0,) * value.ndim, value.dtype
        return lambda: ops.zeros(sizes, dtype=dtype)
    if isinstance(value, Number) or type(value) in _NUMBERS:
        kind = value.kind if isinstance(value, Number) else type(value)
        return lambda: Number.of((float if kind is SymFloat else kind)(0))
    if type(value) is dict:
        parts = {k: stand_in(v) for k, v in value.items()}
        return lambda: {k: v() for k, v in parts.items()}
    maker = sequence_maker(type(value))
    if maker:
        items = [stand_in(v) for v in value]
        return lambda: maker([v() for v in items])
    return lambda: value


class _Leaf:
    """A tensor or number of one side: its place among the side's tensors."""

    __slots__ = ("value", "at", "kind")

    def __init__(self, value, at, kind):
        self.value, self.at, self.kind = value, at, kind


class _Tree:
    """A tuple, list, dict or named tuple of one side."""

    __slots__ = ("value", "keys", "items")

    def __init__(self, value, keys, items):
        self.value, self.keys, self.items = value, keys, items

    def rebuild(self, items):
        kind = type(self.value)
        if kind is dict:
            return dict(zip(self.keys, items))
        return sequence_maker(kind)(items)


class Joiner:
    """Takes the values of two branches, or of a loop's rounds, apart and makes one of them."""

    def __init__(self, script, node):
        self.script, self.node = script, node
        self.sides = []
        self.plan = None

    # ── taking apart ──

    def _apart(self, value, tensors, seen, level=0):
        if isinstance(value, Tensor):
            tensors.append(value)
            return _Leaf(value, len(tensors) - 1, Tensor)
        if isinstance(value, Number) or type(value) in _NUMBERS:
            n = Number.of(value)
            tensors.append(n.tensor)
            return _Leaf(value, len(tensors) - 1, n.kind)
        kind = type(value)
        if kind is dict or sequence_maker(kind):
            if level > _MOST_LEVELS:
                self._refuse("a value is nested too deep", f"more than {_MOST_LEVELS} levels")
            if kind in (list, dict):
                if id(value) in seen:
                    self._refuse("a list or dict that two names share")
                seen.add(id(value))
            keys = list(value) if kind is dict else None
            items = value.values() if kind is dict else value
            inner = level + 1
            return _Tree(value, keys, [self._apart(v, tensors, seen, inner) for v in items])
        return value

    def _refuse(self, problem, got=""):
        self.script.refuse(self.node, problem, got,
                           "give the name the same kind of value on every path")  # fmt: skip

    # ── the branches of an if ──

    def add(self, value, env, grads, before):
        """One branch's values; gives the tensors in them."""
        tensors, seen = [], set()
        outside = {id(v) for v in before.values() if type(v) in (list, dict)}
        side = {
            "value": self._apart(value, tensors, seen),
            "env": {n: self._apart(v, tensors, set()) for n, v in env.items()},
            "grads": {i: self._apart(g, tensors, set()) for i, g in grads.items()},
        }
        self.sides.append((side, outside))
        return tensors

    def unjoined(self, name):
        """What the first branch leaves under a name."""
        part = self.sides[0][0]["env"][name]
        return part.value if isinstance(part, (_Leaf, _Tree)) else part

    def pairs(self):
        (a, outside), (b, _) = self.sides
        pairs = []

        def join(x, y, what):
            return self._join(x, y, what, pairs, outside)

        self.plan = {
            "value": join(a["value"], b["value"], "the result"),
            "env": {n: join(a["env"][n], b["env"][n], repr(n)) for n in a["env"]},
            "grads": {i: join(a["grads"][i], b["grads"][i], "a gradient") for i in a["grads"]},
        }
        return pairs

    def _join(self, a, b, what, pairs, outside):
        of_a, of_b = (x.value if isinstance(x, (_Leaf, _Tree)) else x for x in (a, b))
        if of_a is of_b:
            return ("same", of_a)
        if isinstance(a, _Leaf) and isinstance(b, _Leaf) and a.kind is b.kind:
            known = not isinstance(of_a, (Tensor, Number)) and type(of_a) is type(of_b)
            if known and repr(of_a) == repr(of_b):
                return ("same", of_a)
            pairs.append((a.at, b.at))
            return ("result", len(pairs) - 1, a.kind)
        if isinstance(a, _Tree) and isinstance(b, _Tree) and type(of_a) is type(of_b):
            if id(of_a) in outside or id(of_b) in outside:
                self._refuse(f"{what} is a list or dict from outside in one branch only")
            if a.keys == b.keys and len(a.items) == len(b.items):
                return ("tree", a, [self._join(x, y, what, pairs, outside)
                                    for x, y in zip(a.items, b.items)])  # fmt: skip
        if any(x is Undefined or isinstance(x, Undefined) for x in (of_a, of_b)):
            return ("same", Undefined.at(self.node, what))
        if type(of_a) is type(of_b) and isinstance(of_a, _PLAIN) and of_a == of_b:
            return ("same", of_a)
        return self._refuse(f"{what} is another kind of thing after each branch",
                            f"{_described(of_a)} and {_described(of_b)}")  # fmt: skip

    def joined(self, results):
        def build(plan):
            if plan[0] == "same":
                return plan[1]
            if plan[0] == "tree":
                return plan[1].rebuild([build(p) for p in plan[2]])
            t = results[plan[1]]
            return t if plan[2] is Tensor else Number(t, plan[2])

        return (
            build(self.plan["value"]),
            {n: build(p) for n, p in self.plan["env"].items()},
            {i: build(p) for i, p in self.plan["grads"].items()},
        )

    # ── the rounds of a loop ──

    def carry(self, state):
        """What a loop carries, by name; gives the tensors to begin with."""
        tensors = []
        self.plan = {}
        for name, value in state.items():
            if isinstance(value, (list, dict)):
                self._refuse(
                    f"a loop that data decides about carries the {type(value).__name__} {name!r}"
                )
            self.plan[name] = self._apart(value, tensors, set())
        return tensors

    def carried(self, tensors):
        def build(part):
            if isinstance(part, _Leaf):
                t = tensors[part.at]
                return t if part.kind is Tensor else Number(t, part.kind)
            if isinstance(part, _Tree):
                return part.rebuild([build(p) for p in part.items])
            return part

        return {name: build(part) for name, part in self.plan.items()}

    def next(self, state):
        """What a round gives, as tensors in the same order."""
        tensors = []

        def match(was, now, name):
            trees = isinstance(was, _Tree) and isinstance(now, _Tree)
            if isinstance(was, _Leaf) and isinstance(now, _Leaf):
                fits = was.kind is now.kind
            elif trees and type(was.value) is type(now.value) and len(was.items) == len(now.items):
                for w, n in zip(was.items, now.items):
                    match(w, n, name)
                return
            else:
                plain = isinstance(was, _PLAIN) and type(was) is type(now)
                fits = was is now or (plain and was == now)
            if not fits:
                was, now = (x.value if isinstance(x, (_Leaf, _Tree)) else x for x in (was, now))
                self._refuse(f"{name!r} becomes another kind of thing in a loop that data decides",
                             f"{_described(was)} and {_described(now)}")  # fmt: skip

        for name, was in self.plan.items():
            match(was, self._apart(state[name], tensors, set()), name.strip())
        return tensors


def _described(value):
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype.name}"
    if isinstance(value, Number):
        return f"a number ({value.kind.__name__})"
    if value is Undefined or isinstance(value, Undefined):
        return "nothing"
    return f"{value!r}" if isinstance(value, (*_PLAIN, bool, int, float)) else type(value).__name__
