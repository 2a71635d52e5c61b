"""The rows of one capture: which object came from which read."""

import gc
import types
from _collections import OrderedDict, deque
from _weakref import ref  # of weakref, without the rest of it: a first trace waits for imports

from ... import _lathe
from ..._lathe import Tensor
from .rows import (
    IDENTITY,
    MISSING,
    NUMBERS,
    PLAIN,
    Row,
    is_array,
    is_number,
    is_plain,
    path_in_class,
)  # fmt: skip

BOXES = (list, tuple, deque, set, frozenset, dict)
HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that a class statement may have made
_MEMBER = types.MemberDescriptorType


class Restart(BaseException):
    """The capture is to begin anew, with `concrete` arguments standing for themselves."""


class Built(BaseException):
    """The code has made a parameter or buffer that stays: a leaf, which a program cannot make. The
    call runs as it is, and later ones find it there."""


def _ages():
    """What tells which objects are there now.

    The collector does not run in a capture. So what is made from now on is its youngest generation,
    if that is empty now; where it may not be emptied, or gc.freeze() has put objects aside, the
    objects that there are are noted.
    """
    frozen = gc.get_freeze_count() > 0
    if gc.isenabled() and not frozen:
        gc.collect(0)
        return _lathe._Ages(gc.get_objects)
    if frozen:
        gc.unfreeze()
    ages = _lathe._Ages(gc.get_objects, gc.get_objects())
    if frozen:
        gc.freeze()
    return ages


def hold(row, value):
    """Makes an object what a row wants: by a weak reference, where it has one."""
    try:
        row.wanted, row.weak = ref(value), True
    except TypeError:
        row.wanted, row.weak = value, False


def dict_of(obj):
    """The __dict__ of an object, whatever its class makes of reading it; None: it has none."""
    kind = type(obj)
    try:
        if issubclass(kind, type):
            return None
        if issubclass(kind, types.ModuleType):
            return types.ModuleType.__getattribute__(obj, "__dict__")
        return object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None


def in_mro(mro, name):
    for cls in mro:
        if name in cls.__dict__:
            return cls, cls.__dict__[name]
    return None, MISSING


def content(value):
    """The items of a container, or the keys of a dict, without its class's own methods."""
    return list(base_of(type(value)).__iter__(value))


def base_of(kind):
    """The class in C whose methods know how a container keeps what it holds."""
    return next(b for b in (OrderedDict, *BOXES) if issubclass(kind, b))


def copied(container):
    base = base_of(type(container))
    return dict(base.items(container)) if base is OrderedDict else base.copy(container)


def fill(container, now):
    base = base_of(type(container))
    base.clear(container)
    if base is OrderedDict:
        for key, value in now.items():
            base.__setitem__(container, key, value)
    else:
        (base.extend if hasattr(base, "extend") else base.update)(container, now)


def may_be_resized(row):
    """A tensor without history: those with one are parameters, or of steps that went before."""
    t = row.value
    return row.test == "tensor" and type(t) is Tensor and not t.requires_grad and row.step != "grad"


