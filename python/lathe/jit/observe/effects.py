"""What the traced code does to Python's state: recorded, undone, and repeated by later calls.

While a capture runs, stores happen as they are written, so that the code sees its own. Before the
first one to a container, an attribute or a variable what was there is kept. At the end all is put
back, and what differs becomes the effects of the program: `Plan` says how a value is made again at
a later call, from the program's results, the objects that rows find, and constants.
"""

import functools
import types

from ... import _lathe
from ..._lathe import Tensor
from ..arrays import is_array
from .operators import AUGMENT
from .recording import (
    BOXES,
    HEAP,
    MISSING,
    Built,
    base_of,
    content,
    copied,
    dict_of,
    fill,
    in_mro,
)  # fmt: skip
from .rows import IDENTITY, NUMBERS, PLAIN, is_plain
from .texts import Text, as_key

_AUGMENTED = (list, set, dict)


class Effects:
    def start_effects(self):
        self.slots = {}  # by (id of an object, name): (object, name, what was there)
        self.variables = []  # (cell or dict, name or None, what was there, line that stores)
        self.placed = {}  # by (id of an owner of those, name): what stands there for its number
        self.added = set()  # ids of lists and sets that were only added to
        self.mutated = []  # all that was written to, each time
        self.parts = 0  # how many parts of structures are being recorded, one in the other
        self.fresh = []  # dicts that they make
        self.rebound = []  # names of outer variables, each time that a function may set them
        self.first_store = None
        self.storing = []  # dicts whose key is about to be evaluated

    # ── before a store ──────────────────────────────────────────────────────────────────────────

    def store(self, obj, name, direct=False):
        """obj.name = ... or del obj.name; direct: whatever its class makes of that."""
        if not self.on():
            return obj
        self.mutated.append(obj)
        kind = type(obj)
        if issubclass(kind, Tensor):
            return self._store_tensor(obj, name)
        row = self.row_of(obj)
        if issubclass(kind, type):
            if row is not None and obj.__flags__ & HEAP and not self._made(obj):
                self.look_up(obj, (obj,), name)
                self._keep_slot(obj, name, obj.__dict__.get(name, MISSING), obj)
            return obj
        self.prepare(kind)
        setter = in_mro(kind.__mro__, "__setattr__")
        if type(setter[1]) is types.FunctionType and not direct:
            return obj  # observed code stores in its turn
        member = in_mro(kind.__mro__, name)[1]
        if type(member) is property or type(in_mro(type(member).__mro__, "__set__")[1]) is (
            types.FunctionType
        ):
            self.prepare(type(member))
            return obj
        if row is None:
            return obj
        space = dict_of(obj)
        if type(member) is types.MemberDescriptorType:
            self._keep_slot(obj, name, getattr(obj, name, MISSING), obj)
        elif space is not None and name not in ("__dict__", "__class__"):
            self.dict_row(obj, space)
            self.write_key(space, name, obj)
        else:
            self.refuse(f"a store to {kind.__name__}.{name}")
        return obj

    def set_attribute(self, obj, name, value):
        """object.__setattr__(obj, name, value), after store()."""
        (type if isinstance(obj, type) else object).__setattr__(obj, name, value)

    def _store_tensor(self, obj, name):
        row = self.row_of(obj)
        if row is None:
            return obj
        if name == "grad":
            self.written.add((row.n, "grad"))
            return self.stand_ins.get(row.n, obj)
        if name == "requires_grad":
            self.may_turn(row, obj)
        space = dict_of(obj)
        if space is not None and in_mro(type(obj).__mro__, name)[1] is MISSING:
            self.write_key(space, name, obj)
        return obj

    def _made(self, obj):
        return id(obj) not in self.known and not self.ages.knows(obj)

    def _keep_slot(self, obj, name, old, owner):
        self.first_store = self.first_store or self.line()
        if (id(obj), name) not in self.slots:
            self.slots[(id(obj), name)] = (obj, name, old)
            self.written.add((id(obj), name))

    def store_item(self, container):
        """container[...] = ... or del container[...]"""
        if not self.on():
            return container
        kind = type(container)
        if issubclass(kind, Tensor):
            return self._tensor_used(container)
        if issubclass(kind, BOXES):
            self.write(container)
            self.prepare(kind)
            return container
        row = self.row_of(container)
        self.prepare(kind)
        self.mutated.append(container)
        if row is not None and (is_array(kind) or not kind.__flags__ & HEAP):
            self.refuse(f"an item of a {kind.__name__} from outside is written")
        return container

    def store_into(self, container):
        """container[key] = ... or del container[key]; stored_key() comes next, with the key."""
        if not self.on():
            return container
        kind = type(container)
        self.storing.append(container if issubclass(kind, dict) else None)
        if issubclass(kind, dict):
            self.prepare(kind)
            return container
        return self.store_item(container)

    def stored_key(self, key):
        if not self.on() or not self.storing:
            return key
        container = self.storing.pop()
        if container is not None or type(key) is _lathe.SymFloat:
            key = as_key(key)
        if type(key) not in PLAIN:
            key = self.as_input(key) if issubclass(type(key), Tensor) else self.use(key)
        if container is not None:
            self.write(container, key)
        return key

    def made(self, value):
        """What code makes: the age of a dict is not to be had from the garbage collector."""
        if self.parts and type(value) is dict:
            self.fresh.append(value)
        return value

    def write_key(self, space, key, owner=None):
        """Before a key of a dict changes."""
        self._keep(space)
        self.written.add((id(space), key))

    def write(self, container, key=MISSING, add_only=False):
        """Before a container changes: what it held is kept, and read if it matters."""
        self.mutated.append(container)
        row = self.row_of(container)
        if row is None:
            return
        first = id(container) not in self.before
        if issubclass(type(container), dict):
            if key is MISSING:
                self.contents(container)
            self._keep(container)
            if key is not MISSING:  # what is read from now on was put there by the code
                known = is_plain(key) or issubclass(type(key), IDENTITY)
                self.written.add((id(container), key if known else ("object", id(key))))
            return
        if add_only and (first or id(container) in self.added):
            self.added.add(id(container))
        else:
            self.added.discard(id(container))
            self.contents(container)
        self._keep(container)

    def _keep(self, container):
        self.first_store = self.first_store or self.line()
        if id(container) not in self.before:
            self.before[id(container)] = container, copied(container)

    def watch(self, owner, name, row, where):
        """Code is about to run that stores to a cell, or to a key of a dict of globals. A number
        that is an input is put there itself: what is read afterwards is told from it."""
        if any(o is owner and n == name for o, n, _, _ in self.variables):
            return
        self.variables.append((owner, name, _variable(owner, name), where))
        if row is not None and row.test in NUMBERS:
            self.placed[(id(owner), name)] = self.stand_ins[row.n]
            _put_variable(owner, name, self.stand_ins[row.n])

    # ── augmented assignment ────────────────────────────────────────────────────────────────────

    def augment(self, old, value, op):
        if self.on():
            old, value = self._augmented(old, value, op)
        return AUGMENT[op](old, value)

    def _augmented(self, old, value, op):
        old, value = self.operands(old, value, op)
        if issubclass(type(old), _AUGMENTED):
            self.write(old, add_only=op == "Add" and type(old) is list)
        elif is_array(type(old)) and self.row_of(old) is not None:
            self.refuse("a NumPy array from outside is written to")
        return old, value

    def augment_by(self, f, old, value):
        """The same for the operator's function: what is left to call."""
        op = next(name for name, g in AUGMENT.items() if g is f)
        old, value = self._augmented(old, value, op)
        return functools.partial(f, old, value)

    def place(self, obj, key, by_name):
        if not self.on():
            return obj, key, by_name, getattr(obj, key) if by_name else obj[key]
        old = (
            self.attribute(obj, key)
            if by_name
            else (self.use(obj)[key] if isinstance(key, slice) else self.item(obj, key))
        )
        return obj, key, by_name, old

    def augment_place(self, place, value, op):
        obj, key, by_name, old = place
        new = self.augment(old, value, op)
        if by_name:
            setattr(self.store(obj, key), key, new)
        elif isinstance(obj, dict) and self.on():
            self.write(obj, key)
            obj[key] = new
        else:
            self.store_item(obj)[key] = new

    def refuse_shared_gradients(self, changed):
        """Two leaves with one gradient, which is added to: each would get a tensor of its own."""
        for row, _, before in self.leaf_tensors():
            for other, _, its in changed:
                if (
                    other is not row
                    and before is not None
                    and its is not None
                    and (_lathe._same_tensor(before, its))
                ):
                    self.refuse("two leaves share one gradient tensor, which is added to",
                                next="give each a gradient of its own: p.grad.clone()")  # fmt: skip

    def finish(self):
        """No hook does anything from now on."""
        self._live = False

    # ── the end ─────────────────────────────────────────────────────────────────────────────────

    def changes(self):
        """[(what, row of its owner, name, new value)] of all that differs, in an order in which it
        can be repeated."""
        found = []
        for container, old in self.before.values():
            found += self._container_changes(container, old)
        for obj, name, old in self.slots.values():
            now = _slot_value(obj, name)
            if now is not old:
                found.append(("slot", self.row_of(obj), name, now))
        for owner, name, old, where in self.variables:
            now = _variable(owner, name)
            if now is not old and now is not self.placed.get((id(owner), name)):
                self.first_store = self.first_store or where
                kind = "cell" if name is None else "key"
                found.append((kind, self.constant(owner), name, now))
        return found + [("turned", row, None, flag) for row, flag in self.turned_tensors()]

    def _container_changes(self, container, old):
        row = self.row_of(container)
        if isinstance(container, dict):
            now = copied(container)
            if list(now) == list(old) and all(now[k] is old[k] for k in now):
                return []
            out, model = [], dict(old)
            for k in [k for k in old if k not in now]:
                out.append(("del", row, k, None))
                del model[k]
            for k, v in now.items():
                if k not in model or model[k] is not v:
                    out.append(("key", row, k, v))
                    model[k] = v
            if list(model) == list(now):
                return out
            self.contents(container)  # what stays is put back as it was
            return [("content", row, None, now)]
        now, before = content(container), list(old)
        if len(now) == len(before) and all(a is b for a, b in zip(now, before)):
            return []
        if id(container) in self.added:
            if isinstance(container, set):
                return [("added", row, None, [v for v in now if v not in old])]
            return [("added", row, None, now[len(before) :])]
        return [("content", row, None, now)]

    def refuse_changes(self):
        """Where a program is to stand by itself there is no state to change."""
        if self.changes():
            self.where = self.first_store or self.where
            self.refuse(
                "the traced code changed Python state, which only happens at capture",
                got="a store to what was there before",
                next="return the value, or keep it in a tensor made before: self.h.copy_(value)",
            )

    def undo(self):
        """Puts Python's state back as it was before the capture."""
        for container, old in self.before.values():
            fill(container, old)
        for obj, name, old in self.slots.values():
            _put_slot(obj, name, old)
        for owner, name, old, _ in self.variables:
            _put_variable(owner, name, old)


