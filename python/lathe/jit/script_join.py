"""Joining: one value of what two branches, or the rounds of a loop, give under one name."""

import ast
import functools

from .. import _lathe, ops
from .._lathe import Tensor
from .observe.plans import sequence_maker
from .observe.texts import Chosen, Text, holds, key_of, options_of, tensors_of, text_again
from .script_lists import DataList, grown, is_rows, no_rows
from .script_optional import (
    NUMBERS,
    Maybe,
    is_record,
    make_record,
    make_sequence,
    may_change,
    settled,
    stand_in,
)
from .script_values import Number, is_integer

_TEXTS = (str, Text)
_MOST_TEXTS, _MOST_CARRIED = 64, 12  # that a name may be as data decides, after an if and a loop
_MOST_LEVELS = 128  # of a value in lists, tuples and dicts
_PLAIN = (str, bytes, type(None), type(Ellipsis), complex)
_LOOP = "a loop that data decides about"
_SAME_KIND = "give the name the same kind of value on every path"


class Undefined:
    """A name that has a value on some paths only, or values that are not one. refusal: says so
    where the name is read; nobody may read it any more."""

    def __init__(self, why, refusal=None):
        self.why, self.refusal = why, refusal

    @staticmethod
    def at(node, name):
        kind = "branch of the if" if not isinstance(node, (ast.While, ast.For)) else "loop"
        return Undefined(f"only one {kind} at line {node.lineno} defines it")


class Missing:
    """What a loop would return, where it has not."""


class Again(Exception):
    """The structure must be recorded again, knowing more."""


class AsksLast(Again):
    """A loop must ask its condition at the end of each round."""


class FirstRound(Again):
    """A round of a loop gives a name a value of another kind than it has before: the first one is
    recorded apart, and presumed to run. known: of the loop."""

    def __init__(self, known):
        self.known = known
        known.first_round = True


class Raised(BaseException):
    """What follows is not run: an exception that data decides about ends the call here."""


class Known:
    """What recording a structure has shown about it, for the next time."""

    def __init__(self):
        self.grads = ()  # places among the leaves, of those whose gradient a branch sets
        self.lifts = {}  # by path: makes a stand-in for the value of what may be None
        self.slots = {}  # by (id of an object, key): the object, an item of which is changed
        self.counts = set()  # paths of sizes that become numbers like others
        self.grows = {}  # by path: makes the rows of a list that has no items yet
        self.lists = set()  # paths of lists that are DataLists on the other side
        self.dropped = {}  # names that no round of a loop hands on: what to say where one is read
        self.texts = {}  # by path: the texts that the value may be, by key, with their stand-ins
        self.asks_last = False  # a while asks its condition at the end of each round
        self.first_round = False  # a loop presumes that it runs one

    def lift(self, path, value, symbols):
        self.lifts[path] = stand_in(value, symbols)


class _Leaf:
    """A tensor or number of one side: its place among the side's tensors."""

    __slots__ = ("value", "at", "kind")

    def __init__(self, value, at, kind):
        self.value, self.at, self.kind = value, at, kind


class _Tree:
    """A tuple, list, dict, named tuple or plain object of one side."""

    __slots__ = ("value", "keys", "items")

    def __init__(self, value, keys, items):
        self.value, self.keys, self.items = value, keys, items

    def rebuild(self, items):
        kind = type(self.value)
        if kind is dict:
            return dict(zip(self.keys, items))
        if kind is DataList:
            return self.value.again(dict(zip(self.keys, items)))
        if self.keys is not None:
            return make_record(kind, dict(zip(self.keys, items)))
        return make_sequence(kind, items)

    def fits(self, other):
        return (type(self.value) is type(other.value) and self.keys == other.keys
                and len(self.items) == len(other.items))  # fmt: skip


class _Optional:
    """What may be None. known: is it there, where that is clear; flag: the same as a leaf."""

    __slots__ = ("value", "known", "flag", "there")

    def __init__(self, value, known, flag, there):
        self.value, self.known, self.flag, self.there = value, known, flag, there


