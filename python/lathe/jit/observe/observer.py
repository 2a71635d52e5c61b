"""The hooks of observed code.

While a capture runs, code calls these for each thing that it does: `attribute` and `item` read,
`outside` is a global or a closure's variable, `use` and `operate` are what operators do with
values, `store` and `augment` write, `call` gives what is to be called, `enter` begins a function.
Outside of the capture, and on other threads, they do what the code says and no more.
"""

import gc
import os
import sys
import types
from _collections import OrderedDict, _tuplegetter, defaultdict
from _functools import partial
from _weakref import ref

from ... import _errors, _lathe, ops
from ..._capturing import PACKAGE, STANDARD
from ..._lathe import Tensor
from ..arrays import digest
from ..trace import same_grad
from . import sources
from .callbacks import Callbacks
from .calls import Calls
from .class_dicts import ClassDicts
from .core import Core
from .effects import Effects
from .functions import Functions
from .items import Item
from .of_logging import OfLogging
from .of_numpy import OfNumpy, as_operand
from .operators import OPERATE
from .patterns import Patterns
from .recording import BOXES, HEAP, MISSING, Restart, base_of, dict_of, in_mro
from .rows import IDENTITY, PLAIN, is_array, is_plain
from .shown import Shown
from .texts import Text, Texts, as_key

_READERS_OF_CODE = (
    "ast",
    "linecache",
    "inspect",
    "dis",
    "tokenize",
    "enum",
)  # of the observer's own
_SYMBOLIC = (_lathe.SymInt, _lathe.SymFloat)
_VIEWS = (types.MappingProxyType, *(type(v) for v in ({}.keys(), {}.values(), {}.items())))
_BASES = frozenset({"__mro__", "__bases__"})  # tuples that a class has, and C only keeps
_OF_GRADIENTS = frozenset({"is_leaf", "grad_fn", "_version", "retains_grad"})
# Classes in C whose attributes are looked up as usual.
_USUAL = {
    object, type, types.ModuleType, types.SimpleNamespace, int, float, str, bytes, complex, bool,
    types.FunctionType, types.MethodType, ref, partial, BaseException, *BOXES,
    defaultdict, OrderedDict, Tensor, property, staticmethod, classmethod, super,
}  # fmt: skip
_C_PARTS = (types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
            types.MemberDescriptorType, types.ClassMethodDescriptorType)  # fmt: skip


