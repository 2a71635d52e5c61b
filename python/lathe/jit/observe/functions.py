"""Functions and classes in a capture: which code runs observed, and what a function reads by name.

A function runs with the code that rewrite.py makes of its source. What dataclass() has made has no
source, but is known to read the fields of its arguments.
"""

import builtins
import functools
import sys
import types

from . import rewrite
from .files import CAPTURE, PACKAGE
from .recording import HEAP, MISSING, dict_of, hold, in_mro


class Functions:
    """Of an Observer."""

    # ── functions ───────────────────────────────────────────────────────────────────────────────

    def let_c_call(self, f):
        """A function that C is going to call runs observed."""
        if type(f) is types.FunctionType:
            self.identified(f)
            self.swap(f)
        elif type(f) is types.MethodType:
            self.let_c_call(f.__func__)
        elif type(f) is functools.partial:
            self.let_c_call(f.func)
        else:
            self.prepare(type(f))
            for cls in type(f).__mro__:
                for part in list(vars(cls).values()) if cls.__flags__ & HEAP else ():
                    if type(part) is types.FunctionType:
                        self.swap(part, cls)

    def swap(self, function, cls=None):
        """Gives a function its observed code, until the end."""
        code = function.__code__
        if id(function) in self._waiting:
            code = self._awaken(function)
        if id(function) in self._originals or self.net.has(code):
            return
        if code.co_filename.startswith(CAPTURE):
            return
        with self.resting():
            hooked = rewrite.observed(code)
        if hooked is not None:
            self._originals[id(function)] = code
            self._swapped.append((function, code))
            function.__code__ = rewrite.bind(hooked, self, function, self._note)
        elif self._is_generated(code, cls):
            self._read_fields_in(function, code, cls)
            self.enter(function)
        elif self._reads_little(function):
            self._note(code)
            self._originals[id(function)] = code
            self.enter(function)

    def swap_later(self, function, cls):
        """The same for a function of the library's own, of whose class a value is used: it gets its
        observed code when it is called, since few of them are."""
        code = function.__code__
        if not code.co_filename.startswith(PACKAGE) or code.co_filename.startswith(CAPTURE):
            return self.swap(function, cls)
        if id(function) not in self._originals and not self.net.has(code):
            self._waiting[id(function)] = cls
            self._stand_in(_WAITING, function, code, function)

    def _stand_in(self, standing, function, code, handed):
        """Gives a function code of ours until the end, which hands its arguments to a method here
        with what is handed."""
        self._originals[id(function)] = code
        self._swapped.append((function, code))
        hooked = standing.replace(co_freevars=code.co_freevars, co_name=code.co_name)
        function.__code__ = rewrite.bind(hooked, self, handed, self._note)

    def _awaken(self, function):
        """Its own code, which it has again."""
        del self._waiting[id(function)]
        code = function.__code__ = self._originals.pop(id(function))
        return code

    def awaited(self, function, args, kwargs):
        """A function is called that waits for its observed code."""
        code = self._originals.get(id(function))
        if self.on():
            self.swap(function, self._waiting.get(id(function)))
        elif code is not None:  # on another thread, or for the observer itself
            function = _with_code(function, code)
        return function(*args, **kwargs)

    def give_back(self, function):
        """Gives a function that was made by observed code its own code. False: which is not known.
        Others have theirs, or get it at the end."""
        code = function.__code__
        if id(function) in self._originals or not self.net.has(code):
            return True
        for outer, own in self._swapped:
            for hooked, plain in zip(rewrite.inside(outer.__code__), rewrite.inside(own)):
                if hooked is code and plain.co_name == code.co_name:
                    function.__code__ = plain
                    return True
        return False

    def _read_fields_in(self, function, code, cls):
        """A method that dataclass() has made reads fields, of all that it is given."""
        self._note(code)
        if code.co_name == "__init__" or "__dataclass_fields__" not in vars(cls):
            self._originals[id(function)] = code
            return
        self._stand_in(_GENERATED, function, code, _with_code(function, code))

    def generated(self, method, args, kwargs):
        for value in args if self.on() else ():
            with self.resting():
                self._fields(value)
        return method(*args, **kwargs)

    def _fields(self, value):
        kind, row = type(value), self.row_of(value)
        space = dict_of(value)
        for name in getattr(kind, "__dataclass_fields__", ()) if row is not None else ():
            field, member = getattr(value, name, MISSING), in_mro(kind.__mro__, name)[1]
            if type(member) is types.MemberDescriptorType:
                if (id(value), name) not in self.written:
                    self.row("member", row, member, field, raw=True)
            elif space is not None:
                self.read_key(space, name, raw=True, owner=value)
            if type(field) in (list, tuple, dict, set, frozenset):
                self.contents(field, deep=True)
            self.prepare(type(field))

    def identified(self, *values):
        """It matters which functions these are, not only what they do."""
        for value in values if self.alike else ():
            row = self.alike.pop(id(value), None)
            if row is not None:
                row.test, row.loose = "is", False
                hold(row, value)
        return values[0]

    def _note(self, code):
        self._codes.append(code)
        self.net.made(code)

    def _reads_little(self, function):
        """Is it the traced function, and all that it can read known without its source?"""
        if self.traced is not function:
            return False
        with self.resting():
            from .sourceless import reads

            found = reads(function, *self.given_to)
        for module, name in found or ():
            self.read_attribute(module, name)
        for inner in rewrite.inside(function.__code__) if found is not None else ():
            self._note(inner)
        return found is not None

    @staticmethod
    def _is_generated(code, cls):
        """A method that dataclass() or namedtuple() has made: it reads and sets fields, no more."""
        made = code.co_filename == "<string>" or code.co_filename.startswith("<attrs generated")
        return (
            made
            and cls is not None
            and ("__dataclass_fields__" in vars(cls) or "_fields" in vars(cls))
        )

    def enter(self, function):
        """A function from outside begins: rows for what its code names."""
        if function is None or not self.on() or id(function) in self._entered:
            return
        self._entered.add(id(function))
        with self.resting():
            self._names_of(function)

    def _names_of(self, function):
        # One that library code has made during the capture is no part of what was there.
        row = self.constant(function) if self.was_there(function) else None
        code = self.code_of(function)
        if row is not None:
            self._very_part(row, "__code__", code)
        for part in ("__defaults__", "__kwdefaults__"):
            value = getattr(function, part)
            self.row("part", row, part, value)
            if value is not None and row is not None:
                self.contents(value)
        loads, stores, cells = named_by(code)
        mine = self._cells[id(function)] = {}
        closure, around = function.__closure__ or (), None
        if id(function) in self.alike:  # another one has other cells
            around = self.row("part", row, "__closure__", closure or None)
            self._very_part(row, "__globals__", function.__globals__)
        for i, (name, cell) in enumerate(zip(code.co_freevars, closure)):
            where = f"{code.co_filename}:{cells[name]}" if name in cells else None
            if around is not None:
                at = self.row("item", around, i, cell)
                at.name = name
            mine[name] = self._cell(cell, name, where) if self.was_there(cell) else None
        space = function.__globals__
        self.constant(space, function.__module__ or "globals")
        for name in loads:
            self._global(space, name)
        for name, line in stores.items():
            row = self.index.get(("key", self.constant(space).n, str, name))
            self.watch(space, name, row, f"{code.co_filename}:{line}")

    def _very_part(self, row, name, value):
        made = self._add("part", row, name, "is", value, value)
        made.pinned = True

    def _cell(self, cell, name, where):
        try:
            value = cell.cell_contents
        except ValueError:
            value = MISSING
        row = self.row("cell", self.constant(cell, name), None, value)
        if where:
            self.watch(cell, None, row, where)
        return row

    def _global(self, space, name):
        self.read_key(space, name)
        if name not in space:
            outer = vars(builtins)
            self.constant(outer, "builtins")
            self.read_key(outer, name)

    def rebinds(self, *names):
        """A function begins that sets variables of functions around it, or globals."""
        if self.on():
            self.rebound += names

    def prepare(self, kind):
        """A class whose methods Python may call by itself: they run observed."""
        if kind in self._prepared or not kind.__flags__ & HEAP or not self._live:
            return
        self._prepared.add(kind)
        bundle = self.bundles.setdefault(kind, {}) if self.was_there(kind) else {}
        for cls in kind.__mro__ if self.was_there(kind) else ():
            if cls.__flags__ & HEAP:  # one more method may be one that Python calls by itself
                bundle[(cls, "")] = sum(n.startswith("__") for n in vars(cls))
        for cls in kind.__mro__:
            if not cls.__flags__ & HEAP:
                continue
            for name, value in list(vars(cls).items()):
                value = getattr(value, "__func__", value) if name != "__dict__" else value
                own = name.startswith("__") and name.endswith("__")
                functions = (value,) if own else ()
                if isinstance(value, property):
                    functions = (value.fget, value.fset, value.fdel)
                for f in functions:
                    if type(f) is types.FunctionType:
                        bundle[(cls, name)] = vars(cls)[name]
                        self.swap_later(f, cls)

    # ── imports ─────────────────────────────────────────────────────────────────────────────────

    def importing(self, level, modules, items, space=None):
        if not self.on():
            return
        space = space or sys._getframe(1).f_globals
        for name in modules:
            with self.resting():
                module = __import__(name, space, None, items, level)
            if not level:
                self.constant(sys.modules, "sys.modules")
                self.read_key(sys.modules, name)
            for item in items if items != ("*",) else ():
                self.attribute(module, item)
                self.read_key(dict_of(module), item, raw=True)  # the statement binds it as it is


def _with_code(function, code):
    """Another function that does what this one does with that code."""
    made = types.FunctionType(code, function.__globals__, code.co_name, function.__defaults__,
                              function.__closure__)  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    return made


_WAITING = (lambda *args, **kwargs: "\0observer".awaited("\0function", args, kwargs)).__code__
_GENERATED = (lambda *args, **kwargs: "\0observer".generated("\0function", args, kwargs)).__code__
_named = {}
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")


def named_by(code):
    """(globals that a code object and those inside it load; lines of those that they store; of free
    variables that they store)."""
    known = _named.get(id(code))
    if known is None:
        loads, stores, cells = {}, {}, {}
        _collect(code, loads, stores, cells)
        known = _named[id(code)] = code, (list(loads), stores, cells)
    return known[1]


def _collect(code, loads, stores, cells):
    from dis import get_instructions

    line = code.co_firstlineno
    for i in get_instructions(code):
        line = i.starts_line or line
        if i.opname in _LOADS:
            loads[i.argval] = True
        elif i.opname in _STORES:
            stores.setdefault(i.argval, line)
        elif i.opname in ("STORE_DEREF", "DELETE_DEREF"):
            cells.setdefault(i.argval, line)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            _collect(c, loads, stores, cells)