class _Words:
    """A text that data chooses: which one, as a leaf, and for each of the texts its tensors."""

    __slots__ = ("value", "texts", "which", "leaves")

    def __init__(self, value, texts, which, leaves):
        self.value, self.texts, self.which, self.leaves = value, texts, which, leaves


_PARTS = (_Leaf, _Tree, _Optional, _Words)


class _Side:
    """The values of one branch: their tensors, and the parts of what can change, by identity."""

    def __init__(self):
        self.tensors, self.shared = [], {}


class Joiner:
    """Takes the values of two branches, or of a loop's rounds, apart and makes one of them.
    heap: what objects held before; symbols: how many there were of sizes; part: what carries."""

    def __init__(self, script, node, known, heap, symbols, part=_LOOP):
        self.script, self.node, self.known = script, node, known
        self.heap, self.symbols, self.part = heap, symbols, part
        self.sides, self.given = [], []
        self.plan = None

    # ── taking apart ──

    def _apart(self, value, side, path, level=0):
        value = settled(value)
        if value is None and path in self.known.grows:
            value = self.known.grows[path]()
        if type(value) is list and path in self.known.lists and self._is_new(value):
            value = DataList(self.script.session, value)
        maker = self.known.lifts.get(path)
        nothing = value is Undefined or value is Missing or isinstance(value, Undefined)
        if maker is not None and type(value) is not Maybe and not nothing:
            flag = value is not None
            value = Maybe(flag, value if flag else maker())
        if type(value) is Maybe:
            known = value.flag if type(value.flag) is bool else None
            flag = self._leaf(Number.of(value.flag), side)
            return _Optional(
                value, known, flag, self._apart(value.value, side, (*path, "?"), level)
            )
        if isinstance(value, (Tensor, Number)) or type(value) in NUMBERS:
            return self._leaf(value, side)
        if type(value) is _lathe.SymInt and path in self.known.counts:
            return self._leaf(value, side)
        if type(value) in _TEXTS:
            texts = self.known.texts.get(path)
            return value if texts is None else self._words(value, texts, side, path)
        kind = type(value)
        record = kind not in (dict, list, tuple) and is_record(value)
        record = record and id(value) not in self.script.session.observer.known
        record = record or kind is DataList
        if kind is dict or sequence_maker(kind) or record:
            if level > _MOST_LEVELS:
                self._refuse("a value is nested too deep", f"more than {_MOST_LEVELS} levels")
            return self._tree(value, vars(value) if record else value, side, path, level + 1)
        return value

    def _words(self, value, texts, side, path):
        found = [(asked, key_of(text), tensors_of(text)) for asked, text in options_of(value)]
        if any(key not in texts for _, key, _ in found):
            self._learn_text(path, value)
            raise Again
        places = list(texts)
        which = ops.full((), places.index(found[-1][1]), dtype=_lathe.int64)
        given = {found[-1][1]: found[-1][2]}
        for asked, key, tensors in found[-2::-1]:
            where = holds(asked)
            which = ops.where(where, places.index(key), which)
            given[key] = [ops.where(where, t, o) for t, o in zip(tensors, given.get(key, tensors))]
        leaves = []
        for key, (_, makers) in texts.items():
            tensors = given[key] if key in given else [make() for make in makers]
            leaves.append([self._leaf(t, side) for t in tensors])
        return _Words(value, texts, self._leaf(Number(which, int), side), leaves)

    def _learn_text(self, path, *values):
        """From the next recording on the value may be each of these."""
        texts = self.known.texts.setdefault(path, {})
        for value in values:
            for _, text in options_of(value):
                makers = [stand_in(t, self.symbols) for t in tensors_of(text)]
                texts.setdefault(key_of(text), (text, makers))
        if len(texts) > (_MOST_TEXTS if len(path) > 1 else _MOST_CARRIED):
            what = self._what(path) if len(path) > 1 else self._carried(path[0])
            self._refuse(f"{what} may be more and more texts, as data decides",
                         f"{len(texts)} of them",
                         "print each part, or keep a number and make the text of it")  # fmt: skip
        self._learnt = True
        return ("same", None)

    def _learn_count(self, path, a, b):
        """Is it a size on one side and another integer on the other? Then it is a number from the
        next recording on: one that is the same on both sides stays a size."""
        sizes = [type(x) is _lathe.SymInt for x in (a, b)]
        if path in self.known.counts or not any(sizes) or not (is_integer(a) and is_integer(b)):
            return False
        if not all(sizes) or not _lathe._proven_equal(a, b):
            self.known.counts.add(path)
            self._learnt = True
        return True

    def _learn_rows(self, path, a, b):
        """Has a list that grows no items yet on one side? Then it has rows from the start."""
        if not is_rows(path) or (a is None) is (b is None):
            return False
        self.known.grows[path] = no_rows(b if a is None else a, self.symbols)
        self._learnt = True
        return True

    def _learn_list(self, path, a, b):
        """Is it a list whose length data decides on one side, and a list on the other? Then on both
        the first, from the start if the script has made the other."""
        if {type(a), type(b)} != {list, DataList} or path in self.known.lists:
            return False
        self._grown(a, b)
        self.known.lists.add(path)
        self._learnt = True
        return True

    def _leaf(self, value, side):
        kind = Tensor
        tensor = value
        if not isinstance(value, Tensor):
            n = Number.of(value)
            tensor, kind = n.tensor, n.kind
        side.tensors.append(tensor)
        return _Leaf(value, len(side.tensors) - 1, kind)

    def _tree(self, value, items, side, path, level):
        changeable, key = may_change(value), (id(value), _is_returned(path))
        if changeable and str(path[0]).startswith(" value") and not self._is_new(value):
            return value  # what a loop returns: the list itself
        if changeable and key in side.shared:
            return side.shared[key]
        keys = list(items) if isinstance(items, dict) else None
        tree = _Tree(value, keys, None)
        if changeable:
            side.shared[key] = tree
        parts = items.items() if keys is not None else enumerate(items)
        tree.items = [self._apart(v, side, (*path, k), level) for k, v in parts]
        return tree

    def _grown(self, *values):
        for value in values:
            grown(self.script.session, value)

    def _is_outside(self, value):
        """Was it there before, where others see it?"""
        return id(value) in self.heap.shared or id(value) in self.script.session.observer.known

    def _is_new(self, value):
        return id(value) not in self.heap.shared or self._is_unique(value)

    def _is_unique(self, value):
        """Does one name alone lead to it? Then none sees that the name gets another."""
        known = self.script.session.observer.known
        return self.heap.references.get(id(value), 0) <= 1 and id(value) not in known

    def _is_of(self, path, value):
        """Does nothing but what the path begins with lead to a list or object that was there
        before? Then none sees that another takes its place."""
        if not self._is_unique(value):
            return False
        if _is_returned(path):  # no name is read any more
            return True
        group, name = path[:2]
        if group == "env":
            before = self.script.env.get(name)
        else:
            before = self.heap.before(name) if group == "slots" else None
        return _leads_to(before, value)

    def _refuse(self, problem, got="", next=_SAME_KIND):
        self.script.refuse(self.node, problem, got, next)

    # ── the branches of an if ──

    def add(self, value, env, grads, slots):
        """One branch's values; gives the tensors in them."""
        side = _Side()
        groups = {"value": {"": value}, "env": env, "grads": grads, "slots": slots}
        self.given.append(groups)
        parts = {g: {n: self._apart(v, side, (g, n)) for n, v in values.items()}
                 for g, values in groups.items()}  # fmt: skip
        self.sides.append(parts)
        return side.tensors

    def add_raised(self, makers, own):
        """A branch that ends in an exception gives stand-ins for what the other one does. makers:
        of an earlier recording, if there was one; own: items that it has changed all the same."""
        if makers:
            made = {g: {n: m() for n, m in group.items()} for g, group in makers.items()}
            made["slots"].update(own)
            return self.add(made["value"][""], made["env"], made["grads"], made["slots"])
        self.sides.append(None)
        self.given.append(None)
        return []

    def unjoined(self, name):
        """What the first branch leaves under a name."""
        return _value_of(self.sides[0]["env"][name])

    def _learn_raised(self, makers):
        found = [g for g in self.given if g is not None]
        if not found:
            raise Raised
        for group, values in found[0].items():
            makers[group] = {
                n: stand_in(v, self.symbols, self.heap.shared) for n, v in values.items()
            }
        raise Again

    def pairs(self, makers):
        a, b = self.sides
        if a is None or b is None:
            self._learn_raised(makers)
        self._pairs, self._memo, self._partners = [], {}, {}
        self._learnt = False
        self.plan = {
            group: {n: self._join(x, b[group][n], (group, n)) for n, x in a[group].items()}
            for group in a
        }
        if self._learnt:
            raise Again
        return self._pairs

    def _what(self, path):
        group, name = path[:2]
        if group == "slots":
            return self.heap.boxes[name[0]].named(name[1])
        return {"value": "the result", "grads": "a gradient"}.get(group) or repr(name)

    def _join(self, a, b, path):
        of_a, of_b = _value_of(a), _value_of(b)
        if of_a is of_b and not self._is_private(a):
            return ("same", of_a)
        if any(x is Undefined or isinstance(x, Undefined) for x in (of_a, of_b)):
            return ("same", Undefined.at(self.node, self._what(path)))
        if isinstance(a, _Leaf) and isinstance(b, _Leaf) and a.kind is b.kind:
            known = type(of_a) in (bool, int, float) and type(of_a) is type(of_b)
            if known and repr(of_a) == repr(of_b):
                return ("same", of_a)
            return self._pair(a, b)
        if isinstance(a, _Tree) and isinstance(b, _Tree) and a.fits(b):
            return self._join_trees(a, b, path)
        if isinstance(a, _Optional) and isinstance(b, _Optional):
            return self._join_optional(a, b, path)
        if self._learn_rows(path, of_a, of_b) or self._learn_list(path, of_a, of_b):
            return ("same", None)
        if of_a is None or of_b is None or isinstance(a, _Optional) or isinstance(b, _Optional):
            other = of_b if of_a is None else of_a
            other = other if type(of_b) is not Maybe else of_b
            return self._learn(path, other)
        if type(of_a) is type(of_b) and isinstance(of_a, _PLAIN) and of_a == of_b:
            return ("same", of_a)
        if isinstance(a, _Words) and isinstance(b, _Words):
            which = self._pair(a.which, b.which)
            leaves = [[self._pair(x, y) for x, y in zip(*pair)] for pair in zip(a.leaves, b.leaves)]
            return ("text", a.texts, which, leaves)
        if type(of_a) in _TEXTS and type(of_b) in _TEXTS:
            return self._learn_text(path, of_a, of_b)
        if self._learn_count(path, of_a, of_b):
            return ("same", of_a)
        return self._unlike(a, b, path)

    def _is_private(self, part):
        """A list or object that only what ends here has seen: it may hold one thing after one
        branch and another after the other."""
        if not isinstance(part, _Tree):
            return False
        return id(part.value) not in self.heap.shared and (
            may_change(part.value) or any(map(self._is_private, part.items))
        )

    def _pair(self, a, b):
        self._pairs.append((a.at, b.at))
        return ("result", len(self._pairs) - 1, a.kind)

    def _learn(self, path, value):
        self.known.lift(path, settled(value.value if type(value) is Maybe else value), self.symbols)
        self._learnt = True
        return ("same", None)

    def _join_optional(self, a, b, path):
        if a.known is False and b.known is False:
            return ("same", None)
        if a.known is True and b.known is True:
            return self._join(a.there, b.there, (*path, "?"))
        for stands_in, other in ((a, b), (b, a)):
            if stands_in.known is False and not _alike(stands_in.there, other.there):
                return self._learn(path, _value_of(other.there))
        flag = self._pair(a.flag, b.flag)
        return ("optional", flag[1], self._join(a.there, b.there, (*path, "?")))

    def _join_trees(self, a, b, path):
        of_a, of_b = a.value, b.value
        changeable = may_change(of_a)
        if changeable:
            returned = _is_returned(path)
            pair = (id(of_a), returned), (id(of_b), returned)
            if pair in self._memo:
                return self._memo[pair]
            if any(self._is_outside(x) and not self._is_of(path, x) for x in (of_a, of_b)):
                self._refuse(
                    f"{self._what(path)} is a {type(of_a).__name__} from outside in one branch",
                    next="copy it: list(x), dict(x), or choose between what it holds",
                )
            partner = self._partners.setdefault
            if partner(pair[0], pair[1]) != pair[1] or partner(pair[1], pair[0]) != pair[0]:
                self._refuse(f"{self._what(path)} has two names in one branch only")
        plan = ["tree", a, None]
        if changeable:
            self._memo[pair] = plan
        keys = a.keys if a.keys is not None else range(len(a.items))
        plan[2] = [self._join(x, y, (*path, k)) for k, x, y in zip(keys, a.items, b.items)]
        return plan

    def _unlike(self, a, b, path):
        of_a, of_b = _value_of(a), _value_of(b)
        if isinstance(a, _Tree) and isinstance(b, _Tree) and type(of_a) is type(of_b):
            kind = type(of_a).__name__
            self._grown(of_a, of_b)
            return self._refuse(
                f"{self._what(path)} is a {kind} of another structure after each branch",
                f"{_structure(a)} and {_structure(b)}",
                "give it the same items in both branches; what is not there may be None",
            )
        for known in reversed(self.script.session.rounds_known):
            if not known.first_round and isinstance(a, _Leaf) and isinstance(b, _Leaf):
                raise FirstRound(known)
        got = f"{_described(of_a)} and {_described(of_b)}"
        lines = [self._assigned_at(path, part) for part in ("body", "orelse")]
        if all(lines):
            got = f"{got}, assigned at lines {lines[0]} and {lines[1]}"
        problem = f"{self._what(path)} is another kind of thing after each branch"
        if path[0] == "env" and len(path) == 2 and _is_name(path[1]):
            return ("same", Undefined("", functools.partial(self._refuse, problem, got)))
        return self._refuse(problem, got)

    def _assigned_at(self, path, part):
        """The line where a branch of an if last assigns the name; None: nowhere, or it is none."""
        statements = getattr(self.node, part, None)
        if path[0] != "env" or not isinstance(statements, list):
            return None
        names = [n for s in statements for n in ast.walk(s) if isinstance(n, ast.Name)]
        return max((n.lineno for n in names if n.id == path[1] and type(n.ctx) is ast.Store),
                   default=None)  # fmt: skip

    def joined(self, results):
        build = _Builder(results, self.script.session)
        return {g: {n: build(p) for n, p in plans.items()} for g, plans in self.plan.items()}

    # ── the rounds of a loop ──

    def carry(self, state):
        """What a loop carries, by name; gives the tensors to begin with."""
        side = _Side()
        self.plan = {}
        for name, value in state.items():
            known, first = len(side.shared), len(side.tensors)
            self.plan[name] = self._apart(value, side, (name,))
            of_list = is_rows((name,)) or type(value) is DataList
            if of_list and not _lathe.is_grad_enabled():
                self._without_history(side.tensors[first:])
            for tree in list(side.shared.values())[known:]:
                self._alone(tree.value, self._carried(name))
        return side.tensors

    def _without_history(self, rows):
        """A loop in which nothing is recorded gives results without a history."""
        if any(t.requires_grad for t in rows):
            self._refuse(
                "a list of tensors that gradients go through grows in a loop under no_grad",
                next="append detach() of them, or begin another list in there",
            )

    def _carried(self, name):
        return repr(name.strip()) if isinstance(name, str) else (
            self.heap.boxes[name[0]].named(name[1])
        )  # fmt: skip

    def _alone(self, value, what):
        if not self._is_unique(value):
            self._refuse(
                f"{self.part} names {what} anew, a {type(value).__name__} that "
                "others see too", next=f"copy it before: {type(value).__name__}(...)",
            )  # fmt: skip

    def _alone_in_round(self, value, what):
        self._refuse(
            f"{self.part} gives {what} a {type(value).__name__} that was there before it",
            next=f"copy it: {type(value).__name__}(...)",
        )

    def carried(self, tensors):
        build = _Builder(tensors, self.script.session)
        plans = {name: _planned(part) for name, part in self.plan.items()}  # known by identity
        return {name: build(plan) for name, plan in plans.items()}

    def next(self, state):
        """What a round gives, as tensors in the same order."""
        side = _Side()
        self._learnt = False
        for name, was in self.plan.items():
            known = len(side.shared)
            now = self._apart(state[name], side, (name,))
            for tree in list(side.shared.values())[known:]:
                if id(tree.value) in self.heap.shared and not _is_returned((name,)):
                    self._alone_in_round(tree.value, self._carried(name))
            if len(side.shared) - known != _changeable(now):
                self._refuse(f"a list, dict or object that two names share in {self.part}",
                             repr(name), "copy it")  # fmt: skip
            self._match(was, now, (name,))
        if self._learnt:
            raise Again
        return side.tensors

    def _match(self, was, now, path):
        if isinstance(was, _Leaf) and isinstance(now, _Leaf) and was.kind is now.kind:
            if not self.known.first_round and not _of_one_type(was.value, now.value):
                raise FirstRound(self.known)
            return
        if isinstance(was, _Tree) and isinstance(now, _Tree) and was.fits(now):
            keys = was.keys if was.keys is not None else range(len(was.items))
            for k, w, n in zip(keys, was.items, now.items):
                self._match(w, n, (*path, k))
            return
        if isinstance(was, _Optional) and isinstance(now, _Optional):
            for stands_in, other in ((was, now), (now, was)):
                if stands_in.known is False and not _alike(stands_in.there, other.there):
                    self._learn(path, _value_of(other.there))
                    return
            self._match(was.there, now.there, (*path, "?"))
            return
        if isinstance(was, _Words) and isinstance(now, _Words):
            return
        of_was, of_now = _value_of(was), _value_of(now)
        plain = isinstance(of_was, _PLAIN) and type(of_was) is type(of_now)
        if of_was is of_now or plain and of_was == of_now:
            return
        if type(of_was) in _TEXTS and type(of_now) in _TEXTS:
            self._learn_text(path, of_was, of_now)
            return
        if self._learn_rows(path, of_was, of_now) or self._learn_list(path, of_was, of_now):
            return
        if of_was is None or of_now is None or Maybe in (type(of_was), type(of_now)):
            self._learn(path, of_now if of_was is None else of_was)
            return
        if self._learn_count(path, of_was, of_now):
            return
        if isinstance(was, _Leaf) and isinstance(now, _Leaf) and not self.known.first_round:
            raise FirstRound(self.known)
        what = self._carried(path[0])
        if isinstance(was, _Tree) and isinstance(now, _Tree):
            self._grown(of_was, of_now)
            said = (
                f"{what} grows or changes its structure in {self.part}",
                f"{_structure(was)}, then {_structure(now)}",
                "give it its final length before the loop, or keep a tensor and write x[i] = v",
            )
        else:
            said = (f"{what} becomes another kind of thing in {self.part}",
                    f"{_described(of_was)} and {_described(of_now)}")  # fmt: skip
        if len(path) > 1 or not _is_name(path[0]) or self.part != _LOOP:
            self._refuse(*said)
        refusal = of_now.refusal if isinstance(of_now, Undefined) else None
        self.known.dropped[path[0]] = refusal or functools.partial(self._refuse, *said)
        self._learnt = True


