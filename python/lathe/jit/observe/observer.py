"""The hooks of observed code.

While a capture runs, code calls these for each thing that it does: `attribute` and `item` read,
`outside` is a global or a closure's variable, `use` and `operate` are what operators do with
values, `store` and `augment` write, `call` gives what is to be called, `enter` begins a function.
Outside of the capture, and on other threads, they do what the code says and no more.
"""

import functools
import gc
import os
import sys
import types
import weakref
from _collections import OrderedDict, _tuplegetter, defaultdict
from _thread import RLock, get_ident

from ... import _errors, _lathe, ops
from ..._capturing import observers
from ..._lathe import Tensor
from ..arrays import digest, is_array
from ..trace import same_grad
from . import rewrite
from .callbacks import Callbacks
from .calls import Calls
from .effects import Effects
from .files import CAPTURE, PACKAGE, STANDARD, is_standard
from .functions import Functions
from .items import Item
from .of_numpy import OfNumpy, as_operand
from .operators import OPERATE
from .recording import (
    BOXES,
    HEAP,
    MISSING,
    Recording,
    Restart,
    base_of,
    dict_of,
    in_mro,
)  # fmt: skip
from .rows import IDENTITY, PLAIN, is_plain
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
_OF_GRADIENTS = frozenset({"is_leaf", "grad_fn", "_version", "retains_grad"})
# Classes in C whose attributes are looked up as usual.
_USUAL = {
    object, type, types.ModuleType, types.SimpleNamespace, int, float, str, bytes, complex, bool,
    types.FunctionType, types.MethodType, weakref.ref, functools.partial, BaseException, *BOXES,
    defaultdict, OrderedDict, Tensor, property, staticmethod, classmethod, super,
}  # fmt: skip
_C_PARTS = (types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType,
            types.MemberDescriptorType, types.ClassMethodDescriptorType)  # fmt: skip


