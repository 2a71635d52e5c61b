"""What Python's objects hold, around a part of a script that data decides about.

A part runs once while it is recorded, whatever the data say, so what it changes is looked at and
put back. Objects whose structure stays (a list as long as before, a dict with the same keys, the
attributes of an object) then get the joined values, in place; anything else is refused.
"""

import types
from _collections import deque

from .._lathe import Tensor
from .observe.recording import base_of, copied, dict_of, fill
from .observe.rows import is_plain
from .script_lists import DataList
from .script_values import Number

_BOXES = (list, dict, set, deque)
_NO_OBJECTS = (Tensor, type, types.ModuleType, Number)


class Box:
    """A list, a dict, or the attributes of an object, and what it held at a moment."""

    __slots__ = ("obj", "owner", "then")

    def __init__(self, obj, owner):
        self.obj, self.owner = obj, owner
        self.then = contents(obj)

    def said(self):
        """In the user's words."""
        return f"a {type(self.obj if self.owner is None else self.owner).__name__}"

    def named(self, key):
        if type(self.owner) is DataList:
            return "a list that grows as data decides"
        if self.owner is not None:
            return f"{self.said()}'s attribute {key!r}"
        return f"item {key!r} of {self.said()}"


def contents(obj):
    if isinstance(obj, dict):
        return copied(obj)
    if isinstance(obj, (list, deque)):
        return list(base_of(type(obj)).__iter__(obj))
    if isinstance(obj, set):
        return set(obj)
    return _position(obj)


def _position(iterator, level=0):
    """How far an iterator is."""
    frame = getattr(iterator, "gi_frame", None)
    if frame is not None:
        return frame.f_lasti
    try:
        state = iterator.__reduce__()[1:]
    except TypeError:
        return None
    return [_position(s, level + 1) if hasattr(type(s), "__next__") and level < 8 else s
            for part in state for s in (part if isinstance(part, tuple) else (part,))
            if is_plain(s) or hasattr(type(s), "__next__")]  # fmt: skip


def alike(a, b):
    """The same contents? Objects count by identity."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(_same, a.values(), b.values()))
    if isinstance(a, set):
        return a == b
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return a == b


def _same(a, b):
    if a is b:
        return True
    return type(a) is type(b) and is_plain(a) and repr(a) == repr(b)


class Heap:
    """All that names lead to, and all that the capture has written to, at a moment. `own`: names
    that nothing reads after the part; what only they lead to is put back, and not joined."""

    def __init__(self, session, spaces, own=None):
        self._session = session
        observer = session.observer
        self.boxes, self.references, self._seen = {}, {}, {}
        self._walk(spaces, [c for c, _ in observer.before.values()])
        self.shared = set(self._seen)
        self._walk([own] if own is not None else [], [])
        self._slots = {k: _slot(*v[:2]) for k, v in observer.slots.items()}
        self._written = set(observer.written)

    def _walk(self, spaces, others):
        waiting = [(v, None) for s in spaces for v in s.values()]
        waiting += [(o, None) for o in others]
        seen = self._seen
        while waiting:
            value, owner = waiting.pop()
            self.references[id(value)] = self.references.get(id(value), 0) + 1
            if id(value) in seen or is_plain(value) or isinstance(value, _NO_OBJECTS):
                continue
            seen[id(value)] = value
            waiting += [(v, None) for v in self._inside(value, owner)]
            space = dict_of(value)
            if space is not None and not _is_ours(value):
                waiting.append((space, value))

    def _inside(self, value, owner):
        if hasattr(type(value), "_is_optional"):
            return [value.value]
        if hasattr(type(value), "outer_names"):  # a function inside the script
            return list(value.outer_names().values())
        if isinstance(value, (tuple, frozenset)):
            return list(value)
        if isinstance(value, _BOXES):
            self.boxes[id(value)] = Box(value, owner)
            return [*value.values(), *value.keys()] if isinstance(value, dict) else list(value)
        if hasattr(type(value), "__next__"):
            self.boxes[id(value)] = Box(value, None)
        elif isinstance(value, types.MethodType):
            return [value.__self__]
        return []

    def is_private(self, key):
        return key not in self.shared and key in self._seen

    # ── after a part ────────────────────────────────────────────────────────────────────────────

    def changes(self):
        """{id: what it holds now} of all that was changed since. What came in reach since then is
        one of the boxes now, if it was there before the capture."""
        observer = self._session.observer
        for key, (obj, old) in observer.before.items():
            if key not in self.boxes:
                box = self.boxes[key] = Box(obj, None)
                box.then = contents(old)
        found = {}
        for key, box in self.boxes.items():
            now = contents(box.obj)
            if not alike(box.then, now):
                found[key] = now
        return found

    def slots_changed(self):
        """What has no __dict__ to look at: attributes of classes, and of __slots__."""
        for key, (obj, name, old) in self._session.observer.slots.items():
            if _slot(obj, name) is not self._slots.get(key, old):
                return True
        return False

    def put_back(self, changes):
        for key in changes:
            box = self.boxes[key]
            if isinstance(box.obj, _BOXES):
                fill(box.obj, box.then)
        written = self._session.observer.written
        written.intersection_update(self._written)

    def can_put_back(self, key):
        return isinstance(self.boxes[key].obj, _BOXES)

    def put(self, slot, value):
        """Gives an object what it holds under a key after the part."""
        box = self.boxes[slot[0]]
        base_of(type(box.obj)).__setitem__(box.obj, slot[1], value)
        self._session.observer.written.add((id(box.obj), slot[1]))

    def held(self, slot):
        """What an object held under a key, read as the program will read it."""
        o, (at, key) = self._session.observer, slot
        box = self.boxes[at]
        if isinstance(box.obj, dict):
            if box.owner is not None:
                o.dict_row(box.owner, box.obj)
            return self._value(o.key_row(box.obj, key), box.then[key])
        if id(box.obj) in o.known:
            o.contents(box.obj)
        return self._value(None, box.then[key])

    def before(self, slot):
        """What an object held under a key, if it was there."""
        box = self.boxes.get(slot[0])
        if box is None or isinstance(box.then, dict) and slot[1] not in box.then:
            return None
        return box.then[slot[1]]

    def now(self, slot):
        box = self.boxes[slot[0]]
        return base_of(type(box.obj)).__getitem__(box.obj, slot[1])

    def changed_slots(self, key, now):
        """The keys under which an object holds another thing; None: its structure is another."""
        box = self.boxes[key]
        if not isinstance(box.obj, (list, dict, deque)) or structure(now) != structure(box.then):
            return None
        keys = now if isinstance(now, dict) else range(len(now))
        return [(key, k) for k in keys if not _same(now[k], box.then[k])]

    def _value(self, row, value):
        o = self._session.observer
        return o.given(row, o.received(value))


def _is_ours(value):
    """Of the library's own capture, or a function: no object of the user's state."""
    return isinstance(value, types.FunctionType) or (
        type(value).__module__.startswith("lathe.jit")
        and type(value) is not DataList
        and not hasattr(type(value), "forward")
    )


def _slot(obj, name):
    if isinstance(obj, type):
        return obj.__dict__.get(name)
    return getattr(obj, name, None)


def structure(items):
    """What has to stay the same: keys in order, or the length."""
    return list(items) if isinstance(items, dict) else len(items)


def said_of(items):
    if isinstance(items, dict):
        return f"keys {', '.join(map(repr, items))}" if items else "no keys"
    return f"{len(items)} items"
