"""How results and new values of Python's state are made again at a later call: from the program's
results, the objects that rows find, and constants."""

import sys
import types
from _collections import deque

from ... import _lathe
from ..._lathe import Tensor
from .recording import BOXES, HEAP, MISSING, Built, base_of, dict_of, fill
from .rows import IDENTITY, PLAIN, is_plain


class Planner:
    """Says how results and new values are made again. outputs: what the program has to give."""

    def __init__(self, observer, refuse):
        self._observer, self._refuse = observer, refuse
        self.outputs, self.wanted = [], {}
        self._memo, self._alive, self._places = {}, [], {}
        self._open = set()  # ids of tuples and sets whose items are being planned
        self.keeps = False  # are these values of Python's state, rather than results?

    def of(self, value, level=0):
        kind = type(value)
        if level > _MOST_LEVELS:
            raise nested_too_deep(_MOST_LEVELS)
        if kind is _lathe.SymFloat and value.settled is not None:
            value, kind = value.settled, float
        if kind in (_lathe.SymInt, _lathe.SymFloat):
            return ("number", self._output(value))
        if hasattr(kind, "_is_data"):  # a number that data decides
            return ("item", self._output(value.tensor), value.kind)
        if hasattr(kind, "_is_text"):
            return ("plain", value.settled())
        if hasattr(kind, "_is_optional"):  # None or not, as data decides
            return ("optional", self._output(value.flag.tensor), self.of(value.value, level))
        if hasattr(kind, "_is_checked"):  # a result beside what must be computed without an error
            self._output(value.check)
            return self.of(value.value, level)
        if hasattr(kind, "_is_list"):  # a list whose length data decides
            return self._rows(value)
        if value is MISSING or kind in PLAIN or is_plain(value):
            return ("plain", value)
        if issubclass(kind, Tensor):
            return self._tensor(value)
        if id(value) in self._memo:
            if id(value) in self._open:
                self._refuse(
                    f"a {kind.__name__} that the traced code has made leads back to itself",
                    got=f"a {kind.__name__} that is there only once all that it holds is",
                    next="let a list or a dict stand in its place",
                )
            return ("again", self._memo[id(value)])
        found = self._observer.known.get(id(value))
        if found is not None:
            return self._of_row(found[1], value)
        if issubclass(kind, IDENTITY):
            if kind is types.FunctionType and not self._observer.give_back(value):
                self._refuse("a function that the traced code has made leaves it")
            return ("plain", value)
        return self._made(value, kind, level)

    def _rows(self, value):
        if id(value) in self._memo:
            return ("again", self._memo[id(value)])
        number = self._memo[id(value)] = len(self._memo)
        self._alive.append(value)
        rows = [self._output(t) for t in value.outputs()]
        return ("list", number, rows, value.spec)

    def _of_row(self, row, value):
        return ("row", self.wanted.setdefault(row.n, len(self.wanted)))

    def _output(self, value):
        self._alive.append(value)
        if id(value) not in self._places:
            self._places[id(value)] = len(self.outputs)
            self.outputs.append(value)
        return self._places[id(value)]

    def _tensor(self, value):
        o = self._observer
        row = o.tensors.get(_lathe._identity(value))
        if row is not None:
            return self._of_row(row, value)
        if type(value) is not Tensor:
            if self.keeps:
                raise Built
            self._refuse("a parameter or buffer that the traced code has made leaves it")
        return ("out", self._output(value))

    def _made(self, value, kind, level):
        number = self._memo[id(value)] = len(self._memo)
        self._alive.append(value)
        inner = level + 1
        make = sequence_maker(kind) if issubclass(kind, tuple) else None
        if make is not None:
            return ("items", number, make, self._all_before(value, inner))
        if kind in (set, frozenset):
            return ("items", number, kind, self._all_before(value, inner))
        if kind is list:
            return ("items", number, kind, [self.of(v, inner) for v in value])
        if kind is dict:
            items = [(self.of(k, inner), self.of(v, inner)) for k, v in value.items()]
            return ("dict", number, dict, items)
        if issubclass(kind, BOXES) and kind.__module__ in ("collections", "builtins"):
            return self._other_box(value, kind, number, inner)
        plan = self._instance(value, kind, number, inner)
        if plan is not None:
            return plan
        if hasattr(kind, "__next__") or hasattr(kind, "__await__"):
            getattr(value, "close", int)()  # it is not going to run
            self._refuse(
                f"a result is a {kind.__name__}: what it does would be done later, and by Python",
                next="return a list or a tuple of what it gives",
            )
        return self._refuse(f"a {kind.__name__} that the traced code has made leaves it")

    def _instance(self, value, kind, number, level):
        """Of an object of a class that Python code has made: what it holds as a container, in
        slots, and in its __dict__. None: a class that keeps what only C knows."""
        if issubclass(kind, (type, BaseException)):
            return None
        known = kind.__flags__ & HEAP and not self._observer.opaque(kind)
        if not known and kind is not types.SimpleNamespace:
            return None
        base, held = held_by(value, kind)
        if base is deque and deque.maxlen.__get__(value) is not None:
            return None  # a bound that only its class in C may set
        slots = [(m, m.__get__(value)) for m in members_of(kind) if is_filled(m, value)]
        space = dict_of(value)
        if base is object and space is None and not slots:
            return None
        if base in (tuple, frozenset):  # made with all that it holds
            items = self._all_before(held, level)
        elif held is not None and issubclass(base, dict):
            items = [(self.of(k, level), self.of(v, level)) for k, v in held]
        else:
            items = None if held is None else [self.of(v, level) for v in held]
        slots = [(m, self.of(v, level)) for m, v in slots]
        attributes = [(k, self.of(v, level)) for k, v in (space or {}).items()]
        return ("new", number, kind, (base, items, slots, attributes))

    def _all_before(self, value, level):
        """Of the items of what is made with all of them."""
        self._open.add(id(value))
        plans = [self.of(v, level) for v in value]
        self._open.discard(id(value))
        return plans

    def _other_box(self, value, kind, number, level):
        if kind.__name__ == "deque":
            plan = [self.of(v, level) for v in value]
            return ("deque", number, value.maxlen, plan)
        if kind.__name__ == "OrderedDict":
            items = [(self.of(k, level), self.of(v, level)) for k, v in value.items()]
            return ("dict", number, kind, items)
        if kind.__name__ == "defaultdict":
            factory = self.of(value.default_factory, level)
            items = [(self.of(k, level), self.of(v, level)) for k, v in value.items()]
            return ("default", number, factory, items)
        return self._refuse(f"a {kind.__name__} that the traced code has made leaves it")


