"""Calls of what is written in C: only what is listed here runs in a capture.

Listed are functions of their arguments, whose operands are observed first; methods that read and
methods that write, by the type that they belong to; ops of the library; and functions that answer
for some state, each of which makes a row. Whatever else is called is refused, with the line.
"""

# The halves in C of bisect, operator, struct and the like: a first trace waits for imports.
import _bisect
import _operator as operator
import _struct
import builtins
import itertools
import math
import sys
import types
from _collections import OrderedDict, defaultdict, deque
from _contextvars import ContextVar
from _functools import _lru_cache_wrapper, partial, reduce
from _weakref import proxy, ref

from ... import _lathe
from ..._lathe import Tensor
from ..arrays import StandIn
from .items import Item, item_of
from .lookups import GETTERS, MODELS, by_name, getter
from .of_numpy import is_scalar
from .recording import BOXES, HEAP, MISSING, in_mro
from .rows import is_array, is_plain
from .texts import Text, as_key

_METHODS = (
    types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType,
)  # fmt: skip
_DESCRIPTORS = _METHODS[2:]
_OPS = (_lathe.Op, type(Tensor.relu))
_NANOBIND = type(_lathe.manual_seed)
_BOUND = type(_lathe._Net("").trust)  # a method of a class of the library's

# Functions of their arguments, and constructors of containers of them.
_IN_PLACE = (
    "iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor "
    "setitem delitem"
)
_IN_PLACE = {f"__{n}__" for n in _IN_PLACE.split()}
_WRITES_TO_ARGUMENT = {"insort", "insort_left", "insort_right", "pack_into"}
_BUILTINS = (
    "len range abs min max sum sorted any all zip enumerate reversed map filter list tuple dict "
    "set frozenset int float str bool complex bytes repr format round divmod pow ord chr hash "
    "slice callable property staticmethod classmethod iter object bin hex oct ascii bytearray"
)
PURE = {getattr(builtins, n) for n in _BUILTINS.split()}
PURE |= {
    f for module in (math, operator, _bisect, _struct) for n, f in vars(module).items()
    if callable(f) and n not in _WRITES_TO_ARGUMENT
    and f"__{n.strip('_')}__" not in _IN_PLACE
}  # fmt: skip
PURE |= {v for v in vars(itertools).values() if type(v) is type}
PURE |= {
    partial, reduce, ref, object.__init__, object.__new__,
    tuple.__new__, object.__init_subclass__, types.SimpleNamespace, types.MethodType,
    types.MappingProxyType, type.__call__, deque, OrderedDict, defaultdict, super,
    BaseException.__init__, BaseException.__new__, Exception.__init__, sys.exc_info, id, issubclass,
    sys.getrecursionlimit, sys.intern, Tensor, types.CellType, proxy, dict.fromkeys,
    object.__repr__, object.__hash__, object.__eq__, object.__ne__, object.__str__,
    object.__format__, object.__dir__, object.__reduce_ex__, type.__subclasscheck__,
    list.__init__, dict.__init__, set.__init__, type.mro, sys.getsizeof,
}  # fmt: skip
# Methods that only read, and methods that write, by type.
_ALL = object()
_READS = {
    list: "copy count index __len__ __iter__ __contains__ __getitem__ __reversed__ __eq__ __add__ "
          "__mul__ __repr__",
    dict: "get copy items keys values __iter__ __len__ __eq__ __ne__ __getitem__ __contains__ "
          "__repr__ __or__ __reversed__",
    set: "copy union difference intersection issubset issuperset isdisjoint symmetric_difference "
         "__contains__ __len__ __iter__ __and__ __or__ __sub__ __eq__ __repr__",
    deque: "copy count index __len__ __iter__ __getitem__ __repr__ __contains__",
    types.FunctionType: "__get__", types.MethodType: "__get__", property: "__get__ __set__ getter "
    "setter deleter", tuple: _ALL, frozenset: _ALL, str: _ALL, bytes: _ALL, int: _ALL, float: _ALL,
    complex: _ALL, range: _ALL, slice: _ALL, BaseException: _ALL, types.GeneratorType: _ALL,
    types.MappingProxyType: _ALL, bool: _ALL,
    type({}.keys()): _ALL, type({}.values()): _ALL, type({}.items()): _ALL,
    _lathe.dtype: _ALL, _lathe.device: _ALL, _lathe.SymInt: _ALL, _lathe.SymFloat: _ALL,
    staticmethod: "__get__", classmethod: "__get__", _struct.Struct: _ALL,
    partial: "__get__ __call__", type: "mro __call__ __instancecheck__ __subclasscheck__ "
    "__subclasses__ __prepare__ __getattribute__ __repr__ __new__ __init__ __eq__ __hash__",
}  # fmt: skip
_WRITES = {
    list: "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ "
          "__imul__ __init__",
    set: "add discard remove pop clear update difference_update intersection_update "
         "symmetric_difference_update __ior__ __iand__ __isub__",
    dict: "update setdefault pop popitem clear __setitem__ __delitem__ __ior__ __init__ "
          "move_to_end",
    deque: "append appendleft extend extendleft pop popleft clear rotate insert remove reverse "
           "__setitem__ __delitem__ __iadd__",
}  # fmt: skip
_READS, _WRITES = (
    {k: v if v is _ALL else frozenset(v.split()) for k, v in t.items()} for t in (_READS, _WRITES)
)
_ADDS = "append extend __iadd__"  # of lists; whether a set takes anything is for it to say
_ADD_ONLY = frozenset(_ADDS.split())