class Observer(
    Core, Functions, Calls, ClassDicts, Patterns, Shown, OfLogging, OfNumpy, Effects, Texts,
    Callbacks,
):  # fmt: skip
    """One capture of code that has hooks."""

    def __init__(self, varying=frozenset(), concrete=(), inputs=True):
        super().__init__(varying, concrete, inputs)
        self._opaque = {}  # by class: what opaque() said
        numpy = sys.modules.get("numpy")
        if numpy is not None:  # what it reads of arrays is noted where they are handed to it
            self.net.trust(os.path.dirname(numpy.__file__) + os.sep, True)
        self.net.trust_name("<script>")  # what stands for a line of a script in tracebacks
        for name in _READERS_OF_CODE:
            self.net.trust(f"{STANDARD}{name}.py")
        for name in ("importlib", "codecs", "posixpath", "genericpath", "os", "stat"):
            self.net.trust(f"<frozen {name}")
        for name in ("library", "_capturing"):  # they hand what they call to observed()
            self.net.trust(f"{PACKAGE}{name}.py")
        # C makes errors with one; the other finds definitions, which do not change.
        for function in (_errors._init, ops.__getattr__):
            for code in (function.__code__, *sources.inside(function.__code__)):
                self.net.made(code)
        self.start_effects()
        self.start_callbacks()
        self.start_numpy()
        self.start_logging()
        self.start_class_dicts()
        self.start_shown()

    # ── reads ───────────────────────────────────────────────────────────────────────────────────

    def use(self, value):
        """An operation of the language uses a value, whatever it is."""
        kind = type(value)
        if kind in PLAIN or kind in _SYMBOLIC or issubclass(kind, IDENTITY) or not self.on():
            return self.identified(value)
        if issubclass(kind, Tensor):
            self.prepare(kind)
            return self._tensor_used(value)
        row = self.row_of(value)
        if issubclass(kind, BOXES):
            self.contents(value)
        self.prepare(kind)
        if row is None:
            if (cls := self.class_shown(value)) is not None:
                self.read_all_shown(cls)
            elif self.steps(kind):
                self.mutated.append(value)
            return value
        if self.read_elements(value, row):
            return value
        if kind in _VIEWS:
            self._under_view(value, row)
        elif (self.steps(kind) or self.opaque(kind)) and not self.is_lock_of_logging(value):
            self.refuse(f"{_shown_by_name(value)} is used, whose state only C knows")
        return value

    def _tensor_used(self, value):
        row = self.row_of(value)
        if row is not None:
            other = self.stand_ins.get(row.n)
            if other is not None and row.test == "tensor":
                return other
            _lathe._touch(value)
        return value

    def outside(self, value, name, function):
        """A name that may be a global or a free variable: numbers among them can be inputs."""
        if type(value) not in (float, int) or not self.on():
            return value
        code = sys._getframe(1).f_code
        row = owner = None
        if function is not None and name in self._cells.get(id(function), ()):
            row = self._cells[id(function)][name]
            owner = (id(row.parent.value), None)
        elif (
            name not in code.co_varnames
            and name not in code.co_cellvars
            and (name not in code.co_freevars)
        ):
            space = sys._getframe(1).f_globals
            row = self.read_key(space, name) if name in space else None
            owner = (id(space), name)
        return self.of_variable(row, owner, value)

    def of_variable(self, row, owner, value):
        """What code gets for what a variable holds. owner: (id of a cell, None), or (id of a dict
        of globals, name)."""
        if row is None or row.value is not value or owner in self.placed:
            return value  # the code has put it there, or the row's number stands there itself
        return self.given(row, value)

    def operate(self, a, b, op):
        """A binary operator."""
        if self.on():
            if op in ("In", "NotIn"):
                b = self.behind(b)
            if op in ("In", "NotIn") and self.looks_for(a, b):
                return OPERATE[op](as_key(a), b)
            a, b = self.operands(a, b, op)
            if op == "Mod" and (text := self.modulo(a, b)) is not MISSING:
                return text
        return OPERATE[op](a, b)

    def looks_for(self, key, container):
        """The read of `key in container`, where it is one key of a dict. False: it is more."""
        if type(container) is not dict and self.class_shown(container) is None:
            return False
        key = as_key(key)
        if type(container) is dict and is_plain(key):
            self.key_row(container, key)
        elif type(key) is str:
            self.read_shown(self.class_shown(container), key)
        else:
            return False
        return True

    def operands(self, a, b, op):
        a, b = as_operand(a, b), as_operand(b, a)
        x, y = isinstance(a, Tensor), isinstance(b, Tensor)
        if not (x or y) and "numpy" in (type(a).__module__, type(b).__module__):
            self.beside_numpy(a, b)
        a = self.as_input(a) if y else self._used(a, op)
        b = self.as_input(b) if x else self._used(b, op)
        return a, b

    def _used(self, value, op):
        self.use(value)
        if op in ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "In", "NotIn") and (
            isinstance(value, BOXES)
        ):
            self.contents(value, deep=True)
        return self._tensor_used(value) if isinstance(value, Tensor) else value

    def as_input(self, value):
        """What an op is given: an array from outside is an input of the program."""
        if is_array(type(value)):
            row = self.row_of(value)
            if row is not None and row.n in self.stand_ins:
                return self.stand_ins[row.n]
        return self.use(value)

    def item(self, container, key):
        """container[key]"""
        if not self.on():
            return container[key]
        container = self.behind(container)
        kind = type(container)
        if not issubclass(kind, Tensor):
            key = as_key(key)
        if type(key) not in PLAIN:
            key = self.as_input(key) if issubclass(kind, Tensor) else self.use(key)
        if issubclass(kind, dict):
            return self._dict_item(container, key, kind)
        if issubclass(kind, type):
            self.prepare(type(container)), self.prepare(container)
            return container[key]
        if type(key) is str and (cls := self.class_shown(container)) is not None:
            value = self.read_shown(cls, key)
            return container[key] if value is MISSING else value
        if issubclass(kind, (list, tuple)) and type(key) is int and kind in (list, tuple):
            return self._sequence_item(container, key)
        if kind in _SYMBOLIC or kind in PLAIN:
            return container[key]
        return self.use(container)[key]

    def behind(self, obj):
        """The object that a captured one is, where code looks into it or writes to it."""
        inner = getattr(type(obj), "_stands_for", None)
        return obj if inner is None else self.attribute(obj, inner)

    def _sequence_item(self, container, key):
        row = self.row_of(container)
        value = container[key]
        if row is None or id(container) in self.before:
            self.use(container)
            return self.received(value)
        at = key if key >= 0 else key + len(container)
        self._once_sized(row, container)
        return self.given(self.row("item", row, at, value), self.received(value))

    def _once_sized(self, row, container):
        if ("sized", row.n) not in self.whole and row.test != "equal":
            self.whole.add(("sized", row.n))
            self._also(row, "length", (type(container), len(container)))

    def received(self, value):
        """What code gets out of a container."""
        if isinstance(value, Tensor):
            row = self.tensors.get(_lathe._identity(value))
            other = row and self.stand_ins.get(row.n)
            return value if other is None or row.test == "array" else other
        return value

    def _dict_item(self, container, key, kind):
        if kind is not dict:
            self.prepare(kind)
            if "__getitem__" in _own_names(kind):
                return container[key]
            if not dict.__contains__(container, key):
                self.key_row(container, key)
                if kind.__name__ == "defaultdict":
                    self.let_c_call(self.read_attribute(container, "default_factory"))
                    self.write(container)
                return self.received(container[key])
        row = self.key_row(container, key)
        value = container[key]
        return self.given(row, self.received(value))

    def key_row(self, container, key):
        """The row of one key of a dict from outside; None: the capture made or wrote it."""
        plain = is_plain(key) or issubclass(type(key), IDENTITY)
        if plain:
            return self.read_key(container, self.identified(key))
        row = self.row_of(container)
        at = self.row_of(key)
        if row is None or (id(container), ("object", id(key))) in self.written:
            return None
        if at is None or self._hashes(type(key)):
            self.contents(container)
            return None
        old = self.before.get(id(container))
        value = dict.get(container, key, MISSING)
        if old is not None and old[1].get(key, MISSING) is not value:
            return None
        return self.row("key", row, at, value)

    @staticmethod
    def _hashes(kind):
        """Does a class say itself what equals what? Then a key is more than its identity."""
        found = in_mro(kind.__mro__, "__hash__")[0]
        return found is not object and not issubclass(kind, Tensor)

    def attribute(self, obj, name):
        """obj.name"""
        if not self.on():
            return getattr(obj, name)
        return self.received(self.read_attribute(obj, name))

    def read_attribute(self, obj, name):
        kind = type(obj)
        if name == "__class__" and kind in (Text, Item, *_SYMBOLIC):
            return self.type_of(obj)
        if kind is Text:
            return getattr(obj.settled(), name)
        if kind is _lathe.SymInt and not hasattr(kind, name):
            obj = int(obj)  # the program holds for this size only
        if kind in PLAIN or kind in _SYMBOLIC or is_plain(obj):
            return getattr(obj, name)
        if issubclass(kind, Tensor):
            return self._of_tensor(obj, name, kind)
        if kind is super:
            mro = obj.__self_class__.__mro__
            rest = mro[mro.index(obj.__thisclass__) + 1 :]
            self.look_up(obj.__self_class__, rest, name)
            return getattr(obj, name)
        if issubclass(kind, type):
            return self._of_class_object(obj, kind, name)
        if issubclass(kind, types.ModuleType):
            return self._of_module(obj, name)
        if hasattr(kind, "_stands_for") and not obj._is_own(name):
            return self.read_attribute(self.behind(obj), name)
        self.prepare(kind)
        how = in_mro(kind.__mro__, "__getattribute__")
        if how[0] in _USUAL or how[0].__module__ == "builtins":
            return self._usual(obj, name, kind)
        if type(how[1]) is types.FunctionType:
            return getattr(obj, name)  # observed code asks in its turn
        if is_array(kind):
            return self._of_array(obj, name)
        if issubclass(kind, IDENTITY):
            return getattr(obj, name)
        found = in_mro(kind.__mro__, name)[1]
        if isinstance(found, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return getattr(obj, name)
        if self.row_of(obj) is None:
            return getattr(obj, name)
        return self.refuse(f"{kind.__name__}.{name} is read, which only C knows")

    def _of_module(self, module, name):
        space = dict_of(module)
        if self.has_lazily(module, name):
            file = getattr(module, "__file__", None) or ""
            if file.startswith(PACKAGE):
                return self.read_of_library(module, name)
            self.constant(module)
            self.read_key(space, name, owner=module)
            return self.call(self.attribute(module, "__getattr__"))(name)
        self.constant(module)
        row = self.read_key(space, name, owner=module)
        if name == "__dict__":
            return space
        return self.given(row, getattr(module, name))

    def _of_class_object(self, obj, kind, name):
        self.prepare(obj), self.prepare(kind)
        cls, found = self.look_up(obj, obj.__mro__, name)
        if kind is not type:
            self.look_up(kind, kind.__mro__, name)
        value = getattr(obj, name)
        if name == "__dict__":
            return self.note_view(obj, value)
        if name in _BASES and type(value) is tuple and self.was_there(obj):
            self.row("part", self.constant(obj), name, value)
        return self._of_class_itself(cls, name, value) if value is found else value

    def _of_class_itself(self, cls, name, value):
        """What the code gets for what a class has: a number may be an input."""
        known = self.known.get(id(cls))
        if known is None or not cls.__flags__ & HEAP or (id(cls), name) in self.written:
            return value
        return self.given(self.index.get(("class", known[1].n, str, name)), value)

    def _usual(self, obj, name, kind):
        """object.__getattribute__, one read after the other."""
        cls, found = self.look_up(kind, kind.__mro__, name)
        sort = type(found)
        space = dict_of(obj)
        if sort is property:
            if type(found.fget) is types.FunctionType:
                return getattr(obj, name)
            return self.call(found.fget)(obj)
        if name == "__dict__" and space is not None:
            self.dict_row(obj, space)
            return space
        if sort in (types.MemberDescriptorType, types.GetSetDescriptorType):
            return self._slot(obj, name, found, sort)
        if sort is _tuplegetter and issubclass(kind, tuple):
            return self._sequence_item(obj, found.__reduce__()[1][0])
        cached = _is_cached_property(sort)
        if cached and name not in (space or ()):
            return self._cached(obj, name, found)
        if found is not MISSING and sort.__flags__ & HEAP and not cached:
            self.prepare(sort)
            self.constant(found)
            if hasattr(sort, "__set__"):
                return getattr(obj, name)
        if space is not None:
            row = self.read_key(space, name, owner=obj)
            if name in space:
                return self.given(row, getattr(obj, name))
        if found is MISSING:
            self.look_up(kind, kind.__mro__, "__getattr__")
        value = getattr(obj, name)
        return self._of_class_itself(cls, name, value) if value is found else value

    def _slot(self, obj, name, member, sort):
        if name == "__code__" and id(obj) in self._originals:  # it has other code for a while
            self.row("part", self.row_of(obj), name, self.code_of(obj))
            return self.code_of(obj)
        value = getattr(obj, name, MISSING)
        row = self.row_of(obj)
        if row is None or name == "__class__" or (id(obj), name) in self.written:
            return getattr(obj, name)
        if sort is types.MemberDescriptorType:
            row = self.row("member", row, member, value)
        else:
            row = self.row("part", row, name, value)
        return self.given(row, value) if value is not MISSING else getattr(obj, name)

    def _cached(self, obj, name, found):
        """functools.cached_property, whose lock only C knows."""
        space = dict_of(obj)
        self.read_key(space, name, owner=obj)
        value = self.call(found.func)(obj)
        self.store(obj, name, direct=True)
        space[name] = value
        return value

    def _of_tensor(self, obj, name, kind):
        self.look_up(kind, kind.__mro__, name)
        row = self.row_of(obj)
        space = dict_of(obj)
        if space is not None:
            found = self.read_key(space, name, owner=obj)
            if name in space:
                return self.given(found, getattr(obj, name))
        if row is None:
            return getattr(obj, name)
        if name == "grad":
            return self._gradient(row, obj)
        if name == "requires_grad_":
            self.may_turn(row, obj)
        if name == "storage_offset" and isinstance(row.value, Tensor):
            value = row.value.storage_offset()
            self.row("of_value", row, kind.storage_offset, value)
            return lambda: value
        if name in _OF_GRADIENTS and isinstance(row.value, Tensor):
            value = getattr(row.value, name)
            self.row("part", row, name, value)
            return value
        if row.n not in self.stand_ins and name in _SHAPES:
            _lathe._touch(obj)
        return getattr(obj, name)

    def _gradient(self, row, obj):
        grad = obj.grad
        if (row.n, "grad") not in self.written:
            before = self.leaves.get(row, grad)
            self.gradient_row(row, before)
            if not same_grad(grad, before):  # backward() has added to it
                self.written.add((row.n, "grad"))
        return grad

    def _of_array(self, obj, name):
        row = self.row_of(obj)
        value = getattr(obj, name)
        if row is None:
            return value
        if is_plain(value) or name == "dtype":
            return value  # said by the row itself, or plain
        if not callable(value):
            self.read_elements(obj, row)
        return value

    def read_elements(self, value, row):
        """What an array holds becomes part of the program."""
        kind = type(value)
        buffer = in_mro(kind.__mro__, "__buffer__")[1]  # classes in C have one since Python 3.12
        own = buffer is not MISSING and type(buffer) is not types.WrapperDescriptorType
        if issubclass(kind, (str, bytes)) or own:
            return False
        with self.resting():
            now = digest(value)
        if now is None:
            return False
        self.row("of_value", row, digest, now)
        return True

    def _under_view(self, value, row):
        """A view or proxy of a dict: what it shows is the dict."""
        below = self.row("of_value", row, gc.get_referents, gc.get_referents(value))
        space = below.value[0]
        self.row("item", below, 0, space)
        self.contents(space)

    slice_of = staticmethod(slice)


_SHAPES = frozenset({"shape", "dtype", "device", "ndim", "itemsize", "nbytes", "requires_grad"})


def _shown_by_name(value):
    """RandomState.rand, of what only C can call; a Condition, of other objects."""
    kind = type(value).__name__
    name = getattr(value, "__qualname__", None) if kind.endswith("_or_method") else None
    return name if type(name) is str else f"a {kind}"


def _is_cached_property(kind):
    functools = sys.modules.get("functools")
    return functools is not None and kind is functools.cached_property


def _own_names(kind):
    """The names that Python classes among the bases of a container have."""
    return {n for c in kind.__mro__ if c.__flags__ & HEAP for n in vars(c)}


__all__ = ["Observer", "Restart", "base_of"]