class Observer(Recording, Functions, Calls, OfNumpy, Effects, Texts, Callbacks):
    """One capture. begin() and end() enclose the run of the code. While functions have other code
    than their own, no other thread may begin: who captures holds `lock`."""

    lock = RLock()
    _live = False  # also when all else is forgotten: functions that outlive the capture ask

    def __init__(self, varying=frozenset(), concrete=(), inputs=True):
        super().__init__(varying, set(concrete), inputs)
        self.traced, self.given_to = None, ((), {})
        self.mode_line = None  # where a mode was set last
        self.where = "an unknown line"  # of the traced function
        self.refused = None  # the error of the first refusal: code may swallow it
        self.again = False  # a Restart was raised
        self.recursive = set()  # syntax trees of functions that a script records (script_recursion)
        self.net = _lathe._Net(CAPTURE)
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
            for code in (function.__code__, *rewrite.inside(function.__code__)):
                self.net.made(code)
        self._thread, self._live, self._busy = get_ident(), False, 0
        self._entered, self._prepared, self._swapped = set(), set(), []
        self._originals = {}  # by id of a function: its own code
        self._waiting = {}  # by id of one that is observed once it is called: its class
        self._codes = []  # kept alive, since the net knows them by address
        self._cells = {}  # of a function: by name of a free variable, its row
        self.start_effects()
        self.start_callbacks()
        self.start_numpy()

    # ── around a capture ────────────────────────────────────────────────────────────────────────

    def begin(self):
        self._live = True
        self._outer = observers.get(self._thread)
        observers[self._thread] = self
        self._profile = sys.getprofile()
        self._collects = gc.isenabled()
        gc.disable()  # a collection calls finalizers and callbacks, which are no part of the code
        self.net.begin()

    def end(self):
        """Puts all code back. Nothing is observed from now on."""
        self.net.end()
        if self._collects:
            gc.enable()
        if self._profile is not None:
            sys.setprofile(self._profile)
        self._live = False
        observers.pop(self._thread, None)
        if self._outer is not None:
            observers[self._thread] = self._outer
        for function, code in reversed(self._swapped):
            function.__code__ = code
        self.ages = None

    @staticmethod
    def active():
        """That of the capture under way on this thread."""
        return observers[get_ident()]

    def code_of(self, function):
        """A function's own code, also while it has another."""
        return self._originals.get(id(function), function.__code__)

    def cell_row(self, function, name):
        return self._cells.get(id(function), {}).get(name)

    def on(self):
        return self._live and not self._busy and get_ident() == self._thread

    def resting(self):
        """While it is entered, code runs as it is: the observer's own, or what may be trusted."""
        return _Rest(self)

    def refuse(self, what, next=None, got=None):
        """Raises a TraceError that names the user's line; code that swallows it does not help."""
        if self.refused is None:
            self.refused = _lathe.TraceError(
                f"trace: {what}\n  got:      {got or 'a read that no later call could repeat'}\n"
                f"  expected: code whose reads and writes can be seen and repeated\n"
                f"  at:       {self.line()}\n"
                f"  next:     {next or 'do it outside of the traced function'}"
            )
        raise self.refused

    def line(self):
        """Where the user's code is: "file:line"."""
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if code.co_name == "<script>" or self.net.has(code):
                file = code.co_filename
                if not file.startswith(PACKAGE) and not is_standard(file):
                    return f"{file}:{frame.f_lineno}"
            frame = frame.f_back
        return self.where

    def check_net(self):
        """Refuses what the net has seen."""
        self.note_unseen()
        if self.refused is not None:
            raise self.refused

    def note_unseen(self):
        code = self.net.unseen
        if code is not None and self.refused is None:
            self.refused = _lathe.TraceError(
                f"trace: Python code runs whose reads cannot be seen: there is no source that says "
                f"what it does\n  got:      {code.co_name}()\n"
                f"  expected: functions whose source can be read\n"
                f"  at:       {code.co_filename}:{code.co_firstlineno}\n"
                "  next:     keep it in a file, or call it outside of the traced function"
            )

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
            if self.steps(kind):
                self.mutated.append(value)
            return value
        if self.read_elements(value, row):
            return value
        if kind in _VIEWS:
            self._under_view(value, row)
        elif self.steps(kind) or self.opaque(kind):
            self.refuse(f"a {kind.__name__} is used, whose state only C knows")
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
            a, b = self.operands(a, b, op)
            if op == "Mod" and (text := self.modulo(a, b)) is not MISSING:
                return text
        return OPERATE[op](a, b)

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

    def match(self, subject, *named):
        """The subject of a match statement: patterns may look at any attribute. named: what they
        compare it with."""
        if self.on():
            self.use(subject)
            for name in list(dict_of(subject) or ()):
                self.attribute(subject, name)
        return subject

    def match_classes(self, subject, *named):
        """The same where a pattern asks for a class, in C: for numbers themselves."""
        return self.match(self._of_their_classes(subject) if self.on() else subject, *named)

    def _of_their_classes(self, value):
        kind = type(value)
        if kind in (Text, Item, *_SYMBOLIC):
            return self.type_of(value)(value)
        if kind not in (list, tuple) or not any(
            type(v) in (list, tuple, Text, Item, *_SYMBOLIC) for v in value
        ):
            return value
        return kind(map(self._of_their_classes, value))

    def item(self, container, key):
        """container[key]"""
        if not self.on():
            return container[key]
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
        if issubclass(kind, (list, tuple)) and type(key) is int and kind in (list, tuple):
            return self._sequence_item(container, key)
        if kind in _SYMBOLIC or kind in PLAIN:
            return container[key]
        return self.use(container)[key]

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
        self.constant(module)
        if name not in space and type(module).__dict__.get(name) is None and "__getattr__" in space:
            file = getattr(module, "__file__", None) or ""
            if file.startswith(PACKAGE):
                with self.resting():  # the library's own: it finds or imports what it will keep
                    value = getattr(module, name)
                if name in space:
                    self.read_key(space, name, owner=module)
                return value
            self.read_key(space, name, owner=module)
            return self.call(self.attribute(module, "__getattr__"))(name)
        row = self.read_key(space, name, owner=module)
        if name == "__dict__":
            return space
        return self.given(row, getattr(module, name))

    def _of_class_object(self, obj, kind, name):
        self.prepare(obj), self.prepare(kind)
        cls, found = self.look_up(obj, obj.__mro__, name)
        if kind is not type:
            self.look_up(kind, kind.__mro__, name)
        if name == "__dict__" and obj.__flags__ & HEAP:
            self.refuse(f"the __dict__ of the class {obj.__name__} is read",
                        next="read the attributes that it has by name")  # fmt: skip
        value = getattr(obj, name)
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
        if sort is functools.cached_property and name not in (space or ()):
            return self._cached(obj, name, found)
        if found is not MISSING and sort.__flags__ & HEAP and sort is not functools.cached_property:
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
            self.row("grad", row, None, MISSING if before is None else before)
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


class _Rest:
    def __init__(self, observer):
        self._observer = observer

    def __enter__(self):
        self._observer._busy += 1
        self._observer.net.resting += 1

    def __exit__(self, *_):
        self._observer._busy -= 1
        self._observer.net.resting -= 1


def _own_names(kind):
    """The names that Python classes among the bases of a container have."""
    return {n for c in kind.__mro__ if c.__flags__ & HEAP for n in vars(c)}


__all__ = ["Observer", "Restart", "base_of"]