_MOST_LEVELS = 128


def held_by(value, kind):
    """(the class in C that keeps what an object holds, that as a list; None: it is none of
    BOXES)."""
    if not issubclass(kind, BOXES):
        return (types.SimpleNamespace if kind is types.SimpleNamespace else object), None
    base = base_of(kind)
    items = base.items(value) if issubclass(base, dict) else base.__iter__(value)
    return base, list(items)


def members_of(kind):
    """The slots of a class and of its bases, other than those that every object has."""
    return [
        m
        for c in kind.__mro__
        for name, m in vars(c).items()
        if type(m) is types.MemberDescriptorType and name != "__dict__"
    ]


def is_filled(member, value):
    try:
        member.__get__(value)
    except AttributeError:
        return False
    return True


def nested_too_deep(levels):
    """The error for what a walk does not come to the end of."""
    return _lathe.TraceError(
        "what the traced function is given, gives or reads is nested too deep, or contains itself",
        op="trace",
        got=f"more than {levels} levels",
        expected=f"at most {levels} levels of lists, tuples, dicts and objects",
        next="pass the tensors in a flat list, or make the function read less",
    )


def sequence_maker(kind):
    """What makes a list, or a tuple of this class, from its items; None: another class."""
    if kind in (list, tuple) or hasattr(kind, "n_sequence_fields"):  # as ops with several results
        return kind
    return getattr(kind, "_make", None) if issubclass(kind, tuple) else None


