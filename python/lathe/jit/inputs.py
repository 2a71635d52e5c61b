"""Floats that a traced function reads, where a later call may find others.

A float is guarded by its value first: the programs of a function hold for it. At the first call
that finds another one at the same place it becomes an input, and a new capture reads a SymFloat
there; from then on a change costs nothing. An optimizer's settings are inputs at once. So there are
two traces at most for a float, however many values it takes.

How a float is found is the snapshot's business (state.py); which are inputs is decided here.
"""

from .. import _lathe

_stand_ins = {}  # of the captures under way, by id: (SymFloat, what is there)


def is_float(kind):
    """Python's float, NumPy's, or what stands for one in a capture."""
    return (
        kind is float
        or kind is _lathe.SymFloat
        or (issubclass(kind, float) and kind.__module__ == "numpy")
    )


def original(value):
    """The float itself, where `value` stands in for it. Another SymFloat, which traced code has put
    somewhere, is none."""
    if type(value) is not _lathe.SymFloat:
        return value
    known = _stand_ins.get(id(value))
    return known[1] if known else Made(value)


class Made:
    """What traced code has made of a SymFloat: no float equals it."""

    def __init__(self, value):
        self.value = value

    def hex(self):
        return id(self.value)


class Float:
    """One that was found, and where: the item `at` of a dict or list, the content of a cell, an
    attribute; None: in the arguments, whose containers a capture makes anew."""

    __slots__ = ("value", "how", "container", "at", "setting")

    def __init__(self, value, how, container, at, setting):
        self.value, self.how, self.container, self.at = value, how, container, at
        self.setting = setting

    @property
    def exact(self):
        return type(self.value), self.value.hex()

    @property
    def place(self):
        return id(self.container), self.at

    def now(self):
        if self.how == "cell":
            return self.container.cell_contents
        if self.how == "attribute":
            return getattr(self.container, self.at)
        return self._base.__getitem__(self.container, self.at)

    def put(self, value):
        if self.how == "cell":
            self.container.cell_contents = value
        elif self.how == "attribute":
            setattr(self.container, self.at, value)
        elif self.how == "item":
            self._base.__setitem__(self.container, self.at, value)

    @property
    def _base(self):
        """The class whose items they are, whatever a subclass makes of an item that is set."""
        return dict if isinstance(self.container, dict) else list


class StandIns:
    """While it is entered, traced code reads SymFloats where the floats are."""

    def __init__(self, floats, symbols):
        self.pairs = [(f, s) for f, s in zip(floats, symbols)]
        self.by_place = {f.place: s for f, s in self.pairs}

    def __enter__(self):
        for f, symbol in self.pairs:
            _stand_ins[id(symbol)] = (symbol, f.value)
            f.put(symbol)
        return self

    def __exit__(self, *_):
        for f, symbol in self.pairs:
            _stand_ins.pop(id(symbol), None)
            if f.how is None:
                continue
            try:
                mine = f.now() is symbol
            except (LookupError, ValueError, AttributeError):  # the traced code took it away
                mine = False
            if mine:
                f.put(f.value)


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
