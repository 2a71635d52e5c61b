"""The __dict__ of a class, as vars(C) and C.__dict__ give it: a view that is made anew each time.

What is read by a name is that name's guard, as for C.name; what looks at all of it reads the names
and, under each, the value.
"""

from types import MappingProxyType

from .recording import BOXES, HEAP, MISSING, in_mro
from .rows import IDENTITY, is_plain

_TYPES_OWN = type.__dict__["__dict__"]


def _names_in(cls):
    return tuple(_TYPES_OWN.__get__(cls))


class ClassDicts:
    """Of an Observer."""

    def start_class_dicts(self):
        self.shown = {}  # by id of a view: (itself, the class)

    def note_view(self, cls, view):
        """A class was asked for its __dict__, and has given this."""
        own = in_mro(type(cls).__mro__, "__dict__")[1] is _TYPES_OWN
        if own and cls.__flags__ & HEAP:
            self.shown[id(view)] = view, cls
        return view

    def class_shown(self, view):
        """The class whose __dict__ it is; None: it is something else."""
        found = self.shown.get(id(view)) if type(view) is MappingProxyType else None
        return found and found[1]

    def read_shown(self, cls, name):
        """What a class has itself under a name; MISSING: nothing."""
        value = self.look_up(cls, (cls,), name)[1]
        if value is MISSING:
            return value
        self._known_in_class(cls, name, value)
        return self.received(self._of_class_itself(cls, name, value))

    def read_all_shown(self, cls):
        """All names and values are looked at, by what cannot be seen."""
        if (id(cls), "shown") in self.whole or not self.was_there(cls):
            return
        names = _names_in(cls)
        if any(owner is cls for owner, _, _ in self.slots.values()) or not is_plain(names):
            self.refuse(f"all attributes of the class {cls.__name__} are looked at, after the "
                        "traced code has set some", next="read them by name")  # fmt: skip
        self.whole.add((id(cls), "shown"))
        self.row("of_value", self.constant(cls), _names_in, names)
        for name in names:
            value = self.look_up(cls, (cls,), name)[1]
            self._known_in_class(cls, name, value, raw=True)
            self.prepare(type(value))
            if issubclass(type(value), BOXES):
                self.contents(value, deep=True)

    def _known_in_class(self, cls, name, value, raw=False):
        """A row of its own, since code may ask what it is: a staticmethod, say."""
        if (id(cls), name) not in self.written and self.was_there(cls) and (
            raw or not is_plain(value) and not issubclass(type(value), IDENTITY)
        ):  # fmt: skip
            self.row("class", self.constant(cls), name, value, raw)