def build(plan, outputs, objects, memo):
    """The value of a plan, at a call whose program gave these outputs."""
    kind, at = plan[0], plan[1]
    if kind == "plain":
        return at
    if kind in ("out", "number"):
        return outputs[at]
    if kind == "item":
        return plan[2](outputs[at].item())
    if kind == "optional":
        return build(plan[2], outputs, objects, memo) if outputs[at].item() else None
    if kind == "row":
        return objects[at]
    if kind == "again":
        return memo[at]
    if kind == "list":
        made = memo[at] = list(_items_of(plan[3], iter([outputs[i] for i in plan[2]])))
        return made
    if kind == "items" and plan[2] is not list:
        made = memo[at] = plan[2](build(p, outputs, objects, memo) for p in plan[3])
    elif kind in ("items", "deque"):
        if kind == "deque":
            made = deque(maxlen=plan[2])
        else:
            made = []
        memo[at] = made  # it may hold itself
        made.extend([build(p, outputs, objects, memo) for p in plan[3]])
    elif kind in ("dict", "default"):
        if kind == "default":
            from _collections import defaultdict

            made = defaultdict(build(plan[2], outputs, objects, memo))
        else:
            made = plan[2]()
        memo[at] = made
        for k, v in plan[3]:
            made[build(k, outputs, objects, memo)] = build(v, outputs, objects, memo)
    else:
        made = _build_instance(plan, lambda p: build(p, outputs, objects, memo), memo)
    return made


def _items_of(spec, rows):
    """The items of a list whose length data decided: each tensor has a part of all of them.
    spec: what an item is, as a DataList has it (script_lists.py)."""
    if type(spec) is tuple:
        make = sequence_maker(spec[0])
        return map(make, zip(*[_items_of(s, rows) for s in spec[1:]]))
    if spec is None:
        return ()
    t = next(rows)
    return [r.clone() for r in t.unbind()] if spec is Tensor else t.tolist()


def _build_instance(plan, of, memo):
    _, at, kind, (base, items, slots, attributes) = plan
    if base in (tuple, frozenset):
        made = memo[at] = base.__new__(kind, [of(p) for p in items])
    else:
        made = memo[at] = base.__new__(kind)  # it may hold itself
        if items is not None:
            is_dict = issubclass(base, dict)
            fill(made, {of(k): of(v) for k, v in items} if is_dict else [of(p) for p in items])
    for member, p in slots:
        member.__set__(made, of(p))
    for k, p in attributes:
        dict_of(made)[k] = of(p)
    return made


def repeat(effects, outputs, objects, memo):
    """Does once more what the traced code did to Python's state."""
    for kind, owner, name, value in effects:
        owner = build(owner, outputs, objects, memo)
        value = build(value, outputs, objects, memo)
        if kind == "key":
            if value is MISSING:
                owner.pop(name, None)
            else:
                base_of(type(owner)).__setitem__(owner, name, value)
        elif kind == "del":
            if dict.__contains__(owner, name):
                base_of(type(owner)).__delitem__(owner, name)
        elif kind == "slot":
            put_slot(owner, name, value)
        elif kind == "cell":
            put_variable(owner, None, value)
        elif kind == "asked":
            sys.modules["logging"].Logger.isEnabledFor(owner, name)  # which notes the answer
        elif kind == "turned":
            owner.requires_grad_(value)
        elif kind == "called":
            getattr(owner, name)()
        elif kind == "added":
            base_of(type(owner)).extend(owner, value)
        else:
            fill(owner, value)


def put_variable(owner, name, value):
    if name is None:
        if value is MISSING:
            del owner.cell_contents
        else:
            owner.cell_contents = value
    elif value is MISSING:
        owner.pop(name, None)
    else:
        owner[name] = value


def put_slot(obj, name, value):
    base = type if isinstance(obj, type) else object
    if value is not MISSING:
        base.__setattr__(obj, name, value)
    elif name in (obj.__dict__ if base is type else ()) or hasattr(obj, name):
        base.__delattr__(obj, name)
