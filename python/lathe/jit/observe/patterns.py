"""match statements: patterns have no place for hooks, so all that they may look at is read before.

A shape says what a pattern takes apart: ("items", shapes) a sequence or a mapping, ("class",
((name or place, shape), ...)) the attributes of an object, ("either", shapes) alternatives; what it
compares is ("literal", ()), or by a name ("value", ()); None: nothing. Python binds what it finds
as it is, so numbers are compared.
"""

import types

from ... import _lathe
from ..._lathe import Tensor
from .items import Item
from .recording import BOXES, HEAP, MISSING, dict_of, in_mro
from .rows import IDENTITY, PLAIN
from .texts import Text

_SYMBOLIC = (_lathe.SymInt, _lathe.SymFloat)
_LIKE = 1 << 5 | 1 << 6  # Py_TPFLAGS_SEQUENCE and Py_TPFLAGS_MAPPING
_MEMBER = types.MemberDescriptorType


class Patterns:
    """Of an Observer."""

    def match(self, subject, shapes=(), *named):
        """The subject of a match statement. named: what its patterns compare with."""
        if self.on():
            self.use(subject)
            for shape in shapes:
                self._taken_apart(subject, shape)
        return subject

    def match_classes(self, subject, *rest):
        """The same where a pattern asks for a class, in C: for numbers themselves."""
        return self.match(self._of_their_classes(subject) if self.on() else subject, *rest)

    def _of_their_classes(self, value):
        kind = type(value)
        if kind in (Text, Item, *_SYMBOLIC):
            return self.type_of(value)(value)
        if kind is dict and any(type(v) in (Text, Item, *_SYMBOLIC) for v in value.values()):
            self.refuse("a pattern asks for the class of a number of the program in a dict",
                        next="take it out of the dict first, and match that")  # fmt: skip
        if kind not in (list, tuple) or not any(
            type(v) in (list, tuple, dict, Text, Item, *_SYMBOLIC) for v in value
        ):
            return value
        made = kind(map(self._of_their_classes, value))
        return value if all(a is b for a, b in zip(made, value)) else made

    def _taken_apart(self, value, shape):
        if shape is None:
            return
        self.use(value)
        what, parts = shape
        if what == "value" and isinstance(value, BOXES):
            self.contents(value, deep=True)
        elif what == "either":
            for part in parts:
                self._taken_apart(value, part)
        elif what == "items":
            for inner in self._items_of(value, any(parts)):
                for part in parts:
                    self._taken_apart(inner, part)
        elif what == "class":
            for name, part in parts:
                self._attribute_taken(value, name, part)

    def _items_of(self, value, are_taken):
        kind = type(value)
        if issubclass(kind, dict):
            return list(dict.values(value))
        if issubclass(kind, BOXES):
            return list(value)
        if kind is types.MappingProxyType:
            return list(value.values())
        if kind.__flags__ & _LIKE and kind not in PLAIN and are_taken:
            self._refuse_nested(f"an item of a {kind.__name__}")
        return ()

    def _attribute_taken(self, value, name, part):
        if type(name) is int:
            if name == 0 and isinstance(value, (*BOXES, int, float, str, bytes)):
                self._taken_apart(value, part)
            for found in self._names_at(type(value), name):
                self._attribute_taken(value, found, part)
            return
        kind = type(value)
        if kind in PLAIN or kind in _SYMBOLIC or issubclass(kind, IDENTITY):
            return
        if issubclass(kind, Tensor):
            if hasattr(kind, name):
                self.attribute(value, name)
            return
        found = self._stored(value, kind, name)
        if found is MISSING and part not in (None, ("literal", ())):
            self._refuse_nested(f"{kind.__name__}.{name}, which code gives,")
        if found is not None and found is not MISSING:
            self._taken_apart(found, part)

    def _names_at(self, kind, place):
        """The attributes that a class pattern may mean by a place."""
        found = set()
        for cls in kind.__mro__:
            names = cls.__dict__.get("__match_args__") if cls.__flags__ & HEAP else None
            if type(names) is tuple:
                self.look_up(cls, (cls,), "__match_args__")
                found.update(names[place : place + 1])
        return sorted(found)

    def _stored(self, value, kind, name):
        """What an object has under a name; None: nothing; MISSING: code says it, which is observed
        when the pattern asks for it."""
        cls, found = self.look_up(kind, kind.__mro__, name)
        own = in_mro(kind.__mro__, "__getattribute__")[0]
        space, row = dict_of(value), self.row_of(value)
        if own is not None and own.__flags__ & HEAP:
            return MISSING
        if type(found) is _MEMBER:
            now = getattr(value, name, MISSING)
            if (id(value), name) not in self.written:
                self.row("member", row, found, now, raw=True)
            return None if now is MISSING else now
        if found is not MISSING and hasattr(type(found), "__get__"):
            self.prepare(type(found))
            if hasattr(type(found), "__set__") or name not in (space or ()):
                return MISSING
        if space is not None:
            self.read_key(space, name, raw=True, owner=value)
            if name in space:
                return space[name]
        if found is MISSING:
            return None if in_mro(kind.__mro__, "__getattr__")[0] is None else MISSING
        if cls.__flags__ & HEAP:
            self._known_in_class(cls, name, found, raw=True)
        return found

    def _refuse_nested(self, what):
        self.refuse(f"a pattern takes apart {what} within another pattern",
                    next="bind it to a name in the pattern, and match that")  # fmt: skip
