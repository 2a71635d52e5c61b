"""Floats and arrays that a traced function reads, where a later call may find others.

A float is guarded by its value first: the programs of a function hold for it. At the first call
that finds another one at the same place it becomes an input, and a new capture reads a SymFloat
there; from then on a change costs nothing. An optimizer's settings are inputs at once. So there are
two traces at most for a float, however many values it takes.

A NumPy array is an input at once (arrays.py).

How they are found is the snapshot's business (state.py); which are inputs is decided here.
"""

from _thread import RLock

from .. import _lathe

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
    return Made(value) if type(value) is _lathe.SymFloat else value


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
                place.put(stand_in)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for place, stand_in, value in self._all:
            _stand_ins.pop(id(stand_in), None)
            if place.how is None:
                continue
            try:
                mine = place.now() is stand_in
            except (LookupError, ValueError, AttributeError):  # the traced code took it away
                mine = False
            if mine:
                place.put(value)
        self._lock.release()


class Varying:
    """Which floats of one state are inputs: those that were seen to change."""

    def __init__(self, floats, before=None):
        if before is None:
            self.exact = [f.exact for f in floats]
            self.inputs = [i for i, f in enumerate(floats) if f.setting]
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