def note_re():
    """Once it has been imported, re and its classes are listed, too."""
    re = sys.modules.get("re")
    if hasattr(re, "Match") and re.compile not in PURE:
        PURE.add(re.compile)
        _READS.update({re.Pattern: _ALL, re.Match: _ALL})


# Functions of the library that answer for some state: a row each.
_ANSWERS = frozenset({
    "get_flag", "flags", "_hooks", "_definitions",
})  # fmt: skip
# State of the library that a capture is guarded with as a whole, or that the trace records.
_MODES = frozenset({
    "is_grad_enabled", "get_default_dtype", "_autocast", "_set_grad_enabled", "_set_autocast",
    "set_default_dtype", "_tracing", "_recording", "_batching", "_site",
})  # fmt: skip
_REFUSED = {
    "manual_seed": "a seed set inside of a trace would be set at the capture only",
    "_set_random_state": "the state of random numbers would be set at the capture only",
    "_random_state": "the state of random numbers is read",
    "set_flag": "a flag would be set at the capture only",
    "set_printoptions": "print options would be set at the capture only",
    "_load_program": "a file would be read at the capture only",
    "use_table": "a table would be chosen at the capture only",
}
# Modules of Python's own whose functions in C depend on nothing but their arguments.
_PURE_MODULES = frozenset({
    "_struct", "math", "_operator", "itertools", "_functools", "_bisect", "_heapq", "cmath",
    "_statistics", "unicodedata", "_sre", "_json", "decimal", "_decimal", "_pickle", "binascii",
    "zlib", "_collections_abc", "_string",
})  # fmt: skip


# What these call on a float of the trace is its own method.
_TAKE_ANY = frozenset({
    "builtins", "math", "itertools", "_operator", "_functools", "_collections", "_bisect", "_heapq",
})  # fmt: skip


_KEEP_ANY = frozenset({"append", "appendleft", "insert", "setdefault", "get", "update"})
_SAID_TO_BE = {_lathe.SymFloat: float, _lathe.SymInt: int, Text: str}
_GOES_THROUGH = {zip, enumerate, reversed, list, tuple, iter, map, filter, sum, min, max, sorted}
_OF_INTEGERS = {round, pow, bin, hex, oct, chr, format}  # a size has none of their methods


def _base_in(table, kind):
    return next((b for b in kind.__mro__ if b in table), None)


