"""Everything that can be reached from some roots, as lines of text to compare two runs by.

A line is `path: what is there`. An object that is met again is the path of its first place, so what
is one object and what is two, which tensors share memory, and the order of keys are part of it.
Nothing of the program runs for it: no property, no `__eq__`, no `__getattr__`.
"""

import collections
import contextvars
import enum
import functools
import hashlib
import io
import itertools
import logging
import pickle
import random
import re
import struct
import threading
import types
import warnings
import weakref

import numpy as np

import lathe as lt

PLAIN = (bool, int, str, bytes, complex, type(None), type(...), range)
AS_TEXT = {"decimal", "fractions", "datetime", "pathlib", "re", "uuid", "time", "array"}
LOCK = type(threading.Lock())
ITERATORS = tuple(
    {
        *(t for t in vars(itertools).values() if isinstance(t, type)),
        *(type(iter(v)) for v in ((), [], "", b"", {}, set(), range(1), {}.values(), {}.items())),
        *(enumerate, zip, map, filter, reversed, type(reversed([])), type(iter(range(1 << 70)))),
    }
)
GROUPERS = (type(next(itertools.groupby([1]))[1]),)
HIDDEN = {"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__slots__"}
HIDDEN |= {"__annotations__", "__abstractmethods__", "_abc_impl", "__parameters__", "__hash__"}
HIDDEN |= {"__dataclass_fields__", "__dataclass_params__", "__match_args__", "__orig_bases__"}
HIDDEN |= {"__firstlineno__", "__static_attributes__", "__annotate__", "__annotations_cache__"}
HIDDEN |= {"__conditional_annotations__", "__classdict__", "__set_name__"}
IN_MODULE = {"__builtins__", "__name__", "__file__", "__doc__", "__spec__", "__loader__"}
IN_MODULE |= {"__warningregistry__"}


def digest(data):
    return hashlib.blake2b(data, digest_size=6).hexdigest()