class _Builder:
    """Makes values of plans."""

    def __init__(self, results, session):
        self.results, self.made = results, {}
        self.observer = session.observer
        self.chosen = session.chosen  # by id, what is no longer the object that a branch named
        self.of_script = session.made

    def __call__(self, plan):
        kind = plan[0]
        if kind == "same":
            return plan[1]
        if kind == "result":
            t = self.results[plan[1]]
            return self._choice(t) if plan[2] is Tensor else Number(t, plan[2])
        if kind == "optional":
            return Maybe(Number(self.results[plan[1]], bool), self(plan[2]))
        if kind == "text":
            return self._text(*plan[1:])
        if id(plan) not in self.made:
            was = plan[1].value
            made = self.made[id(plan)] = self._choice(plan[1].rebuild([self(p) for p in plan[2]]))
            if id(was) in self.of_script:
                self.of_script[id(made)] = made, self.of_script[id(was)][1]
        return self.made[id(plan)]

    def _text(self, texts, which, leaves):
        made = []
        for (text, _), places in zip(texts.values(), leaves):
            made.append(text_again(text, iter([self.results[p[1]] for p in places])))
        return Text(self.observer, [Chosen(self.results[which[1]], made)])

    def _choice(self, value):
        self.chosen[id(value)] = value
        return value