class Calls:
    """What an Observer makes of calls."""

    def call(self, f):
        """What is to be called in the place of f."""
        if not self.on():
            return f
        kind = type(f)
        if kind is types.FunctionType:
            if (f.__module__ or "").partition(".")[0] == "numpy":
                return _Call(self, f)
            return self._function(f)
        if kind is types.MethodType:
            return self._method(f)
        if kind in _OPS:
            return partial(self._op, f)
        if kind is _lru_cache_wrapper:  # looked through: a tensor of the trace would stay in it
            return partial(self._remembered, f)
        if hasattr(kind, "_captures"):
            self.row_of(f)
            return f if f._captures is None else self.call(self.attribute(f, f._captures))
        if kind.__module__.startswith("numpy") or kind.__module__ in _PURE_MODULES:
            return _Call(self, f)
        if issubclass(kind, (*_METHODS, type, _NANOBIND, _BOUND, *GETTERS, partial, ref)):
            if f is locals:  # it is about who calls it
                return f
            return _Call(self, f)
        self.use(f)
        cls, found = self.look_up(kind, kind.__mro__, "__call__")
        if type(found) is not types.FunctionType:
            if self.row_of(f) is None and not self.opaque(kind):
                return f
            self.refuse(f"a {kind.__qualname__} is called, which only C knows")
        return f

    def look_through(self, f):
        """The parts of a method or partial from outside."""
        parts = {types.MethodType: ("__self__", "__func__"),
                 partial: ("func", "args", "keywords")}.get(type(f), ())  # fmt: skip
        found = self.known.get(id(f))
        for part in parts if found is not None else ():
            self.row("part", found[1], part, getattr(f, part))
        if type(f) is partial and found is not None:
            self.contents(f.args), self.contents(f.keywords)

    def _function(self, f):
        self.row_of(f)
        if f.__name__ == "callback" and f.__module__ == "lathe._callbacks":
            return self.callback
        self.swap(f)
        return f

    def _method(self, f):
        self.look_through(f)
        inner = f.__func__
        if self.writes_message(inner):
            return partial(self.logged, f.__self__)
        if type(inner) is types.FunctionType:
            later = self.put_off(f)
            if later is not None:
                return later
            self.swap(inner)
            return f
        return partial(self.call(inner), f.__self__)

    def _remembered(self, f, *args, **kwargs):
        """A call of what functools.lru_cache() has made."""
        begun = len(self.mutated), len(self.rebound), self.called
        result = self.call(f.__wrapped__)(*args, **kwargs)
        changed = any(id(o) in self.known for o in self.mutated[begun[0] :])
        if changed or begun[1:] != (len(self.rebound), self.called):
            self.refuse(f"{f.__name__}() remembers what it gave, and does more than that: it "
                        "changes Python state, or prints, at some calls only",
                        next="call it outside, or without functools.lru_cache()")  # fmt: skip
        return result

    # ── ops and other functions of the library ──────────────────────────────────────────────────

    def _op(self, f, *args, **kwargs):
        args = [self._operand(a) for a in args]
        kwargs = {k: self._operand(v) for k, v in kwargs.items()}
        return f(*args, **kwargs)

    def _operand(self, value):
        """An argument of an op: arrays are inputs, containers are read."""
        if is_array(type(value)):
            return self.as_input(value)
        if isinstance(value, (list, tuple)):
            if any(isinstance(v, Tensor) for v in value):  # some may be inputs of any size
                copy = self.with_inputs(value)
                if copy is not None:
                    return copy
            self.use(value)
            if any(is_array(type(v)) for v in value):
                return type(value)(map(self._operand, value)) if type(value) in (
                    list, tuple) else value  # fmt: skip
            return value
        if callable(value) and not isinstance(value, Tensor):
            return self._callback(value)
        return value.refuse() if type(value) is Item else self.use(value)

    def _callback(self, value):
        """A function that is handed to C, which calls it."""
        if value is type:
            return self.type_of
        if isinstance(value, type) or type(value) in (*_OPS, _NANOBIND):
            return value
        if isinstance(value, (types.FunctionType, types.MethodType)):
            called = self.call(value)
            return called if isinstance(called, (types.FunctionType, types.MethodType)) else called
        return self.call(value)

    def _of_library(self, f, name, args, kwargs):
        if name in _REFUSED:
            self.refuse(_REFUSED[name])
        if name in _MODES:
            self.mode_line = self.line()
        if name in _ANSWERS and not kwargs and all(map(is_plain, args)):
            return self.answer(f, args)
        data = [self._data(a) for a in args]
        if name == "from_numpy" and args and data[0] is args[0] and is_array(type(args[0])):
            self.refuse("from_numpy() shares the memory of an array that the traced code has made, "
                        "and what is written there later is not seen",
                        next="copy it: lathe.tensor(array)")  # fmt: skip
        kwargs = {k: self._data(v) for k, v in kwargs.items()}
        return f(*data, **kwargs)

    def _data(self, value):
        """An argument of a function that may make a tensor of any data."""
        kind = type(value)
        if is_array(kind):
            made = self.as_input(value)
            return StandIn(made) if made is not value else value
        self.let_c_convert(value)
        return self._operand(value)

    def answer(self, f, args):
        """The result of a function that answers for some state."""
        value = f(*args)
        row = self._add("answer", None, (f, tuple(args)), "anything", None, value)
        row.pinned = True
        if is_plain(value):
            row.test, row.wanted = "equal", value
        else:
            self._object(row, value, type(value))
        return value

    # ── C ───────────────────────────────────────────────────────────────────────────────────────

    def call_c(self, f, args, kwargs):
        note_re()
        kind = type(f)
        row = self.known.get(id(f))
        if (getattr(f, "__module__", None) or "").startswith("numpy"):
            return self.call_numpy(f, args, kwargs)
        if kind is _BOUND and type(f.__self__) is _lathe._Generator:
            self.refuse("a generator of its own would be drawn from while tracing only")
        if kind in (_NANOBIND, _BOUND):
            return self._of_library(f, getattr(f, "__name__", ""), args, kwargs)
        if kind is partial:
            return self._partial(f, args, kwargs)
        if issubclass(kind, ref):
            self.row_of(f)
            return self._reference(f)
        if kind in GETTERS:
            return getter(self, f, args)
        model = MODELS.get(f) if isinstance(f, (type, *_METHODS)) else None
        if model is not None:
            return model(self, f, args, kwargs)
        owner = None if isinstance(f, type) else getattr(f, "__self__", None)
        if isinstance(owner, types.ModuleType):
            owner = None
        elif owner is not None and row is not None:
            self.row("part", row[1], "__self__", owner)
        if kind in _DESCRIPTORS and args and f not in PURE:  # a method taken from its class
            owner, args, f = args[0], args[1:], f.__get__(args[0])
        return self._listed(f, owner, getattr(f, "__name__", ""), args, kwargs)

    def _listed(self, f, owner, name, args, kwargs):
        if name in ("__getattribute__", "__setattr__", "__delattr__") and owner is not None:
            return by_name(self, f, owner, name, args)
        if isinstance(owner, Tensor) and name in ("__repr__", "__str__"):
            return self.made_text(repr, owner)
        if isinstance(owner, Tensor) and name == "item" and not args:
            return item_of(self, f, owner)
        if isinstance(owner, Tensor):
            self._tensor_used(owner)
        if isinstance(owner, Tensor) or f is Tensor:
            return self._of_library(f, name, args, kwargs)
        text = self.method_of_str(owner, name, args, kwargs) if type(owner) is str else MISSING
        if text is not MISSING:
            return text
        if isinstance(f, type) and issubclass(f, Warning):  # of a text that the program makes
            return self._construct(f, args, kwargs)
        args, kwargs = self._arguments(f, name, args, kwargs)
        if f is next or name == "__next__":
            return self._next(f, owner if name == "__next__" else args[0], args, kwargs)
        if self._is_pure(f, owner, name):
            return f(*args, **kwargs)
        if isinstance(f, type):
            return self._construct(f, args, kwargs)
        if isinstance(owner, type):
            if name in ("fromkeys", "from_iterable", "fromhex", "from_bytes", "mro", "__new__",
                        "__prepare__", "__call__", "maketrans", "fromisoformat"):  # fmt: skip
                return f(*args, **kwargs)
        elif isinstance(owner, ContextVar) and name == "get":
            return self._context(f, owner, args)
        elif owner is not None:
            return self._bound(f, owner, name, args, kwargs)
        return self.refuse_call(f, owner, name)

    def _is_pure(self, f, owner, name):
        if f in PURE:
            return True
        module = getattr(f, "__module__", None)
        if isinstance(owner, type) or owner is None:
            return module in _PURE_MODULES and name not in _WRITES_TO_ARGUMENT
        return False

    def _arguments(self, f, name, args, kwargs):
        """Operands are observed; what C will call is observed code or listed itself."""
        if f in _GOES_THROUGH:
            args = [*map(self.iterated, args)]
        for value in (*(() if f in _GOES_THROUGH else args), *kwargs.values()):
            self.use(value)
        takes_any = getattr(f, "__module__", None) in _TAKE_ANY and f not in _OF_INTEGERS
        if name in _KEEP_ANY and type(getattr(f, "__self__", None)) in (list, deque, dict):
            takes_any = True
        args = [self._plain_argument(a, takes_any) for a in args]
        kwargs = {k: self._plain_argument(v, takes_any) for k, v in kwargs.items()}
        return args, kwargs

    def _plain_argument(self, value, takes_any=False):
        if type(value) is _lathe.SymFloat and not takes_any:
            return value.__float__()  # C takes the number: the program holds for it only
        if type(value) is _lathe.SymInt and not takes_any:
            return int(value)
        if type(value) in (list, tuple, dict) and not takes_any and self._holds_symbols(value):
            if type(value) is dict:
                return {k: self._plain_argument(v) for k, v in value.items()}
            return type(value)(map(self._plain_argument, value))
        if value is type:
            return self.type_of
        if type(value) is Text:
            return value.settled()
        if isinstance(value, (types.FunctionType, types.MethodType, *_METHODS, *GETTERS, _NANOBIND,
                              *_OPS, partial, _lru_cache_wrapper)):  # fmt: skip
            return self._callback(value)
        if isinstance(value, Tensor):
            return self._tensor_used(value)
        return value

    def _holds_symbols(self, value):
        """Are there floats or sizes of the trace in a container that C is given?"""
        items = value.values() if type(value) is dict else value
        return any(
            type(v) in (_lathe.SymInt, _lathe.SymFloat)
            or type(v) in (list, tuple, dict)
            and self._holds_symbols(v)
            for v in items
        )

    def _next(self, f, iterator, args, kwargs):
        kind = type(iterator)
        row = self.row_of(iterator)
        if row is not None and type(in_mro(kind.__mro__, "__next__")[1]) is not types.FunctionType:
            self.refuse(f"an iterator that was there before (a {kind.__name__}) is moved on",
                        next="make the iterator inside of the traced function")  # fmt: skip
        if self.steps(kind):
            self.mutated.append(iterator)
        return f(*args, **kwargs)

    def _construct(self, cls, args, kwargs):
        if cls is type and len(args) == 1:
            return self.type_of(args[0])
        if self.opaque(cls) and not issubclass(cls, (BaseException, *BOXES)):
            return self.refuse_call(cls, None, cls.__name__)
        self.prepare(cls), self.prepare(type(cls))
        self.look_up(cls, cls.__mro__, "__init__")
        self.look_up(cls, cls.__mro__, "__new__")
        return cls(*args, **kwargs)

    def type_of(self, value):
        if type(value) is Item:
            return value.kind
        return _SAID_TO_BE.get(type(value), type(value))

    def _context(self, f, variable, args):
        value = f(*args)
        if is_plain(value):
            self.answer(f, args)
            return value
        row = self._add("answer", None, (f, tuple(args)), "anything", None, value)
        row.pinned = True
        self._object(row, value, type(value))
        return value

    def _bound(self, f, owner, name, args, kwargs):
        kind = type(owner)
        base = _base_in(_READS, kind)
        if is_array(kind) or is_scalar(kind):
            return self.method_of_numpy(f, owner, name, args, kwargs)
        if base is dict and name in ("get", "__getitem__", "__contains__", "setdefault", "pop"):
            made = self._dict_method(f, owner, name, args, kwargs)
            if made is not MISSING:
                return made
        if kind is dict and name == "update":
            self._note_updated(owner, args, kwargs)
            return self.received(f(*args, **kwargs))
        if base is types.MappingProxyType and name in ("get", "__getitem__", "__contains__"):
            made = self._view_method(f, owner, name, args, kwargs)
            if made is not MISSING:
                return made
        for table, act in ((_WRITES, self._written), (_READS, self._read)):
            base = _base_in(table, kind)
            if base is not None and (table[base] is _ALL or name in table[base]):
                return act(f, owner, name, args, kwargs)
        if kind.__module__ in _PURE_MODULES or self.is_lock_of_logging(owner):
            return f(*args, **kwargs)
        return self.refuse_call(f, owner, name)

    def reads_only(self, owner, name):
        """Is it the name of a method of C's that writes nothing?"""
        note_re()
        base = _base_in(_READS, type(owner))
        return base is not None and (_READS[base] is _ALL or name in _READS[base])

    def _read(self, f, owner, name, args, kwargs):
        if isinstance(owner, str) and name in ("format", "format_map", "join"):
            for value in (*args, *kwargs.values()):
                self.use(value)
        if name in ("items", "values") and type(owner) is dict:
            copy = self.with_inputs(owner)
            if copy is not None:
                return getattr(copy, name)()
        self.use(owner)
        if name == "join" and hasattr(type(args[0]), "__next__"):
            args = [list(args[0])]
            text = self.method_of_str(owner, name, args, kwargs)
            if text is not MISSING:
                return text
        if name in ("__eq__", "__ne__", "index", "count", "__contains__"):
            self.contents(owner, deep=True) if isinstance(owner, BOXES) else None
        value = f(*args, **kwargs)
        return self.received(value)

    def _written(self, f, owner, name, args, kwargs):
        self.write(owner, add_only=name in _ADD_ONLY and isinstance(owner, list))
        if kwargs.get("key") is not None:  # of list.sort
            kwargs = {**kwargs, "key": self._callback(kwargs["key"])}
        return self.received(f(*args, **kwargs))

    def _dict_method(self, f, owner, name, args, kwargs):
        """Methods that look at one key; MISSING: this is not one."""
        if not args or kwargs:
            return MISSING
        key = as_key(args[0])
        args = (key, *args[1:])
        row = self.key_row(owner, key)
        there = dict.__contains__(owner, key)
        if name == "__contains__":
            return there
        if name == "get" or name == "__getitem__":
            return self.given(row, self.received(f(*args)))
        if name == "setdefault" and there:
            return self.given(row, self.received(dict.__getitem__(owner, key)))
        self.write(owner, key)
        return self.given(row, self.received(f(*args)))

    def _note_updated(self, owner, args, kwargs):
        """Before dict.update(): so many stores of one key where the code has made what is given, so
        that numbers which it counts in others stay inputs."""
        made = not args or type(args[0]) is dict and self.row_of(args[0]) is None
        keys = [*(args[0] if args else ()), *kwargs] if made else ()
        if not made or not all(map(is_plain, keys)):
            self.write(owner)
            return
        for key in keys:
            self.write(owner, key)

    def _view_method(self, f, owner, name, args, kwargs):
        """The same of the __dict__ of a class."""
        cls = self.class_shown(owner)
        if cls is None or not args or kwargs or type(args[0]) is not str:
            return MISSING
        value = self.read_shown(cls, args[0])
        return f(*args) if value is MISSING or name == "__contains__" else value

    def _partial(self, f, args, kwargs):
        self.row_of(f)
        self.look_through(f)
        given = [self.received(a) for a in f.args]
        named = {k: self.received(v) for k, v in f.keywords.items()}
        return self.call(f.func)(*given, *args, **{**named, **kwargs})

    def _reference(self, f):
        row, value = self.row_of(f), f()
        if row is not None:
            self.row("reference", row, None, MISSING if value is None else value)
        return value

    def opaque(self, kind):
        """Does a class written in C keep state that nothing here knows?"""
        if id(kind) not in self._opaque:
            self._opaque[id(kind)] = kind, self._is_opaque(kind)
        return self._opaque[id(kind)][1]

    def _is_opaque(self, kind):
        note_re()
        for cls in kind.__mro__:
            if cls in _OPEN or cls in PURE or issubclass(cls, (BaseException, Tensor)):
                continue
            if cls.__flags__ & HEAP and not _has_c_methods(cls):
                continue
            if cls in _READS or cls in _WRITES or is_array(cls):
                continue
            if cls.__module__ in ("numpy", "builtins", "_lathe", "lathe", *_PURE_MODULES):
                continue
            return True
        return False

    def steps(self, kind):
        """Is it an iterator whose place only C knows?"""
        step = in_mro(kind.__mro__, "__next__")[1]
        return step is not MISSING and type(step) is not types.FunctionType

    def refuse_call(self, f, owner, name):
        module = getattr(f, "__module__", None) or type(owner).__module__
        where = f"{type(owner).__name__}.{name}" if owner is not None else f"{module}.{name}"
        self.refuse(
            f"{where} may answer anew at each call, or has effects, and would be called at capture "
            "only",
            next="call it outside and pass the value in, or use lathe's own ops",
        )


_OPEN = {object, type, types.ModuleType, types.SimpleNamespace}


def _has_c_methods(cls):
    return any(
        isinstance(v, _METHODS) and getattr(v, "__objclass__", None) is cls
        for v in vars(cls).values()
    )


class _Call:
    """A call of something in C, by an observer."""

    __slots__ = ("_observer", "_f")

    def __init__(self, observer, f):
        self._observer, self._f = observer, f

    def __call__(self, *args, **kwargs):
        if not self._observer.on():
            return self._f(*args, **kwargs)
        return self._observer.made(self._observer.call_c(self._f, args, kwargs))
