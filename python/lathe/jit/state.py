"""What traced code can read besides its arguments, as a key to compare and a list of tensors.

A trace holds for the Python state it was made in. `Snapshot` walks that state from the function:
the globals and closure cells its code names, its defaults, and what can be reached from those:
modules' attributes that the code names, instances' attributes, containers, other functions. Plain
values become part of `key`; tensors become places in `tensors` (equal places are equal tensors, so
aliasing is part of the key too). Two calls with equal keys see the same program; their tensors may
differ.

What cannot be compared is compared by identity and kept alive. What a trace would silently get
wrong (clocks, random modules, printing, files) is refused by name.

Floats are left out of the key where a capture can put others in their place: they are listed in
`floats`, and who compares snapshots says which of them are the same at every call and which are
inputs of the program (inputs.py).

While it walks, a snapshot also notes where each thing was found. From these notes a `Witness`
(python/bindings/witness.h) can be made, which tells the next call, without a walk in Python, that
all is as it was. The notes are stricter than the key: objects are to be the very same ones. What
has no note makes `whole` false, and then there is no witness, only the walk.
"""

import builtins
import os
import sys
import types

# From the modules written in C: those in Python around them would double the time that the first
# trace waits for its imports.
from _collections import defaultdict, deque
from _contextvars import ContextVar
from _functools import _lru_cache_wrapper, partial
from _weakref import ref

from .. import _lathe
from .._lathe import Tensor
from .arrays import StandIn, digest, is_array
from .inputs import Array, ByValue, Float, Made, Place, is_float, original
from .names import Reads

_MOST_LEVELS = 1000  # of objects in objects: a witness is read and asked by recursion in C++
_PLAIN = (int, str, bytes, type(None), type(Ellipsis), complex)
_PACKAGE = __name__.split(".")[0]

# Modules whose functions give another answer at each call, and builtins with effects outside.
_FICKLE = frozenset(
    {"random", "time", "datetime", "uuid"}  # not an op: modules
    | {"secrets", "os", "threading", "numpy"}
)
_EFFECTS = frozenset({"print", "input", "open", "exec", "eval", "next", "id", "hash", "globals",
                      "locals", "setattr", "delattr", "vars"})  # fmt: skip


_OS_CALLS = {n for n, v in vars(os).items() if callable(v)}
_CLASS_OWN = (  # what a class has because it is one; it says nothing that the rest does not
    types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, types.BuiltinFunctionType,
)  # fmt: skip
_CLASS_PARTS = (types.FunctionType, staticmethod, classmethod, property)
_CLASS_NAMES = frozenset({"__dict__", "__weakref__", "__doc__", "__module__", "_abc_impl"})
_LIBRARIES = frozenset({_PACKAGE, *sys.stdlib_module_names})
_HOLDERS = frozenset({
    _PACKAGE, "builtins", "array", "collections", "contextvars", "types", "weakref",
})  # fmt: skip
_DICT_VIEWS = tuple(type(view) for view in ({}.keys(), {}.values(), {}.items()))
_CONTAINERS = (tuple, list, set, frozenset, dict, deque, partial)
_MOST_PLACES = 64  # floats in a longer list are data, and part of the key
# What code names that looks at an optimizer's settings; they are Lathe's own otherwise.
_OPENS_SETTINGS = frozenset({"param_groups", "state_dict", "__dict__"})
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that a class statement may have made
_STANDARD = os.path.dirname(os.__file__)


def is_users(code):
    """Code of a file that is not Python's own (nor made from text, as dataclasses' methods are)."""
    file = code.co_filename
    if "site-packages" in file or "dist-packages" in file:
        return True
    return not file.startswith((_STANDARD, "<frozen", "<string"))


def _is_standard(code):
    """Code of a file of Python's own."""
    return not is_users(code) and code.co_filename != "<string>"


def _location(code, line):
    return f"{code.co_filename}:{line or code.co_firstlineno}"


def _put_items(target, content):
    if len(target) != len(content) or any(a is not b for a, b in zip(target, content)):
        target[:] = content


def _put_content(target, content):
    if isinstance(target, dict):
        if list(target) == list(content) and all(target[k] is content[k] for k in content):
            return
    elif len(target) == len(content) and all(any(a is b for b in content) for a in target):
        return
    target.clear()
    target.update(content)