def _planned(part):
    """A plan that makes the part anew."""
    if isinstance(part, _Leaf):
        return ("result", part.at, part.kind)
    if isinstance(part, _Tree):
        return ("tree", part, [_planned(p) for p in part.items])
    if isinstance(part, _Optional):
        return ("optional", part.flag.at, _planned(part.there))
    if isinstance(part, _Words):
        leaves = [[_planned(leaf) for leaf in text] for text in part.leaves]
        return ("text", part.texts, _planned(part.which), leaves)
    return ("same", part)


def _value_of(part):
    return part.value if isinstance(part, _PARTS) else part


def _is_name(key):
    """Is it a name of the source, and none of ours?"""
    return isinstance(key, str) and not key.startswith(" ")


def _leads_to(start, value, level=0):
    """Is it the same object, or inside of it?"""
    if start is value:
        return True
    if isinstance(start, dict):
        parts = start.values()
    elif isinstance(start, (list, tuple)):
        parts = start
    else:
        parts = vars(start).values() if is_record(start) or type(start) is DataList else ()
    return level < _MOST_LEVELS and any(_leads_to(p, value, level + 1) for p in parts)


def _is_returned(path):
    """Is it of what a loop returns? Then no name is read any more, so that a list which has a name
    as well need not be the one of that name."""
    return any(type(k) is str and k.startswith(" value") for k in path[:2])


