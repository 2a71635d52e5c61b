"""What the traced code does to Python's state: recorded, undone, and repeated by later calls.

While a capture runs, stores happen as they are written, so that the code sees its own. Before the
first one to a container, an attribute or a variable what was there is kept. At the end all is put
back, and what differs becomes the effects of the program: `Plan` says how a value is made again at
a later call, from the program's results, the objects that rows find, and constants.
"""

import types
from _functools import partial

from ... import _lathe
from ..._lathe import Tensor
from ..trace import same_grad
from .operators import AUGMENT
from .plans import put_slot, put_variable
from .recording import BOXES, HEAP, MISSING, content, copied, dict_of, fill, in_mro
from .rows import IDENTITY, NUMBERS, PLAIN, is_array, is_plain
from .texts import as_key

_AUGMENTED = (list, set, dict)
# Methods of a schedule, which an attribute of its own may stand before.
_OF_A_STEP = ("get_lr", "step", "_update_lr", "_set", "_rates")


class Effects:
    def start_effects(self):
        self.slots = {}  # by (id of an object, name): (object, name, what was there)
        self.variables = []  # (cell or dict, name or None, what was there, line that stores)
        self.placed = {}  # by (id of an owner of those, name): what stands there for its number
        self.added = set()  # ids of lists that were only added to
        self.mutated = []  # all that was written to, each time
        self.parts = 0  # how many parts of structures are being recorded, one in the other
        self.fresh = []  # dicts that they make
        self.rebound = []  # names of outer variables, each time that a function may set them
        self.first_store = None
        self.storing = []  # dicts whose key is about to be evaluated
        self.put_off_calls = []  # (row of an object, name of its method)

    # ── before a store ──────────────────────────────────────────────────────────────────────────

    def store(self, obj, name, direct=False):
        """obj.name = ... or del obj.name; direct: whatever its class makes of that."""
        if not self.on():
            return obj
        if hasattr(type(obj), "_stands_for") and not obj._is_own(name):
            obj = self.behind(obj)
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
            self.leaves.setdefault(row, obj.grad)  # it may have one that it no longer asks for
            self.written.add((row.n, "grad"))
            return self.stand_ins.get(row.n, obj)
        if name == "requires_grad":
            obj = self._tensor_used(obj)  # as it is before
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
        container = self.behind(container)
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
        container = self.behind(container)
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
        if id(container) in self._shown:
            self.refuse_shown(container)
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
        if id(container) in self.changed_later or id(container) in self.written_later:
            self.put_nothing_off()
        self.first_store = self.first_store or self.line()
        if id(container) not in self.before:
            self.before[id(container)] = container, copied(container)

    # ── calls that are put off ──────────────────────────────────────────────────────────────────

    def put_off(self, method):
        """A schedule moves on by Python's numbers alone, of which each would be a trace: the call
        is made when the program has run, as an effect. Code that reads or writes before that what
        the call changes begins the capture anew, and the call is traced through. None: it is, as
        other calls are, and those that are made only where data says so."""
        if "changes" not in getattr(method.__func__, "__dict__", ()) or not self.may_put_off:
            return None
        row = self.row_of(method.__self__)
        if row is None or self.parts or _lathe._recording():
            return None
        return partial(self._put_off, row, method)

    def _put_off(self, row, method, *args, **kwargs):
        changes = method.__func__.changes
        self.net.made(changes.__code__)
        found = None if args or kwargs else changes(method.__self__)
        if found is None:
            self.put_nothing_off()
        owned, groups = found
        for schedule, state in owned:  # what decides that the call may come later
            for name in ("optimizer", *_OF_A_STEP):
                self.read_key(state, name, owner=schedule)
            if "_schedulers" in state:
                self.read_key(state, "_schedulers", owner=schedule)
                self.contents(state["_schedulers"])
            if any(name in state for name in _OF_A_STEP):
                self.put_nothing_off()
            optimizer = state["optimizer"]
            self.written_later.update((id(optimizer.param_groups), id(vars(optimizer))))
        for space in (*(state for _, state in owned), *groups):
            whole = (id(space), False) in self.whole or (id(space), True) in self.whole
            if whole or id(space) in self._shown:
                self.put_nothing_off()  # a view of it may be looked at later
            self.changed_later.add(id(space))
        self.first_store = self.first_store or self.line()
        self.put_off_calls.append((row, method.__name__))

    def watch(self, owner, name, row, where):
        """Code is about to run that stores to a cell, or to a key of a dict of globals. A number
        that is an input is put there itself: what is read afterwards is told from it."""
        if any(o is owner and n == name for o, n, _, _ in self.variables):
            return
        self.variables.append((owner, name, _variable(owner, name), where))
        if row is not None and row.test in NUMBERS:
            self.placed[(id(owner), name)] = self.stand_ins[row.n]
            put_variable(owner, name, self.stand_ins[row.n])

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
        return partial(f, old, value)

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
        found += [("turned", row, None, flag) for row, flag in self.turned_tensors()]
        return found + [("called", *call, ()) for call in self.put_off_calls]

    def has_changed(self):
        """Is anything else to be seen than that loggers keep what they were asked?"""
        return any(kind != "asked" for kind, *_ in self.changes())

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
                    logger = self.asked.get(id(container))
                    out.append(("asked", self.row_of(logger), k, None) if logger is not None else
                               ("key", row, k, v))  # fmt: skip
                    model[k] = v
            if list(model) == list(now):
                return out
            self.contents(container)  # what stays is put back as it was
            return [("content", row, None, now)]
        now, before = content(container), list(old)
        if len(now) == len(before) and all(a is b for a, b in zip(now, before)):
            return []
        if id(container) in self.added:
            return [("added", row, None, now[len(before) :])]
        return [("content", row, None, now)]

    def guard_what_stays(self):
        """What was written where the same stood is no effect: as long as the same stands there."""
        for container, old in self.before.values():
            if isinstance(container, dict):
                self._guard_keys(container, old)
        for obj, name, old in self.slots.values():
            member = in_mro(type(obj).__mro__, name)[1]
            if type(member) is types.MemberDescriptorType and _slot_value(obj, name) is old:
                self.row("member", self.row_of(obj), member, old, raw=True)
        for owner, name, old, _ in self.variables:
            if _variable(owner, name) is old:
                step = "cell" if name is None else "key"
                self.row(step, self.constant(owner), name, old, raw=True)
        for row, before in self.turned.items():
            if self.stand_ins.get(row.n, row.value).requires_grad is before:
                self.row("part", row, "requires_grad", before)
        for row, now, before in self.leaf_tensors():
            if (row.n, "grad") in self.written and same_grad(now.grad, before):
                self.gradient_row(row, before)

    def _guard_keys(self, container, old):
        now, row = copied(container), self.row_of(container)
        same = [k for k in now if k in old and now[k] is old[k]]
        if any((id(container), ("object", id(k))) in self.written for k in same):
            self.contents(container)
        for key in same:
            if (id(container), key) in self.written:
                self.row("key", row, key, old[key], raw=True)

    def refuse_changes(self):
        """Where a program is to stand by itself there is no state to change."""
        if self.has_changed():
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
            put_slot(obj, name, old)
        for owner, name, old, _ in self.variables:
            put_variable(owner, name, old)


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