def _put_attributes(cls, content):
    for name in [n for n in vars(cls) if n not in content]:
        delattr(cls, name)
    for name, value in content.items():
        if vars(cls).get(name) is not value:
            setattr(cls, name, value)


def _put_cell(cell, value):
    cell.cell_contents = value


def _put_global(names, item):
    names[item[0]] = item[1]


def _take_global(names, name):
    names.pop(name, None)


def _refuse(code, line, what, instead):
    raise _lathe.TraceError(
        f"trace: {what}\n  got:      {code.co_name}\n  expected: code that does the same at "
        f"every call\n  at:       {code.co_filename}:{line}\n  next:     {instead}"
    )


def nested_too_deep(levels):
    """The error for arguments, results and state that a walk does not come to the end of."""
    return _lathe.TraceError(
        "what the traced function is given, gives or reads is nested too deep, or contains itself",
        op="trace",
        got=f"more than {levels} levels",
        expected=f"at most {levels} levels of lists, tuples, dicts and objects",
        next="pass the tensors in a flat list, or make the function read less",
    )


def _home(cls):
    """The package a class comes from; the extension's own types say so per object."""
    module = cls.__module__
    return module.split(".")[0] if isinstance(module, str) else _PACKAGE


def _is_leaf(name, value):
    """An attribute of a class that counts as the object it is, whatever it leads to: what Python
    itself puts there, and what its library makes (loggers, paths, caches), but for containers."""
    home = _home(type(value))
    return name.startswith("__") or home in _LIBRARIES and home not in _HOLDERS


def _exact(item):
    """Equal for the same type and value only: 1, 1.0 and True are three, 0.0 and -0.0 two."""
    if isinstance(item, (tuple, frozenset)):
        return type(item), tuple(map(_exact, item))
    if isinstance(item, (float, complex)):
        return type(item), repr(item)
    return type(item), item


def _written_in_c(kind):
    """The base written in C that an instance keeps its state in; None if it is only `object`."""
    for base in kind.__mro__:
        if not base.__flags__ & _HEAP_TYPE:
            return None if base is object else base
    return None


def _inner_state(value, kind):
    """What an object of Python's own leads to, beside its attributes; None if nothing is known."""
    if isinstance(value, BaseException):
        return (value.args,)
    if issubclass(kind, ref):
        return (value(),)
    if kind is types.GeneratorType:
        frame = value.gi_frame
        return (None,) if frame is None else (frame.f_lasti, dict(frame.f_locals))
    if kind in (types.BuiltinMethodType, types.MethodWrapperType):
        owner = value.__self__
        return None if owner is None or isinstance(owner, (types.ModuleType, type)) else (owner,)
    if _home(kind) == "builtins" and hasattr(kind, "__next__"):
        try:
            return tuple(value.__reduce__())[1:]
        except TypeError:
            return None
    return None


def _note(kind, a=None, b=None, number=0, flag=False, more=(), kids=()):
    """A node of a witness; python/bindings/witness.h says what the fields of each kind are."""
    return (kind, a, b, number, flag, tuple(more), tuple(kids))


def _slots_of(kind):
    """The names a class of the user's and its bases keep outside of a __dict__."""
    for base in kind.__mro__:
        if _home(base) not in (_PACKAGE, "builtins"):
            for name, part in vars(base).items():
                if isinstance(part, types.MemberDescriptorType):
                    yield name