class Recording:
    """varying: paths of numbers that are inputs; concrete: identities of tensors among the
    arguments that stand for themselves."""

    def __init__(self, varying, concrete, inputs=True):
        self.rows, self.index = [], {}
        self.known = {}  # by id: (object, row)
        self.tensors = {}  # by identity: row
        self.stand_ins = {}  # by number of a row: what the code gets for its value
        self.leaves = {}  # rows of leaf tensors: the gradient each had
        self.turned = {}  # rows of tensors on which requires_grad may be set: what it was
        self.bundles = {}  # by class: {(base, name): value}
        self.whole = set()  # containers whose items all have rows
        self.written = set()  # (id of a dict or object, key): from then on, reads are no rows
        self._looked, self._looked_when = {}, 0  # what look_up() found, after so many writes
        self.before = {}  # by id of a container that was written to: (itself, a copy)
        self.may_put_off = False  # see Effects.put_off()
        self.changed_later = set()  # ids of dicts that calls change which were put off
        self.written_later = set()  # ids of what they read, and code may not write any more
        self.varying, self.concrete = set(varying), concrete
        self.resized = []  # tensors from outside whose sizes have been seen to change
        self.of_any_size = {}  # by identity of those that are inputs: what stands for them
        self.alike = {}  # by id: rows of functions for which one with the same code may stand
        self.inputs = inputs  # may numbers be inputs?
        self.ages = _ages()

    # ── rows ────────────────────────────────────────────────────────────────────────────────────

    def _add(self, step, parent, key, test, wanted, value, name=None):
        row = Row(len(self.rows), step, parent, key, test, wanted, value, name)
        self.rows.append(row)
        return row

    def constant(self, obj, name=None):
        """The row of what is there whatever the call."""
        found = self.known.get(id(obj))
        if found is None:
            row = self._add("constant", None, id(obj), "anything", None, obj, name)
            hold(row, obj)
            row.pinned = True
            self.known[id(obj)] = found = obj, row
            kind = type(obj)
            if kind.__flags__ & HEAP and not issubclass(kind, IDENTITY):
                self._also(row, "type", kind)  # another may be assigned to its __class__
        return found[1]

    def root(self, step, value):
        row = self._add(step, None, None, "anything", None, value)
        self.known[id(value)] = value, row
        return row

    def default_dtype(self):
        value = _lathe.get_default_dtype()
        self._add("default_dtype", None, None, "is", value, value)

    def row_of(self, obj):
        """The row of an object from outside; None for what the capture made. Refuses what is
        neither."""
        found = self.known.get(id(obj))
        if found is not None:
            return found[1]
        kind = type(obj)
        if issubclass(kind, Tensor):
            return self.tensors.get(_lathe._identity(obj))
        if issubclass(kind, IDENTITY):
            return self.constant(obj) if self.was_there(obj) else None
        if self.ages.knows(obj) and not is_plain(obj) and not issubclass(kind, ref):
            self.refuse(f"a {kind.__name__} comes from where no read was seen")
        return None

    def was_there(self, obj):
        """Was a function, class or module there before the capture?"""
        return self.ages is None or not gc.is_tracked(obj) or self.ages.knows(obj)

    def row(self, step, parent, key, value, raw=False, setting=False, open=False):
        """The row of a read; None if the capture made what is read from.

        raw: the code gets the value itself, also where a number could be an input; setting: what is
        there to be changed, so that floats in it are inputs at once; open: the items of a tuple get
        rows of their own.
        """
        if parent is None:
            return None
        index = (step, parent.n, type(key), id(key) if isinstance(key, Tensor) else key)
        known = self.index.get(index)
        if known is not None and not (raw and known.test in NUMBERS):
            return known
        kind = type(value)
        if kind in (_lathe.SymInt, _lathe.SymFloat):  # an input of the program already
            return known
        row = self._add(step, parent, key, "anything", None, value)
        row.pinned = parent.pinned
        row.setting = setting or parent.setting
        if known is None:
            self.index[index] = row
        if value is MISSING:
            row.test = "absent"
        elif not raw and self._is_input(row, value):
            row.test, row.wanted = "integer" if kind is int else "float", kind
            if self._live:  # those of the arguments are made when the trace begins
                self.stand_ins[row.n] = _lathe._capture_number(row.n, value)
        elif is_plain(value) and not (open and kind is tuple) and id(value) not in self.known:
            if kind is tuple and row.setting and not raw and float in map(type, value):
                self._tuple_of_settings(row, value)
            else:
                row.test, row.wanted = "equal", value
        else:
            self._object(row, value, kind)
        return row

    def _tuple_of_settings(self, row, value):
        """Its floats are inputs, as others are: a schedule of the momentum makes new pairs."""
        row.test, row.wanted = "type", tuple
        self._also(row, "length", (tuple, len(value)))
        items = [self.row("item", row, i, v) for i, v in enumerate(value)]
        if self._live:
            self.stand_ins[row.n] = tuple(map(self.given, items, value))

    def _is_input(self, row, value):
        if not self.inputs or not is_number(value) or row.step == "of_value":
            return False
        if row.step == "class" and path_in_class(row.parent.value, row.key) in self.varying:
            return True
        return row.path in self.varying or row.setting and type(value) is not int

    def _object(self, row, value, kind):
        before = self._known_row(value, kind)
        if before is not None:
            if before.step == "constant" or before.test == "is" and row.pinned:
                row.test, row.wanted, row.weak = "is", before.wanted, before.weak
            else:
                row.test, row.wanted = "again", before.n
                self._meets(before)
            return
        self.known[id(value)] = value, row
        if issubclass(kind, Tensor):
            row.test, row.wanted, row.loose = "tensor", kind, True
            self.tensors[_lathe._identity(value)] = row
            hooks = _lathe._hooks(value)
            if hooks:  # they run on the gradients of the trace
                row.test = "hooked"
                self.hooks(row, hooks)
            if value.requires_grad and value.is_leaf:
                self.leaves[row] = value.grad
            self._any_size(row)
        elif is_array(kind) and self._array(row, value):
            row.loose = True
        elif kind is types.FunctionType and not row.pinned and row.path in self.varying:
            row.test, row.wanted, row.loose = "type", kind, True
            self.alike[id(value)] = row
        elif issubclass(kind, IDENTITY) or isinstance(value, BaseException):
            row.kind = None if row.pinned else kind
            row.test, row.pinned = "is", True
            hold(row, value)
        elif issubclass(kind, BOXES) or kind is types.CellType or not row.pinned:
            row.test, row.wanted, row.loose = "type", kind, row.step != "dict"
            if row.step == "dict":
                row.test = "anything"
        else:
            row.test = "is"
            hold(row, value)
        if row.test in ("is", "type"):
            self._plain_value(row, value, kind)

    def _plain_value(self, row, value, kind):
        """An instance of a class derived from a plain one is that value, whatever else it is."""
        base = next((b for b in (int, float, str, bytes, complex) if issubclass(kind, b)), None)
        if kind.__module__ == "numpy" and hasattr(kind, "tobytes") and not is_array(kind):
            self.row("of_value", row, kind.tobytes, value.tobytes())
        elif base is not None:
            self.row("of_value", row, base.__getnewargs__, base.__getnewargs__(value))

    def _known_row(self, value, kind):
        if issubclass(kind, Tensor):
            return self.tensors.get(_lathe._identity(value))
        found = self.known.get(id(value))
        return found and found[1]

    def hooks(self, row, found):
        """The hooks of a tensor: those very functions, which run observed."""
        made = self.row("of_value", row, _lathe._hooks, found)
        self._also(made, "length", (type(found), len(found)))
        for i, hook in enumerate(found):
            self.row("item", made, i, hook)
            self.let_c_call(hook)

    def _meets(self, row):
        """A tensor of the arguments is found elsewhere too: it has to stand for itself."""
        if row.n in self.stand_ins and isinstance(row.value, Tensor):
            self.concrete.add(_lathe._identity(row.value))
            self.again = True
            raise Restart

    def _any_size(self, row):
        """A tensor from outside whose sizes have been seen to change is an input of the program,
        with sizes of its own, as an argument is."""
        identity = _lathe._identity(row.value)
        other = self.of_any_size.get(identity)
        if other is not None:
            self.stand_ins[row.n] = other
            self.known[id(other)] = other, row
            self.tensors[_lathe._identity(other)] = row
        elif (
            self._live
            and row.path in self.varying
            and identity not in self.concrete
            and may_be_resized(row)
        ):
            self.resized.append(row.value)
            self.again = True  # when the code has run to its end, which may meet others

    def refuse_unread(self):
        """What was expected to be read, and was not."""
        for identity in self.of_any_size:
            if identity not in self.tensors:
                self.concrete.add(identity)
                self.again = True

    def put_nothing_off(self):
        """What a call changes that was put off is read or written: the capture begins anew."""
        self.may_put_off, self.again = False, True
        raise Restart

    def _array(self, row, value):
        try:
            t = _lathe._array_input(value)
        except (ValueError, TypeError):
            return False
        row.test, row.wanted = "array", (type(value), t.dtype, tuple(t.shape))
        self.tensors[_lathe._identity(t)] = row
        if self._live:  # those of the arguments are made when the trace begins
            self.stand_ins[row.n] = _lathe._lift(t)
        else:
            self.stand_ins[row.n] = t
        return True

    def given(self, row, value):
        """What the code gets for what a row found."""
        if row is None:
            return value
        if row.test == "array":
            if self.in_numpy:
                self.read_elements(value, row)
            return value
        return self.stand_ins.get(row.n, value)

    def gradient_row(self, row, before):
        """The row of the gradient that a tensor had, or of its absence."""
        return self.row("grad", row, None, MISSING if before is None else before)

    def leaf_tensors(self):
        """[(row, what the code has, its gradient before)] of each leaf that was met."""
        found = []
        for row, before in self.leaves.items():
            other = self.stand_ins.get(row.n)
            found.append((row, row.value if other is None else other, before))
        return found

    def may_turn(self, row, tensor):
        """The code is about to say whether a tensor from outside requires grad."""
        before = row.value
        if not isinstance(before, Tensor) or not tensor.is_leaf or row in self.turned:
            return
        self.turned[row] = before.requires_grad
        self.leaves.setdefault(row, before.grad)
        if tensor is not before and tensor.grad is None:
            _lathe._put_grad(tensor, before.grad)

    def turned_tensors(self):
        """[(row, does it require grad now?)] of those of which the code has changed that."""
        now = [(row, self.stand_ins.get(row.n, row.value).requires_grad) for row in self.turned]
        return [(row, flag) for row, flag in now if flag is not self.turned[row]]

    # ── what belongs to objects ─────────────────────────────────────────────────────────────────

    def dict_row(self, obj, space):
        """The row of the __dict__ of an object from outside, which is `space`."""
        found = self.known.get(id(space))
        if found is not None:
            return found[1]
        owner = self.row_of(obj)
        return owner and self.row("dict", owner, None, space)

    def read_key(self, space, key, raw=False, owner=None):
        """What a dict has at a plain key, by a row if it is from outside."""
        if id(space) in self.changed_later and key != "params":  # of a group, which no call changes
            self.put_nothing_off()
        row = self.dict_row(owner, space) if owner is not None else self.row_of(space)
        if row is None or (id(space), key) in self.written:
            return None
        old = self.before.get(id(space))
        value = dict.get(space, key, MISSING)
        if old is not None and old[1].get(key, MISSING) is not value:
            return None
        setting = owner is not None and key == getattr(type(owner), "_settings", None)
        return self.row("key", row, key, value, raw, setting)

    def contents(self, value, deep=False):
        """All that a container holds; of a container in it too, but for dicts: those are read as
        they are used. deep: those too."""
        kind = type(value)
        row = self.row_of(value)
        if id(value) in self.changed_later:
            self.put_nothing_off()
        if (id(value), deep) in self.whole:
            return
        self.whole.add((id(value), deep))
        old = self.before.get(id(value))
        now = old[1] if old else value
        if row is not None and is_plain(now) and row.test == "equal":
            return
        items = content(now)
        if row is None:
            inner = [*items, *dict.values(now)] if issubclass(kind, dict) else items
        elif issubclass(kind, dict):
            inner = self._dict_items(row, now, items)
        elif issubclass(kind, (list, tuple)):
            self._sized(row, kind, items)
            inner = items
        else:
            inner = self._loose_items(row, now, kind, items)
        for item in inner:
            self.prepare(type(item))
            if deep:
                self.identified(item)
            if issubclass(type(item), dict) and not deep:
                continue
            if issubclass(type(item), BOXES):
                self.contents(item, deep)

    def _also(self, row, test, wanted):
        """One more test of what a row found."""
        self._add("value", row, None, test, wanted, row.value)

    def _sized(self, row, kind, items):
        self._also(row, "length", (kind, len(items)))
        for i, item in enumerate(items):
            self.row("item", row, i, item, raw=True)

    def _dict_items(self, row, now, keys):
        ordered = issubclass(type(row.value), OrderedDict)  # whose order no look at a dict tells
        if not ordered and all(is_plain(k) or issubclass(type(k), IDENTITY) for k in keys):
            self._also(row, "keys", tuple(keys))
            rows = keys
        else:
            items = self.row("content", row, base_of(type(now)).__iter__, keys)
            self._sized(items, list, keys)
            rows = [self.row("item", items, i, k) if not is_plain(k) else k
                    for i, k in enumerate(keys)]  # fmt: skip
        for key, at in zip(keys, rows):
            self.row("key", row, key if at is key else at, dict.__getitem__(now, key), raw=True)
        return [*keys, *dict.values(now)]

    def _loose_items(self, row, now, kind, items):
        made = self.row("content", row, base_of(kind).__iter__, items)
        if all(map(is_plain, items)):
            self._also(made, "equal", items)
        else:
            self._sized(made, list, items)
        return items

    # ── classes ─────────────────────────────────────────────────────────────────────────────────

    def look_up(self, kind, mro, name):
        """(class, value) of what a class has under a name; its absence counts as well. Once for
        each, until something is written to: an attribute of a module is read again and again."""
        if mro is not kind.__mro__:
            return self._look_up(kind, mro, name)
        if len(self.written) != self._looked_when:
            self._looked.clear()
            self._looked_when = len(self.written)
        at = id(kind), name
        if at not in self._looked:
            self._looked[at] = kind, self._look_up(kind, mro, name)
        return self._looked[at][1]

    def _look_up(self, kind, mro, name):
        for cls in mro:
            if not cls.__flags__ & HEAP:
                if name in cls.__dict__:
                    return cls, cls.__dict__[name]
                continue
            value = cls.__dict__.get(name, MISSING)
            if (id(cls), name) not in self.written and self.was_there(kind):
                self._of_class(kind, cls, name, value)
            if value is not MISSING:
                return cls, value
        return None, MISSING

    def _of_class(self, kind, cls, name, value):
        t = type(value)
        if (
            value is MISSING
            or t in PLAIN
            and t is not float
            and path_in_class(cls, name) not in self.varying
            or issubclass(t, IDENTITY)
            or (t in (property, staticmethod, classmethod, _MEMBER, types.GetSetDescriptorType))
        ):
            self.bundles.setdefault(kind, {})[(cls, name)] = value
        else:
            self.row("class", self.constant(cls), name, value)
