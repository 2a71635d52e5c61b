"""Containers that C goes through: in loops, stars, unpackings, `items()`, `zip` and such.

C takes what is there, so each item is read as it is (`contents`), and a number among them is part
of the program. Where one has been seen to change it is an input instead, and C is given a copy of
the container, in which what stands for the input is in its place. A copy does not see what the
code writes to the container while C is still going through it: the capture then begins anew,
without inputs.
"""

import sys

from ..._lathe import Tensor
from .recording import BOXES, Restart
from .rows import is_number, is_plain


def _references(copies):
    """How many references there are to each."""
    found = []
    for copy in copies:
        found.append(sys.getrefcount(copy))  # noqa: PERF401, how many are ours is as below
    return found


_UNUSED = _references([{}])[0]  # to a copy that nobody goes through


class Shown:
    """What an Observer makes of containers that C goes through."""

    def start_shown(self):
        self._shown = {}  # by id of the container: it, and the copies that C was given

    def iterated(self, value):
        """What a loop, a star or an unpacking goes through."""
        if not self.on():
            return value
        value = self.behind(value)
        copy = self.with_inputs(value, True)
        return self.use(value) if copy is None else copy

    def spread(self, value):
        """What becomes named arguments."""
        if not self.on():
            return value
        copy = self.with_inputs(value)
        return self.use(value) if copy is None else copy

    def with_inputs(self, value, keys=False):
        """A copy of a list, tuple or dict from outside with what stands for the numbers in it that
        are inputs. None: there is no such number. keys: of a dict these alone are gone through, so
        that it is its own copy."""
        kind = type(value)
        if kind not in (list, tuple, dict) or not (self.varying and self.inputs):
            return None
        row = self.row_of(value)
        if row is None or row.test == "equal" or id(value) in self.changed_later:
            return None
        if kind is not dict and id(value) in self.before:
            return None
        if not self._holds_inputs(row, value, kind):
            return None
        if kind is dict:
            self._keyed(row, value)
            if keys:
                return value
        copy = self._as_dict(value) if kind is dict else self._as_sequence(row, value, kind)
        self._shown.setdefault(id(value), (value, []))[1].append(copy)
        return copy

    def _holds_inputs(self, row, value, kind):
        step, path = ("key" if kind is dict else "item"), row.path
        items = value.items() if kind is dict else enumerate(value)
        found = False
        for key, item in items:
            if not is_plain(key):
                return False
            at = (*path, step, key)
            if type(item) is tuple:
                found = found or any(place[: len(at)] == at for place in self.varying)
            may_vary = is_number(item) or type(item) is Tensor
            found = found or may_vary and at in self.varying
        return found

    def reads_size(self, value):
        """A read of how many items a list or dict has, and of no item. False: of another thing."""
        if type(value) not in (list, dict) or id(value) in self.changed_later:
            return False
        row = self.row_of(value)
        if row is None:
            return True
        if type(value) is dict and all(map(is_plain, value)):
            self._keyed(row, value)  # also after a store: of the keys that there were before
            return True
        if type(value) is dict or id(value) in self.before:
            return False
        self._once_sized(row, value)
        return True

    def in_question(self, value):
        """Is it true? Of a list or dict: is there anything in it?"""
        return value if self.on() and self.reads_size(value) else self.use(value)

    def _keyed(self, row, value):
        if ("keys", row.n) not in self.whole:
            self.whole.add(("keys", row.n))
            old = self.before.get(id(value))
            self._also(row, "keys", tuple(old[1] if old else value))

    def _as_dict(self, value):
        return {k: self._inside(self.read_key(value, k), v) for k, v in value.items()}

    def _as_sequence(self, row, value, kind):
        self._once_sized(row, value)
        return kind(self._inside(self.row("item", row, i, v), v) for i, v in enumerate(value))

    def _inside(self, row, value):
        """An item of a copy. A tuple, which nobody can write to, is copied as well; into what else
        there is C may go, too: `for a, (b, c) in pairs`."""
        kind = type(value)
        copy = self.with_inputs(value) if kind is tuple else None
        if copy is not None:
            return copy
        self.prepare(kind)
        if issubclass(kind, BOXES) and not issubclass(kind, dict):
            self.contents(value)
        return self.given(row, self.received(value))

    def refuse_shown(self, container):
        """Before a container changes: is C still going through a copy of it?"""
        _, copies = self._shown.pop(id(container), (None, ()))
        if any(n > _UNUSED for n in _references(copies)):
            self.inputs, self.again = False, True
            raise Restart
