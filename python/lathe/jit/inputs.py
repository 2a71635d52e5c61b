"""Floats and arrays that a traced function reads, where a later call may find others.

A float is guarded by its value first: the programs of a function hold for it. At the first call
that finds another one at the same place it becomes an input, and a new capture reads a SymFloat
there; from then on a change costs nothing. An optimizer's settings are inputs at once. So there are
two traces at most for a float, however many values it takes.

A NumPy array is an input at once (arrays.py).

What stands for one in a capture has its operators, and answers isinstance() as it does; code that
asks for its type, or is written in C and takes nothing but a float, can tell the difference. Where
that is known such values are taken by value (ByValue): they are what they are, and part of the key
of a state.

How they are found is the snapshot's business (state.py); which are inputs is decided here.
"""

from _thread import RLock

from .. import _lathe
from .arrays import StandIn, digest

_stand_ins = {}  # of the captures under way, by id: (itself, what is there)


def is_float(kind):
    """Python's float, NumPy's, or what stands for one in a capture."""
    return (
        kind is float
        or kind is _lathe.SymFloat
        or (issubclass(kind, float) and kind.__module__ == "numpy")
    )


def original(value):
    """What `value` stands in for, or itself. A SymFloat that traced code has made is no float."""
    known = _stand_ins.get(id(value))
    if known:
        return known[1]
    if type(value) is _lathe.SymFloat:
        return Made(value) if value.settled is None else value.settled
    return value.for_others() if issubclass(type(value), StandIn) else value


class Made:
    """What traced code has made of a SymFloat: no float equals it."""

    def __init__(self, value):
        self.value = value

    def hex(self):
        return id(self.value)


class Place:
    """Where a value was found: the item `at` of a dict or list, the content of a cell, an
    attribute; None: in the arguments, whose containers a capture makes anew."""

    __slots__ = ("how", "container", "at")

    def __init__(self, how, container, at):
        self.how, self.container, self.at = how, container, at

    @property
    def key(self):
        return id(self.container), self.at

    def now(self):
        if self.how == "cell":
            return self.container.cell_contents
        if self.how == "attribute":
            return self._base.__getattribute__(self.container, self.at)
        return self._base.__getitem__(self.container, self.at)

    def put(self, value):
        if self.how == "cell":
            self.container.cell_contents = value
        elif self.how == "attribute":
            self._base.__setattr__(self.container, self.at, value)
        elif self.how == "item":
            self._base.__setitem__(self.container, self.at, value)

    @property
    def _base(self):
        """The class that keeps them, whatever one derived from it does when they are set."""
        kinds = (type, object) if self.how == "attribute" else (dict, list)
        return kinds[0] if isinstance(self.container, kinds[0]) else kinds[1]


class Float(Place):
    """A float; setting: it is there to be changed."""

    __slots__ = ("value", "setting")

    def __init__(self, value, how, container, at, setting):
        super().__init__(how, container, at)
        self.value, self.setting = value, setting

    @property
    def exact(self):
        return type(self.value), self.value.hex()


class Array:
    """A NumPy array, the number and place of its tensor among the snapshot's, and where it is."""

    __slots__ = ("value", "number", "tensor", "places")

    def __init__(self, value, number, tensor, place):
        self.value, self.number, self.tensor, self.places = value, number, tensor, [place]


class StandIns:
    """While it is entered, traced code reads others where the inputs are: one capture at a time."""

    _lock = RLock()

    def __init__(self):
        self._all = []  # (place, what stands there, what is there)
        self.by_place = {}

    def add(self, place, stand_in, value):
        self._all.append((place, stand_in, value))
        self.by_place[place.key] = stand_in

    def __enter__(self):
        self._lock.acquire()
        try:
            for place, stand_in, value in self._all:
                _stand_ins[id(stand_in)] = (stand_in, value)
                place.put(stand_in)  # from now on other threads find it, and are to see `value`
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for place, stand_in, value in self._all:
            _stand_ins.pop(id(stand_in), None)
            if isinstance(stand_in, StandIn):  # a float's result is still to be read: jit.cpp does
                stand_in.settle()
            if place.how is None:
                continue
            try:
                mine = place.now() is stand_in
            except (LookupError, ValueError, AttributeError):  # the traced code took it away
                mine = False
            if mine:
                place.put(value)
        self._lock.release()


class ByValue:
    """The floats and arrays of a state that are no inputs: their numbers, and why, in words."""

    def __init__(self, floats=(), arrays=(), why=()):
        self.floats, self.arrays = frozenset(floats), frozenset(arrays)
        self.why = why if isinstance(why, tuple) else (why,)

    def __bool__(self):
        return bool(self.floats or self.arrays)

    def __or__(self, other):
        why = self.why + tuple(w for w in other.why if w not in self.why)
        return ByValue(self.floats | other.floats, self.arrays | other.arrays, why)

    def key(self, state):
        """What has to be equal."""
        floats = [(i, state.floats[i].exact) for i in sorted(self.floats)]
        return (*floats, *((i, digest(state.arrays[i].value)) for i in sorted(self.arrays)))


NOTHING = ByValue()
_OURS = (TypeError, AttributeError)  # what code in C raises that finds no float, or no array


def may_be_ours(problem):
    """Is it an error, or was it made of one, that a stand-in may have led to?"""
    seen = set()
    while problem is not None and id(problem) not in seen:
        if isinstance(problem, _OURS):
            return True
        seen.add(id(problem))
        problem = problem.__cause__ or problem.__context__
    return False


class Varying:
    """Which floats of one state are inputs: those that were seen to change."""

    def __init__(self, floats, by_value, before=None):
        if before is None:
            self.exact = [f.exact for f in floats]
            fixed = by_value.floats
            self.inputs = [i for i, f in enumerate(floats) if f.setting and i not in fixed]
        else:
            self.exact = before.exact
            self.inputs = sorted({*before.inputs, *before.changed(floats)})

    def changed(self, floats):
        """The numbers of those that are no inputs and are not as they were."""
        known = set(self.inputs)
        return [i for i, f in enumerate(floats) if i not in known and f.exact != self.exact[i]]

    def of(self, floats):
        """The floats that are inputs."""
        return [floats[i] for i in self.inputs]