class Snapshot:
    """key: hashable; tensors: the distinct ones, in order of discovery; keep: what ids refer to.

    notes: of the arguments and of the function; `whole`: they say all that the key says.
    """

    def __init__(self, grads=True, contents=False):
        self.grads = grads  # do the gradients of leaves count?
        self.saved = [] if contents else None  # how to put back what was there: (function, ...)
        self._in_class = 0
        self.tensors, self.key, self.keep = [], [], []
        self.met = defaultdict(int)  # how often the walk came to each tensor, by its number
        self.again = []  # containers that it came to again
        self.whole = True
        self._places, self._seen = {}, {}
        self._made = []  # while it walks, objects of its own, so that none has another's address
        self._passing = False  # now come the arguments, whose containers are new at each call
        self._level = 0
        # Those with a place; None: they are part of the key. `_rebuilt`: places in containers that
        # a capture makes anew. `_settings`: inside what changes by its nature.
        self.floats, self._rebuilt, self._settings = None, frozenset(), False
        self.arrays, self._arrays, self._read = [], {}, set()  # read: those that are data as well
        self._code = None  # of the function whose names are being followed
        self._asks = None  # where code asks for the type of something, "file:line"
        self._opens_settings = False  # does code look at what an optimizer has?

    # ── values: each gives its note ─────────────────────────────────────────────────────────────

    def add(self, value, names=None, how=None, container=None, at=None):
        """how, container, at: where the value can be replaced (inputs.Float), if it can."""
        kind = type(value)
        if kind in _PLAIN or kind is bool:
            self.key.append((kind, value))
            return _note("equal", value)
        if is_float(kind):
            return self._float(value, how, container, at)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if issubclass(kind, StandIn):
            value = original(value)
            kind = type(value)
        if is_array(kind) and self.floats is not None:
            note = self._array(value, how, container, at)
            if note is not None:
                return note
        if self._level >= _MOST_LEVELS:
            raise nested_too_deep(_MOST_LEVELS)
        self._level += 1
        note = self._object(value, kind, names)
        self._level -= 1
        return note

    def reach(self, value):
        """add() from outside: TraceError for what is nested too deep."""
        try:
            return self.add(value)
        except RecursionError:  # Python's own limit leaves less where much is under way already
            raise nested_too_deep(self._level) from None

    def _float(self, value, how, container, at):
        value = original(value)
        rebuilt = (id(container), at) in self._rebuilt and len(container) <= _MOST_PLACES
        if self.floats is None or not (how or rebuilt) or isinstance(value, Made):
            self.key.append((type(value), value.hex()))
            return _note("equal", value)
        self.key.append((type(value), "at a place"))
        self.floats.append(Float(value, how, container, at, self._settings))
        return _note("float", value, number=len(self.floats) - 1)

    def _array(self, value, how, container, at):
        """As an input; None if it is data, where it lies or stands."""
        found = self._arrays.get(id(value))
        placed = how or (id(container), at) in self._rebuilt
        if found is not None:
            self.key.append(("array", found.tensor))
            if placed:
                found.places.append(Place(how, container, at))
            else:
                self._read.add(found.number)  # the capture meets the array itself
            return _note("again", number=found.tensor)
        if not placed:
            return None
        try:
            t = _lathe._array_input(value)
        except (ValueError, TypeError):
            return None
        found = Array(value, len(self.arrays), len(self.tensors), Place(how, container, at))
        self._arrays[id(value)] = found
        self.arrays.append(found)
        self.tensors.append(t)
        self.key.append((type(value), t.dtype.name, tuple(t.shape)))
        return _note("array", type(value), more=(t.dtype, *t.shape))

    def _tensor(self, t):
        place = self._places.get(id(t))
        self.met[len(self.tensors) if place is None else place] += 1
        if place is not None:
            self.key.append(("tensor", place))
            return _note("again", number=place)
        self._places[id(t)] = len(self.tensors)
        self.key.append(("tensor", len(self.tensors), t.requires_grad))
        self.tensors.append(t)
        if not t.requires_grad or not t.is_leaf:
            return _note("tensor", type(t), flag=t.requires_grad)
        for hook in _lathe._hooks(t):  # they run at the capture, on the gradients of the trace
            self.whole = False
            self.key.append("hook")
            self.add(hook)
        if not self.grads:
            self.whole = False
            return None
        grad = self.add(t.grad)
        if grad[0] == "tensor" and grad[-1]:  # a gradient with a gradient of its own
            self.whole = False
        return _note("tensor", type(t), flag=True, kids=[grad])

    def _object(self, value, kind, names):
        if value is type:
            self._asked()
        seen = self._seen.get(id(value))
        if seen is not None:
            self.key.append(("again", seen))
            self.again.append(value)
            if isinstance(value, tuple):
                self._as_data(value)
            if not isinstance(value, types.ModuleType):
                self.whole &= not self._passing or isinstance(value, type)
                return _note("is", value)
        self._seen[id(value)] = len(self._seen)
        same = None if self._passing else value
        if self.saved is not None:
            self._save(value, kind)
        own = ()
        if kind not in _CONTAINERS and isinstance(value, _CONTAINERS):
            own = self._subclass(value, kind)
        if isinstance(value, (tuple, list)):
            self.whole &= kind is list or issubclass(kind, tuple)
            self.key.append((kind, len(value)))
            how = "item" if isinstance(value, list) and len(value) <= _MOST_PLACES else None
            kids = [self.add(item, names, how, value, i) for i, item in enumerate(value)]
            return _note("items", same, kind, flag=bool(own), kids=[*kids, *own])
        if isinstance(value, (set, frozenset)):
            self.key.append((kind, tuple(map(_exact, value))))
            self.whole &= kind in (set, frozenset) and all(type(item) in _PLAIN for item in value)
            return _note("set", value, kind, more=value)
        if isinstance(value, dict):
            return self._dict(value, kind, names)
        if kind is types.MappingProxyType or isinstance(value, _DICT_VIEWS):
            self.whole = False
            return self._dict(getattr(value, "mapping", value), kind, names)
        if kind is types.FunctionType:
            return self.function(value)
        if kind is types.MethodType:
            return _note("method", value, kids=[self.add(value.__self__), self.add(value.__func__)])
        if kind in (staticmethod, classmethod, property):
            self.whole = False
            parts = (value.fget, value.fset) if kind is property else (value.__func__,)
            for part in parts:
                self.add(part)
            return self._same(value)
        if kind is types.ModuleType:
            return self._module(value, names)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, deque):
            return self._unnoted(value, kind, value)
        if isinstance(value, partial):
            return self._unnoted(value, kind, (value.func, value.args, value.keywords))
        if kind is ContextVar:
            return self._unnoted(value, kind, (value.get(None),))
        elements = digest(value)
        if elements is not None:
            self.whole = False
            self.key.append((kind, elements))
            return self._same(value)
        return self._instance(value, kind)

    def _as_data(self, items):
        """A tuple that is found twice: where the arguments hold it a capture makes another one, and
        elsewhere it meets these very floats and arrays."""
        for item in items:
            if is_float(type(item)):
                self.key.append(original(item).hex())
            elif id(item) in self._arrays:
                self._read.add(self._arrays[id(item)].number)
            elif isinstance(item, tuple):
                self._as_data(item)

    def _subclass(self, value, kind):
        """A container of the user's own class has that class and attributes beside its items."""
        attributes = getattr(value, "__dict__", None)
        self.whole &= attributes is None and issubclass(kind, tuple)
        note = self._same(kind) if _home(kind) in _LIBRARIES else self.add(kind)
        self._slots(value, kind)
        for name, item in (attributes or {}).items():
            self.key.append(name)
            self.add(item)
        return (note,)

    def _slots(self, value, kind):
        for name in _slots_of(kind):
            self.whole = False
            self.key.append(name)
            if hasattr(value, name):
                self.add(getattr(value, name), None, "attribute", value, name)

    def _unnoted(self, value, kind, parts):
        """What has parts that no witness can look at: only the walk compares them. The parts live
        as long as the value: what a snapshot has seen it knows by address."""
        self.whole = False
        self.key.append((kind, len(parts)))
        for part in parts:
            self.add(part)
        return self._same(value)

    def _dict(self, value, kind, names):
        self.key.append((kind, len(value)))
        if isinstance(value, defaultdict):
            self.add(value.default_factory)
        kids = []
        how = "item" if isinstance(value, dict) and len(value) <= _MOST_PLACES else None
        for k, v in value.items():
            self.whole &= self.add(k)[0] in ("equal", "again")  # then it is to be the same object
            kids.append(self.add(v, names, how, value, k))
        self.whole &= kind is dict
        same = None if self._passing else value
        return _note("dict", same, kind, more=value, kids=kids)

    def _save(self, value, kind):
        if isinstance(value, list):
            self.saved.append((_put_items, value, list(value)))
        elif isinstance(value, (dict, set)):
            self.saved.append((_put_content, value, value.copy()))
        elif isinstance(value, type):
            if _home(value) not in (_PACKAGE, "builtins"):
                self.saved.append((_put_attributes, value, dict(vars(value))))
        elif isinstance(getattr(value, "__dict__", None), dict) and kind is not types.ModuleType:
            self.saved.append((_put_content, value.__dict__, dict(value.__dict__)))

    def restore(self):
        """Puts Python's state back, as far as a trace can have reached it."""
        for put, what, content in self.saved:
            put(what, content)

    def differs(self, before):
        """Is any of it another value, or another tensor, than in an earlier snapshot?"""
        if self.key != before.key or len(self.tensors) != len(before.tensors):
            return True
        return any(a is not b for a, b in zip(self.tensors, before.tensors))

    def _same(self, value):
        self.keep.append(value)
        self.key.append(("same", id(value)))
        return _note("is", value)

    def _module(self, module, names):
        same = self._same(module)
        if module.__name__.split(".")[0] == _PACKAGE:
            return same
        space, kids = vars(module), []
        for name in sorted(names or ()):
            if name not in space:
                kids.append(_note("absent", space, name))
                continue
            value = space[name]
            if isinstance(value, (types.BuiltinFunctionType, types.ModuleType)):
                note = _note("is", value)
            else:
                self.key.append(name)
                note = self.add(value, None, "item", space, name)
            kids.append(_note("named", space, name, kids=[note]))
        return _note("space", module, number=-1, kids=kids)

    def _class(self, cls):
        same = self._same(cls)
        if _home(cls) in (_PACKAGE, "builtins"):
            return same
        kids = []
        bases = [b for b in cls.__mro__ if _home(b) not in (_PACKAGE, "builtins")]
        self.whole &= len(bases) == 1
        self._in_class += 1
        for base in bases:
            for name, value in tuple(vars(base).items()):
                if isinstance(value, _CLASS_OWN) or name in _CLASS_NAMES:
                    note = _note("is", value)
                else:
                    self.key.append(name)
                    leaf = not isinstance(value, _CLASS_PARTS) and _is_leaf(name, value)
                    how = "attribute"
                    note = self._same(value) if leaf else self.add(value, None, how, base, name)
                kids.append(_note("named", base, name, kids=[note]))
        self._in_class -= 1
        if _home(type(cls)) not in _LIBRARIES:
            self.whole = False
            self.add(type(cls))
        return _note("space", cls, number=len(vars(cls)), kids=kids)

    def _instance(self, value, kind):
        self.key.append(("instance", id(kind)))
        self.keep.append(kind)
        kids = []
        if _home(kind) not in (_PACKAGE, "builtins"):
            kids.append(self.add(kind))
        attributes = getattr(value, "__dict__", None)
        self._slots(value, kind)
        base, inner = _written_in_c(kind), _inner_state(value, kind)
        if inner is not None:
            self.whole = False
            self._made.append(inner)
            for part in inner:
                self.add(part)
        elif base in (int, float, str, bytes, complex):
            self.key.append(_exact(base.__getnewargs__(value)))
        elif base not in (None, types.SimpleNamespace):
            self._same(value)
        if hasattr(kind, "_walks_as"):  # a traced function: what it remembers does not matter
            name = kind._walks_as
            inner = _note("named", attributes, name, kids=[self.add(attributes[name])])
            return _note("space", value, number=-1, kids=[inner])
        if attributes is None:
            self.whole &= not kids
            return self._same(value)
        inner, settings = [], getattr(kind, "_settings", None)
        for name, item in attributes.items():
            self.key.append(name)
            self._settings = name == settings
            inner.append(self.add(item, None, "item", attributes, name))
            self._settings = False
        kids.append(_note("dict", None, type(attributes), more=attributes, kids=inner))
        return _note("object", value, kind, kids=kids)

    # ── functions ───────────────────────────────────────────────────────────────────────────────

    def function(self, f):
        """A function is its code and all that its code reads."""
        f = getattr(f, "__wrapped__", f) if not isinstance(f, types.FunctionType) else f
        code = f.__code__
        self.keep.append(code)
        self.key.append(("code", id(code)))
        parts = (code, f.__defaults__, f.__kwdefaults__, f.__closure__)
        if f.__module__ is not None and f.__module__.split(".")[0] == _PACKAGE:
            # the library's own functions change with its version only
            return _note("function", f, more=parts)
        if self._in_class and not is_users(code):
            return _note("function", f, more=parts)  # Python's own, which may never be called
        reads = Reads.of(code)
        if is_users(code):
            self._refusals(f, reads)
        outer, self._code = self._code, code
        if not _is_standard(code) and _OPENS_SETTINGS & (reads.attributes | reads.texts):
            self._opens_settings = True
        kids = [self.add(d) for d in (f.__defaults__, f.__kwdefaults__)]
        for name, cell in zip(code.co_freevars, f.__closure__ or ()):
            self.key.append(name)
            try:
                value = cell.cell_contents
            except ValueError:
                self.key.append("empty")  # not an op: part of a key
                kids.append(_note("cell", cell))
                continue
            if self.saved is not None:
                self.saved.append((_put_cell, cell, value))
            self._refuse_fickle(code, code.co_firstlineno, name, value, reads)
            content = self.add(value, reads.attributes, "cell", cell)
            kids.append(_note("cell", cell, kids=[content]))
        space = f.__globals__
        for name in reads.globals:
            if name in space:
                if self.saved is not None:
                    self.saved.append((_put_global, space, (name, space[name])))
                self.key.append(name)
                value = self.add(space[name], reads.attributes, "item", space, name)
                kids.append(_note("named", space, name, kids=[value]))
                continue
            if self.saved is not None:
                self.saved.append((_take_global, space, name))
            kids.append(_note("absent", space, name))
            kids.append(self._built_in(name, reads))
        kids.append(self._attributes(f))
        self._code = outer
        return _note("function", f, more=parts, kids=kids)

    def _asked(self, line=None):
        """Code can ask for the type of what it finds. Python's own asks too, but serves whatever
        behaves like a float."""
        if self._asks is None and not (self._code and _is_standard(self._code)):
            self._asks = _location(self._code, line) if self._code else "an argument or attribute"

    def by_value(self):
        """ByValue: what code could ask for the type of, and arrays that are data."""
        if self._asks is None:
            return ByValue(arrays=self._read)
        floats = [i for i, f in enumerate(self.floats) if self._opens_settings or not f.setting]
        why = f"code asks for types ({self._asks})"
        return ByValue(floats, range(len(self.arrays)), why)

    def _built_in(self, name, reads):
        """A name that the module does not have: builtins', where it can be bound anew."""
        space = vars(builtins)
        if name not in space:
            self.key.append(("missing", name))
            return _note("absent", space, name)
        value = space[name]
        own = isinstance(value, (types.BuiltinFunctionType, type)) and _home(value) == "builtins"
        if value is type and reads.asks:
            self._asked(reads.asks)
        note = self._same(value) if own else self.add(value, reads.attributes)
        return _note("named", space, name, kids=[note])

    def _attributes(self, f):
        """What was set on a function. What it wraps its code reaches otherwise, if at all."""
        attributes, kids = f.__dict__, []
        for name, value in attributes.items():
            self.key.append(name)
            leaf = name == "__wrapped__"
            kids.append(
                _note("is", value) if leaf else self.add(value, None, "item", attributes, name)
            )
        return _note("dict", attributes, dict, more=attributes, kids=kids)

    def _refusals(self, f, reads):
        if reads.stores:
            what, name, line = reads.stores
            _refuse(
                reads.code,
                line,
                f"the traced code runs {what.lower()} {name!r}, which happens at capture only",
                "move it out of the traced function",
            )
        for name in reads.globals:
            line = reads.lines[name]
            value = f.__globals__.get(name)
            if value is None and name in _EFFECTS and name not in f.__globals__:
                _refuse(reads.code, line, f"{name}() would run at capture only",
                        "call it outside of the traced function")  # fmt: skip
            self._refuse_fickle(reads.code, line, name, value, reads)

    @staticmethod
    def _refuse_fickle(code, line, name, value, reads):
        if isinstance(value, _lru_cache_wrapper):
            _refuse(
                code,
                line,
                f"{name} remembers its results: a tensor of the trace would stay in its cache",
                "call it outside of the traced function, or call the function under it",
            )
        module = isinstance(value, types.ModuleType)
        home = value.__name__ if module else getattr(value, "__module__", None)
        if module and home == "os" and not (reads.attributes & _OS_CALLS):
            return  # os.environ is guarded like any dictionary
        if isinstance(home, str) and home.split(".")[0] in _FICKLE:
            _refuse(
                code,
                line,
                f"{name} ({home}) may answer anew at each call, and would be asked at capture only",
                "use it outside and pass the value in, or use lathe's own ops",
            )

    def finish(self):
        self.key = tuple(self.key)
        return self


def snapshot(arguments, function, rebuilt=frozenset()):
    """Of the arguments and of what the function reads; `arguments` come first. rebuilt: places in
    containers that a capture makes anew, (id, key)."""
    s = Snapshot()
    s.floats, s._rebuilt = [], rebuilt
    s._passing = True
    given = s.reach(arguments)
    s._passing = False
    counted = len(s.tensors)
    s.notes = (given, s.reach(function))
    modes = (_lathe.is_grad_enabled(), _lathe._autocast(), _lathe.get_default_dtype())
    s.key.append(tuple(map(str, modes)))
    s.finish()
    return s, counted
