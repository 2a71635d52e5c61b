"""What functions read by name, and what classes have that Python calls by itself."""

import builtins
import sys
import types
from opcode import opname

from .recording import HEAP, MISSING, hold


class Names:
    """Of a Core."""

    def _note(self, code):
        self._codes.append(code)
        self.net.made(code)

    def identified(self, *values):
        """It matters which functions these are, not only what they do."""
        for value in values if self.alike and self.is_own_thread() else ():
            row = self.alike.pop(id(value), None)
            if row is not None:
                row.test, row.loose = "is", False
                hold(row, value)
        return values[0]

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
            for name, functions in _called_by_python(cls):
                for f in functions:
                    if type(f) is types.FunctionType:
                        bundle[(cls, name)] = vars(cls)[name]
                        self.swap_later(f, cls)


def _called_by_python(cls):
    """[(name, what it may be that runs)] of the special methods and properties of a class."""
    space = vars(cls).copy()
    properties = {kind for kind in {*map(type, space.values())} if issubclass(kind, property)}
    found = []
    for name, value in space.items():  # hundreds: no call for each
        if type(value) in properties:
            found.append((name, (value.fget, value.fset, value.fdel)))
        elif name[:2] == "__" == name[-2:] and name != "__dict__":
            found.append((name, (getattr(value, "__func__", value),)))
    return found


_EXTENDED = opname.index("EXTENDED_ARG")
_NEW = sys.version_info >= (3, 11)  # a global's number is shifted: its lowest bit says how to push
_NEWER = sys.version_info >= (3, 12)  # and an attribute's
_NAMED = {"LOAD_GLOBAL": _NEW, "LOAD_ATTR": _NEWER, "LOAD_METHOD": False, "LOAD_NAME": False}


def instructions(code):
    """(name, argument) of each instruction; of those that load by a name, that name. `dis` says
    more, but a first trace would wait for its imports."""
    raw, names, high = code.co_code, code.co_names, 0
    for at in range(0, len(raw), 2):
        op, arg = raw[at], raw[at + 1] | high
        high = arg << 8 if op == _EXTENDED else 0
        name = opname[op]
        if name in _NAMED:
            arg = names[arg >> _NAMED[name]]
        if name not in ("CACHE", "EXTENDED_ARG"):
            yield name, arg


_named = {}
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_CELLS = ("STORE_DEREF", "DELETE_DEREF")


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
    has_stores = False
    for name, arg in instructions(code):
        if name in _LOADS:
            loads[arg] = True
        has_stores = has_stores or name in _STORES or name in _CELLS
    if has_stores:
        _collect_stores(code, stores, cells)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            _collect(c, loads, stores, cells)


def _collect_stores(code, stores, cells):
    from dis import get_instructions  # not above: few functions store to what is around them

    line = code.co_firstlineno
    for i in get_instructions(code):
        line = i.starts_line or line
        if i.opname in _STORES:
            stores.setdefault(i.argval, line)
        elif i.opname in _CELLS:
            cells.setdefault(i.argval, line)