def _slot_value(obj, name):
    if isinstance(obj, type):
        return obj.__dict__.get(name, MISSING)
    return getattr(obj, name, MISSING)


def _variable(owner, name):
    if name is not None:
        return owner.get(name, MISSING)
    try:
        return owner.cell_contents
    except ValueError:
        return MISSING


def _put_variable(owner, name, value):
    if name is None:
        if value is MISSING:
            del owner.cell_contents
        else:
            owner.cell_contents = value
    elif value is MISSING:
        owner.pop(name, None)
    else:
        owner[name] = value


def _put_slot(obj, name, value):
    base = type if isinstance(obj, type) else object
    if value is not MISSING:
        base.__setattr__(obj, name, value)
    elif name in (obj.__dict__ if base is type else ()) or hasattr(obj, name):
        base.__delattr__(obj, name)


# ── values of later calls ───────────────────────────────────────────────────────────────────────


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
        if kind is Text:
            return ("plain", value.settled())
        if hasattr(kind, "_is_optional"):  # None or not, as data decides
            return ("optional", self._output(value.flag.tensor), self.of(value.value, level))
        if hasattr(kind, "_is_checked"):  # a result beside what must be computed without an error
            self._output(value.check)
            return self.of(value.value, level)
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
        if issubclass(kind, tuple):
            make = sequence_maker(kind)
            if make is None:
                self._refuse(f"a {kind.__name__} that the traced code has made leaves it")
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
        space = dict_of(value)
        plain = not issubclass(kind, (type, BaseException, *BOXES))
        if (
            space is not None
            and plain
            and kind.__flags__ & HEAP
            and not self._observer.opaque(kind)
        ):
            items = [(k, self.of(v, inner)) for k, v in space.items()]
            return ("new", number, kind, items)
        if hasattr(kind, "__next__") or hasattr(kind, "__await__"):
            getattr(value, "close", int)()  # it is not going to run
            self._refuse(
                f"a result is a {kind.__name__}: what it does would be done later, and by Python",
                next="return a list or a tuple of what it gives",
            )
        return self._refuse(f"a {kind.__name__} that the traced code has made leaves it")

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
    if kind == "items" and plan[2] is not list:
        made = memo[at] = plan[2](build(p, outputs, objects, memo) for p in plan[3])
    elif kind in ("items", "deque"):
        if kind == "deque":
            from _collections import deque

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
        made = memo[at] = object.__new__(plan[2])
        for k, v in plan[3]:
            made.__dict__[k] = build(v, outputs, objects, memo)
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
            _put_slot(owner, name, value)
        elif kind == "cell":
            _put_variable(owner, None, value)
        elif kind == "turned":
            owner.requires_grad_(value)
        elif kind == "added":
            base = base_of(type(owner))
            (base.extend if hasattr(base, "extend") else base.update)(owner, value)
        else:
            fill(owner, value)
