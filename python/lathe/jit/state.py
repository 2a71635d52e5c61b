"""What traced code can read besides its arguments, as a key to compare and a list of tensors.

A trace holds for the Python state it was made in. `Snapshot` walks that state from the function:
the globals and closure cells its code names, its defaults, and what can be reached from those:
modules' attributes that the code names, instances' attributes, containers, other functions. Plain
values become part of `key`; tensors become places in `tensors` (equal places are equal tensors, so
aliasing is part of the key too). Two calls with equal keys see the same program; their tensors may
differ.

What cannot be compared is compared by identity and kept alive. What a trace would silently get
wrong (clocks, random modules, printing, files) is refused by name.
"""

import builtins
import dis
import types

from .. import _lathe
from .._lathe import Tensor

_PLAIN = (int, str, bytes, type(None), type(Ellipsis), complex)
_PACKAGE = __name__.split(".")[0]

# Modules whose functions give another answer at each call, and builtins with effects outside.
_FICKLE = frozenset({"random", "time", "datetime", "uuid", "secrets", "os", "threading", "numpy"})
_EFFECTS = frozenset({"print", "input", "open", "exec", "eval", "next", "id", "hash", "globals",
                      "locals", "setattr", "delattr", "vars"})  # fmt: skip


def _refuse(code, line, what, instead):
    raise _lathe.TraceError(
        f"trace: {what}\n  at:       {code.co_filename}:{line}\n  next:     {instead}"
    )


def _home(cls):
    """The package a class comes from; the extension's own types say so per object."""
    module = cls.__module__
    return module.split(".")[0] if isinstance(module, str) else _PACKAGE


class _Reads:
    """The names a code object (and those nested in it) reads, worked out once."""

    __slots__ = ("code", "globals", "attributes", "lines", "stores")
    _known = {}

    def __init__(self, code):
        self.code = code
        self.globals, self.attributes, self.lines, self.stores = [], set(), {}, None
        line = code.co_firstlineno
        for i in dis.get_instructions(code):
            if i.starts_line:
                line = i.starts_line
            if i.opname in ("LOAD_GLOBAL", "LOAD_NAME") and i.argval not in self.lines:
                self.globals.append(i.argval)
                self.lines[i.argval] = line
            elif i.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                self.attributes.add(i.argval)
            elif i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME"):
                self.stores = self.stores or (i.opname, i.argval, line)
        for c in code.co_consts:
            if isinstance(c, types.CodeType):
                inner = _Reads.of(c)
                for name in inner.globals:
                    if name not in self.lines:
                        self.globals.append(name)
                        self.lines[name] = inner.lines[name]
                self.attributes |= inner.attributes
                self.stores = self.stores or inner.stores

    @classmethod
    def of(cls, code):
        found = cls._known.get(code)
        if found is None:
            found = cls._known[code] = cls(code)
        return found