def qualified(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


class Description:
    """lines: what was found so far. own: the name of the program's module, whose functions and
    classes are looked into."""

    def __init__(self, own):
        self.own = own
        self.lines = []
        self._first = {}  # id: path of the first place
        self._kept = []  # so that no id is used twice
        self._memory = {}  # address: number, of tensors and arrays

    def say(self, path, text):
        self.lines.append(f"{path}: {text}")

    def add(self, path, value):
        kind = type(value)
        if kind in PLAIN:
            return self.say(path, f"{kind.__name__} {value!r}")
        if kind is float:
            return self.say(path, f"float {value!r} {struct.pack('>d', value).hex()}")
        if kind is tuple:  # no identity: results are put together anew
            return self._items(path, "tuple", value)
        first = self._first.setdefault(id(value), path)
        if first != path:
            return self.say(path, f"is {first}")
        self._kept.append(value)
        if kind not in HANDLER_OF:
            HANDLER_OF[kind] = handler_of(kind)
        return HANDLER_OF[kind](self, path, kind, value)

    # ── numbers in memory ────────────────────────────────────────────────────────────────────

    def _place(self, address):
        return self._memory.setdefault(address, len(self._memory))

    def _tensor(self, path, kind, value):
        t = value.detach()
        shape = "x".join(map(str, t.shape)) or "scalar"
        text = f"{kind.__name__} {t.dtype} {shape} {elements(t)}"
        if t.numel():
            start = self._place(t.untyped_storage().data_ptr())
            strides = [s for s, n in zip(t.stride(), t.shape) if n > 1]
            text += f" memory {start}+{t.storage_offset()} strides {strides}"
        if value.requires_grad:
            text += " requires_grad" + (" leaf" if value.is_leaf else "")
        self.say(path, text)
        if value.is_leaf and value.grad is not None:
            self.add(f"{path}.grad", value.grad)
        if getattr(value, "__dict__", None):
            self._dict(f"{path}.__dict__", value.__dict__)

    def _array(self, path, kind, value):
        if value.dtype.hasobject:
            self.say(path, f"array of objects {value.shape}")
            return self._items(path, "items", value.ravel().tolist())
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        begin = root.__array_interface__["data"][0]
        offset = value.__array_interface__["data"][0] - begin
        text = f"array {value.dtype.str} {value.shape} {digest(value.tobytes())} "
        text += f"{value.ravel()[:3].tolist()}"
        if value.size:
            text += f" memory {self._place(begin)}+{offset} strides {value.strides}"
        return self.say(path, text + ("" if value.flags.writeable else " read-only"))

    def _scalar(self, path, kind, value):
        self.say(path, f"numpy {value.dtype.str} {value!r} {value.tobytes().hex()}")

    # ── containers ───────────────────────────────────────────────────────────────────────────

    def _items(self, path, name, values):
        values = list(values)
        self.say(path, f"{name} of {len(values)}")
        for i, v in enumerate(values):
            self.add(f"{path}[{i}]", v)

    def _list(self, path, kind, value):
        self._items(path, qualified(kind), list.__iter__(value))
        self._attributes(path, kind, value)

    def _named_tuple(self, path, kind, value):
        self._items(path, qualified(kind), tuple.__iter__(value))

    def _deque(self, path, kind, value):
        self._items(path, f"{qualified(kind)} maxlen {value.maxlen}", value)

    def _dict(self, path, value, name="dict"):
        self.say(path, f"{name} of {len(value)}")
        for i, (key, v) in enumerate(dict.items(value) if isinstance(value, dict) else value):
            if type(key) in PLAIN:
                self.add(f"{path}[{key!r}]", v)
            else:
                self.add(f"{path}.key{i}", key)
                self.add(f"{path}.value{i}", v)

    def _mapping(self, path, kind, value):
        self._dict(path, value, qualified(kind))
        if isinstance(value, collections.defaultdict):
            self.add(f"{path}.default_factory", value.default_factory)
        self._attributes(path, kind, value)

    def _set(self, path, kind, value):
        """Without an order: plain items by their text, others by what they look like alone."""
        self.say(path, f"{qualified(kind)} of {len(value)}")
        alone = []
        for v in value:
            part = Description(self.own)
            part.add("", v)
            alone.append((part.lines, v))
        for i, (_, v) in enumerate(sorted(alone, key=lambda pair: pair[0])):
            self.add(f"{path}{{{i}}}", v)

    # ── code ─────────────────────────────────────────────────────────────────────────────────

    def _function(self, path, kind, f):
        self.say(path, f"function {f.__module__}.{f.__qualname__} {f.__code__.co_name}")
        if f.__module__ != self.own:
            return
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            self.add(f"{path}<{name}>", cell)
        self.add(f"{path}.__defaults__", f.__defaults__)
        if f.__kwdefaults__:
            self._dict(f"{path}.__kwdefaults__", f.__kwdefaults__)
        if f.__dict__:
            self._dict(f"{path}.__dict__", f.__dict__)

    def _cell(self, path, kind, cell):
        try:
            inside = cell.cell_contents
        except ValueError:
            return self.say(path, "empty cell")
        return self.add(path + "()", inside)

    def _method(self, path, kind, value):
        self.say(path, "method")
        self.add(f"{path}.__func__", value.__func__)
        self.add(f"{path}.__self__", value.__self__)

    def _builtin(self, path, kind, value):
        self.say(path, f"builtin {getattr(value, '__qualname__', value)}")
        holder = getattr(value, "__self__", None)
        if holder is not None and not isinstance(holder, (types.ModuleType, type)):
            self.add(f"{path}.__self__", holder)

    def _partial(self, path, kind, value):
        self.say(path, "partial")
        self.add(f"{path}.func", value.func)
        self.add(f"{path}.args", value.args)
        self._dict(f"{path}.keywords", value.keywords)

    def _wrapping(self, path, kind, value):
        self.say(path, kind.__name__)
        for name in ("fget", "fset", "__func__", "func"):
            if getattr(value, name, None) is not None:
                self.add(f"{path}.{name}", getattr(value, name))

    def _cached(self, path, kind, value):
        self.say(path, f"lru_cache of {value.__wrapped__.__qualname__}")

    def _class(self, path, kind, value):
        self.say(path, f"class {qualified(value)}")
        if value.__module__ == self.own:
            for name, v in vars(value).items():
                if name not in HIDDEN:
                    self.add(f"{path}.{name}", v)

    def _module(self, path, kind, value):
        self.say(path, f"module {value.__name__}")
        made_here = getattr(value, "__spec__", None) is None and not hasattr(value, "__file__")
        if made_here or value.__name__ == self.own:
            for name, v in list(vars(value).items()):
                if name not in IN_MODULE:
                    self.add(f"{path}.{name}", v)

    def _captured(self, path, kind, value):
        self.say(path, "captured")

    # ── hidden state ─────────────────────────────────────────────────────────────────────────

    def _generator(self, path, kind, value):
        if value.gi_frame is None:
            return self.say(path, "generator that has ended")
        self.say(path, f"generator {value.__qualname__} at +{value.gi_frame.f_lasti}")
        for name, v in value.gi_frame.f_locals.items():
            self.add(f"{path}<{name}>", v)
        return None

    def _iterator(self, path, kind, value):
        self.say(path, qualified(kind))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                parts = value.__reduce__()
            except TypeError:  # it holds what has no such form
                return
        self._items(path, "parts", parts[1:])

    def _random(self, path, kind, value):
        self.say(path, f"Random {digest(repr(value.getstate()).encode())}")

    def _numpy_random(self, path, kind, value):
        self.say(path, f"{kind.__name__} {digest(pickle.dumps(value.__getstate__()))}")

    def _own_random(self, path, kind, value):
        self.say(path, f"Generator {elements(value.get_state())}")

    def _variable(self, path, kind, value):
        self.say(path, f"ContextVar {value.name}")
        unset = object()
        inside = value.get(unset)
        if inside is not unset:
            self.add(f"{path}.value", inside)

    def _text(self, path, kind, value):
        if value.closed:
            return self.say(path, f"{qualified(kind)} closed")
        inside = value.getvalue() if hasattr(value, "getvalue") else ""
        at = value.tell() if value.seekable() else "its end"
        return self.say(path, f"{qualified(kind)} {inside!r} at {at}")

    def _weak(self, path, kind, value):
        self.say(path, "weak reference")
        self.add(path + "()", value())

    def _weak_items(self, path, kind, value):
        self._items(path, qualified(kind), list(value))

    def _weak_pairs(self, path, kind, value):
        self._dict(path, list(value.items()), qualified(kind))

    def _member(self, path, kind, value):
        self.say(path, f"{qualified(kind)}.{value._name_}")

    def _lock(self, path, kind, value):
        self.say(path, f"lock {value.locked()}")

    def _logger(self, path, kind, value):
        self.say(path, f"logger {value.name} {value.level} {value.disabled}")

    def _error(self, path, kind, value):
        self.say(path, qualified(kind))
        if kind.__module__ == self.own or kind.__module__ == "builtins":
            self.add(f"{path}.args", value.args)

    def _as_text(self, path, kind, value):
        self.say(path, f"{qualified(kind)} {value!r}")

    # ── all the rest ─────────────────────────────────────────────────────────────────────────

    def _instance(self, path, kind, value):
        self.say(path, qualified(kind))
        self._attributes(path, kind, value)
        for base in (dict, list, set, tuple, int, float, str):
            if base in kind.__mro__:
                plain = base(base.__iter__(value)) if base is set else base.__repr__(value)
                self.say(path + ".value", str(plain))

    def _attributes(self, path, kind, value):
        try:
            inside = object.__getattribute__(value, "__dict__")
        except AttributeError:
            inside = {}
        for name, v in list(inside.items()):
            self.add(f"{path}.{name}", v)
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                member = vars(base).get(name)
                if isinstance(member, types.MemberDescriptorType):
                    self._slot(path, name, member, value)

    def _slot(self, path, name, member, value):
        try:
            inside = member.__get__(value)
        except AttributeError:
            return self.say(f"{path}.{name}", "no value")
        return self.add(f"{path}.{name}", inside)


def elements(t):
    """The bytes of a tensor in short, NaN as one class, and its first elements."""
    t = t.contiguous()
    if t.dtype is lt.bfloat16:
        t = t.to(lt.float32)
    array = t.numpy()
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), np.asarray(np.nan, array.dtype), array)
    begin = ", ".join(f"{v:.6g}" for v in array.ravel()[:4].tolist())
    return f"[{begin}] {digest(array.tobytes())}"