def _changeable(part):
    """How many lists, dicts and objects it holds."""
    if isinstance(part, _Optional):
        return _changeable(part.there)
    if not isinstance(part, _Tree):
        return 0
    return may_change(part.value) + sum(map(_changeable, part.items))


def _alike(a, b):
    """Can they be one value?"""
    if isinstance(a, _Leaf) and isinstance(b, _Leaf):
        if a.kind is not b.kind:
            return False
        return a.kind is not Tensor or (
            a.value.dtype is b.value.dtype and a.value.ndim == b.value.ndim
        )
    if isinstance(a, _Tree) and isinstance(b, _Tree):
        return a.fits(b) and all(map(_alike, a.items, b.items))
    if isinstance(a, _Optional) and isinstance(b, _Optional):
        return _alike(a.there, b.there)
    if isinstance(a, _PARTS) or isinstance(b, _PARTS):
        return False
    return a is b or type(a) is type(b) and isinstance(a, _PLAIN) and a == b


def _of_one_type(a, b):
    """Have two tensors one dtype and rank?"""
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return True
    return a.dtype is b.dtype and a.ndim == b.ndim


def _structure(tree):
    if tree.keys is not None:
        return f"a {type(tree.value).__name__} of {', '.join(map(str, tree.keys)) or 'nothing'}"
    return f"a {type(tree.value).__name__} of {len(tree.items)} items"


def _described(value):
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype.name}"
    if isinstance(value, Number):
        return f"a number ({value.kind.__name__})"
    if type(value) is Maybe:
        return f"{_described(value.value)}, or None"
    if value is Undefined or isinstance(value, Undefined):
        return "nothing"
    return f"{value!r}" if isinstance(value, (*_PLAIN, bool, int, float)) else type(value).__name__


__all__ = [
    "Again", "AsksLast", "FirstRound", "Joiner", "Known", "Missing", "Raised", "Undefined",
]  # fmt: skip
