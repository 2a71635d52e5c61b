"""NumPy in a capture: its own code runs as it is, so what it may read is read for it.

That is all that it is handed, whatever is nested in what, and its error state and print options,
which are part of what a program holds for as soon as NumPy computes or writes a text. Functions
that it calls back run observed.
"""

import sys
import types
from _functools import partial

from ... import _lathe
from ..._lathe import Tensor
from .recording import BOXES, HEAP, dict_of
from .rows import is_array, is_plain

_REFUSED = (
    "load save savez savez_compressed savetxt loadtxt genfromtxt fromfile fromregex memmap seterr "
    "seterrcall setbufsize set_printoptions copyto put place putmask fill_diagonal"
)
_REFUSED = frozenset(_REFUSED.split())
_WRITES = "fill sort put partition resize setfield setflags itemset __setitem__ __iadd__ byteswap"
_WRITES = frozenset(_WRITES.split())


def numpy_state():
    """What NumPy's functions depend on besides their arguments: plain values, and what tells other
    objects apart. No code of the user's runs."""
    numpy = sys.modules["numpy"]
    return tuple(map(_apart, (numpy.geterr(), numpy.geterrcall(), numpy.get_printoptions())))


def _apart(value):
    """A value that equals another one's where both are equal and plain, or the same object: methods
    compare what they are bound to by identity."""
    if type(value) is dict:
        return tuple((_apart(k), _apart(v)) for k, v in value.items())
    return value if is_plain(value) else types.MethodType(_apart, value)


def is_scalar(kind):
    """A class of NumPy's scalars or of their types, whose methods read no more than their owner."""
    if kind.__module__ != "numpy":
        return False
    numpy = sys.modules["numpy"]
    return issubclass(kind, (numpy.generic, numpy.dtype))


def as_operand(value, other):
    """An operand: beside NumPy's numbers and arrays an integer is the one that it is now."""
    if type(value) is _lathe.SymInt and type(other).__module__ == "numpy":
        return int(value)
    return value


class OfNumpy:
    """What an Observer makes of NumPy."""

    def start_numpy(self):
        self.meets_numpy = False
        self.handed = []  # kept alive, since they are known by address
        self.in_numpy = 0  # while it is not 0, the elements of each array that is met are read

    def note_numpy(self):
        """At the end: the state that NumPy has read."""
        if self.meets_numpy or self.net.noted:
            now = numpy_state()
            name = "NumPy's error state and print options"
            row = self._add("answer", None, (numpy_state, ()), "equal", now, now, name)
            row.pinned = True

    def method_of_numpy(self, f, owner, name, args, kwargs):
        if is_array(type(owner)):
            row = self.row_of(owner)
            if name in _WRITES:
                self.mutated.append(owner)
            if row is not None:
                if name in _WRITES:
                    self.refuse("a NumPy array from outside is written to")
                self.read_elements(owner, row)
        return self._by_numpy(f, args, kwargs)

    def call_numpy(self, f, args, kwargs):
        """NumPy's functions and classes, and what its classes have made."""
        name = getattr(f, "__name__", "")
        if f.__module__.startswith("numpy.random") or name in _REFUSED:
            self.refuse_call(f, None, name)
        if dict_of(f) is not None and not isinstance(f, (type, types.FunctionType)):
            self.hand_over(f)
        for value in (*args, *kwargs.values()):
            self.hand_over(value)
        args = [self._plain_argument(a) for a in args]
        kwargs = {k: self._plain_argument(v) for k, v in kwargs.items()}
        return self._by_numpy(f, args, kwargs)

    def beside_numpy(self, *values):
        """Operands, of which one is NumPy's."""
        self.meets_numpy = True
        for value in values:
            self.let_c_convert(value)

    def let_c_convert(self, value):
        """C makes an array of it, by methods that may give away arrays from outside."""
        kind = type(value)
        if kind in (list, tuple):
            for item in value:
                self.let_c_convert(item)
        elif (
            kind.__flags__ & HEAP
            and not issubclass(kind, (type, Tensor, *BOXES))
            and not kind.__module__.startswith("numpy")
        ):
            self.let_c_call(value)
            self.in_numpy += 1  # from now on: nothing says when C is done with it

    def _by_numpy(self, f, args, kwargs):
        self.meets_numpy = True
        self.in_numpy += 1
        try:
            return f(*args, **kwargs)
        finally:
            self.in_numpy -= 1

    def hand_over(self, value):
        """Reads all that code which is not observed may read of a value."""
        kind = type(value)
        if ("handed", id(value)) in self.whole or is_plain(value):
            return
        self.whole.add(("handed", id(value)))
        self.handed.append(value)
        if isinstance(value, sys.modules["numpy"].dtype):
            self.row("of_value", self.row_of(value), repr, repr(value))
            return
        if kind.__flags__ & HEAP and kind.__module__.startswith("numpy"):
            space = dict_of(value) or {}
            for name in list(space):  # whose methods run as they are, too
                if name.startswith("_") and type(space[name]) is dict:
                    continue  # what it has made of the rest before
                self.read_key(space, name, owner=value)
                self.hand_over(space[name])
            return
        self.use(value)
        if issubclass(kind, BOXES):
            for item in dict.values(value) if issubclass(kind, dict) else value:
                self.hand_over(item)
        elif callable(value) and not isinstance(value, type):
            self._hand_over_function(value)

    def _hand_over_function(self, f):
        self.let_c_call(f)
        self.look_through(f)
        if type(f) is partial:
            for value in (f.func, f.args, f.keywords):
                self.hand_over(value)
        owner = getattr(f, "__self__", None)
        if type(f) is not types.BuiltinFunctionType or isinstance(owner, (type, types.ModuleType)):
            return
        if self.reads_only(owner, f.__name__):
            self.row("part", self.row_of(f), "__self__", owner)
            self.contents(owner, deep=True)
        elif owner is not None:
            self.refuse_call(f, owner, f.__name__)


__all__ = ["OfNumpy", "as_operand", "is_scalar"]