HANDLERS = [
    (lt.Tensor, Description._tensor),
    (np.ndarray, Description._array),
    (np.generic, Description._scalar),
    (lt.jit.Traced, Description._captured),
    (enum.Enum, Description._member),
    (list, Description._list),
    (tuple, Description._named_tuple),
    (dict, Description._mapping),
    ((set, frozenset), Description._set),
    (collections.deque, Description._deque),
    (types.FunctionType, Description._function),
    (types.CellType, Description._cell),
    (types.MethodType, Description._method),
    ((types.BuiltinFunctionType, types.MethodWrapperType), Description._builtin),
    (functools.partial, Description._partial),
    ((property, staticmethod, classmethod, functools.cached_property), Description._wrapping),
    (type(functools.lru_cache(digest)), Description._cached),
    (types.ModuleType, Description._module),
    (type, Description._class),
    (types.GeneratorType, Description._generator),
    (GROUPERS, Description._as_text),
    (ITERATORS, Description._iterator),
    (random.Random, Description._random),
    ((np.random.Generator, np.random.RandomState), Description._numpy_random),
    (lt.Generator, Description._own_random),
    (contextvars.ContextVar, Description._variable),
    (io.IOBase, Description._text),
    (weakref.ref, Description._weak),
    (weakref.WeakSet, Description._weak_items),
    ((weakref.WeakKeyDictionary, weakref.WeakValueDictionary), Description._weak_pairs),
    (LOCK, Description._lock),
    (logging.Logger, Description._logger),
    (BaseException, Description._error),
    ((lt.dtype, type(lt.device("cpu")), slice, re.Pattern), Description._as_text),
]