class Snapshot:
    """key: hashable; tensors: the distinct ones, in order of discovery; keep: what ids refer to."""

    def __init__(self):
        self.tensors, self.key, self.keep = [], [], []
        self._places, self._seen = {}, {}

    # ── values ──────────────────────────────────────────────────────────────────────────────────

    def add(self, value, names=None):
        kind = type(value)
        if kind in _PLAIN or kind is bool:
            self.key.append((kind, value))
        elif kind is float:
            self.key.append((float, value.hex()))
        elif isinstance(value, Tensor):
            self._tensor(value)
        else:
            self._object(value, kind, names)

    def _tensor(self, t):
        place = self._places.get(id(t))
        if place is not None:
            self.key.append(("tensor", place))
            return
        self._places[id(t)] = len(self.tensors)
        self.key.append(("tensor", len(self.tensors), t.requires_grad))
        self.tensors.append(t)
        if t.is_leaf and t.requires_grad:
            self.add(t.grad)

    def _object(self, value, kind, names):
        seen = self._seen.get(id(value))
        if seen is not None:
            self.key.append(("again", seen))
            if not isinstance(value, types.ModuleType):
                return
        self._seen[id(value)] = len(self._seen)
        if kind in (tuple, list):
            self.key.append((kind, len(value)))
            for item in value:
                self.add(item, names)
        elif kind in (set, frozenset):
            self.key.append((kind, frozenset(value)))
        elif isinstance(value, dict):
            self.key.append((kind, len(value)))
            for k, v in value.items():
                self.add(k)
                self.add(v, names)
        elif kind is types.FunctionType:
            self.function(value)
        elif kind is types.MethodType:
            self.add(value.__self__)
            self.add(value.__func__)
        elif kind is types.ModuleType:
            self._module(value, names)
        elif isinstance(value, type):
            self._class(value)
        else:
            self._instance(value, kind)

    def _same(self, value):
        self.keep.append(value)
        self.key.append(("same", id(value)))

    def _module(self, module, names):
        if module.__name__.split(".")[0] == _PACKAGE:
            self._same(module)
            return
        self._same(module)
        for name in sorted(names or ()):
            if name in vars(module):
                value = vars(module)[name]
                if not isinstance(value, (types.BuiltinFunctionType, types.ModuleType)):
                    self.key.append(name)
                    self.add(value)

    def _class(self, cls):
        self._same(cls)
        if _home(cls) in (_PACKAGE, "builtins"):
            return
        for name, value in vars(cls).items():
            if isinstance(value, (types.FunctionType, int, float, str, tuple, list, dict, Tensor)):
                self.key.append(name)
                self.add(value)

    def _instance(self, value, kind):
        self.key.append(("instance", id(kind)))
        self.keep.append(kind)
        if _home(kind) not in (_PACKAGE, "builtins"):
            self.add(kind)
        attributes = getattr(value, "__dict__", None)
        if attributes is None:
            self._same(value)
            return
        for name, item in attributes.items():
            self.key.append(name)
            self.add(item)

    # ── functions ───────────────────────────────────────────────────────────────────────────────

    def function(self, f):
        """A function is its code and all that its code reads."""
        f = getattr(f, "__wrapped__", f) if not isinstance(f, types.FunctionType) else f
        code = f.__code__
        self.keep.append(code)
        self.key.append(("code", id(code)))
        if f.__module__ is not None and f.__module__.split(".")[0] == _PACKAGE:
            return  # the library's own functions change with its version only
        reads = _Reads.of(code)
        self._refusals(f, reads)
        for d in (f.__defaults__, f.__kwdefaults__):
            self.add(d)
        for name, cell in zip(code.co_freevars, f.__closure__ or ()):
            self.key.append(name)
            try:
                value = cell.cell_contents
            except ValueError:
                self.key.append("empty")
                continue
            self._refuse_fickle(code, code.co_firstlineno, name, value)
            self.add(value, reads.attributes)
        for name in reads.globals:
            if name in f.__globals__:
                self.key.append(name)
                self.add(f.__globals__[name], reads.attributes)
            elif not hasattr(builtins, name):
                self.key.append(("missing", name))

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
            self._refuse_fickle(reads.code, line, name, value)

    @staticmethod
    def _refuse_fickle(code, line, name, value):
        module = isinstance(value, types.ModuleType)
        home = value.__name__ if module else getattr(value, "__module__", None)
        if isinstance(home, str) and home.split(".")[0] in _FICKLE:
            _refuse(
                code,
                line,
                f"{name} ({home}) answers anew at each call, and would be asked at capture only",
                "pass its value in as an argument, or use lathe's own random ops",
            )

    def finish(self):
        self.key = tuple(self.key)
        return self


def snapshot(arguments, function):
    """Of the arguments and of what the function reads; `arguments` come first."""
    s = Snapshot()
    s.add(arguments)
    counted = len(s.tensors)
    s.add(function)
    s.key.append((_lathe.is_grad_enabled(), str(_lathe.get_default_dtype())))
    s.finish()
    return s, counted