HANDLER_OF = {}  # by type


def handler_of(kind):
    for handled, method in HANDLERS:
        if issubclass(kind, handled):
            return method
    if kind.__module__.split(".")[0] in AS_TEXT:
        return Description._as_text
    return Description._instance


def surroundings():
    """The state of the libraries that a call may change."""
    streams = {
        "lathe": elements(lt.get_rng_state()),
        "random": digest(repr(random.getstate()).encode()),
        "numpy": digest(pickle.dumps(np.random.get_state())),
    }
    modes = f"grad {lt.is_grad_enabled()}, dtype {lt.get_default_dtype()}"
    return [f"random stream of {k}: {v}" for k, v in streams.items()] + [f"modes: {modes}"]


def described(own, roots):
    """The lines of all roots, {path: value}, and of the surroundings."""
    found = Description(own)
    for path, value in roots.items():
        found.add(path, value)
    return found.lines + surroundings()


def first_difference(expected, found):
    """What to say of the first line in which two descriptions differ; None: they are equal."""
    for one, other in zip(expected, found):
        if one != other:
            return f"{other}\n    eager: {one}"
    if len(expected) != len(found):
        more = (expected + found)[min(len(expected), len(found)) :]
        whose = "eager" if len(expected) > len(found) else "captured"
        return f"only {whose} has {more[0]}"
    return None
