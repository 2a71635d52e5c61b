"""Rows: what was read, from where, and what has to be found there again.

A row is a step from an earlier row's value and a test of what is found. In words, for guards() and
for the reason of a capture, a row is said as the user would write the read: `self.layers[0].bias`.
"""

import types

from ... import _lathe
from ..._lathe import Tensor

MISSING = type("Missing", (), {"__repr__": lambda self: "nothing"})()

# What compares by value, whatever its identity.
PLAIN = (
    int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range,
    slice, _lathe.device,
)  # fmt: skip
# What is itself wherever it comes from.
IDENTITY = (
    type, types.FunctionType, types.ModuleType, types.BuiltinFunctionType,
    types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, _lathe.dtype, _lathe.Op, type(Tensor.relu),
    type(_lathe.manual_seed),
)  # fmt: skip
_SPELLED = {
    "arguments": "args", "named": "kwargs", "type": "type({0})", "grad": "{0}.grad",
    "cell": "{0}", "content": "{0}", "reference": "{0}()", "dict": "{0}", "value": "{0}",
    "default_dtype": "get_default_dtype()",
}  # fmt: skip


_MOST_ITEMS = 1000  # of what compares as one value


NUMBERS = ("float", "integer")  # tests of rows whose numbers are inputs of the program
_MOST_READ = 1 << 30  # as SymInt::kMostRead: beyond it, arithmetic might leave what C has room for


def is_number(value):
    """Can it be an input, where it changes from call to call?"""
    if type(value) is int:
        return -_MOST_READ <= value <= _MOST_READ
    return is_float(type(value))


def is_float(kind):
    """Python's float, or NumPy's."""
    return kind is float or issubclass(kind, float) and kind.__module__ == "numpy"


def is_array(kind):
    """NumPy's own class of arrays: subclasses may mean anything."""
    return kind.__name__ == "ndarray" and kind.__module__ == "numpy"


def is_plain(value):
    """Does it compare by value, with all that it holds?"""
    kind = type(value)
    if kind not in (tuple, frozenset):
        return kind in PLAIN or is_float(kind)
    waiting, count = [value], 0
    while waiting:
        for item in waiting.pop():
            kind = type(item)
            count += 1
            if count > _MOST_ITEMS:
                return False
            if kind in (tuple, frozenset):
                waiting.append(item)
            elif kind not in PLAIN and not is_float(kind):
                return False
    return True


class Row:
    """n: its number; value: what was found; owner: the row of whose dict this is the content."""

    __slots__ = (
        "n", "step", "parent", "key", "test", "wanted", "loose", "value", "pinned", "name",
        "setting", "weak", "kind",
    )  # fmt: skip

    def __init__(self, n, step, parent, key, test, wanted, value, name):
        self.n, self.step, self.parent, self.key = n, step, parent, key
        self.test, self.wanted, self.value, self.name = test, wanted, value, name
        self.loose = self.pinned = self.setting = self.weak = False
        self.kind = None  # types.FunctionType: another one may do the same

    @property
    def path(self):
        """The same for the same read of another capture."""
        if self.parent is None:
            return (self.step, str(self.key))
        key = self.key
        if isinstance(key, Row):
            key = key.path
        elif not isinstance(key, (str, int)):
            key = id(key)
        return (*self.parent.path, self.step, key)

    def __str__(self):
        """As the user would write the read."""
        if self.name:
            return self.name
        inner = str(self.parent) if self.parent is not None else ""
        if self.step == "key":
            if self.parent.step == "dict":
                owner = self.parent.parent
                return f"{owner}.{self.key}"
            return (
                f"{inner}[{self.key!r}]"
                if not isinstance(self.key, Row)
                else f"{inner}[{self.key}]"
            )
        if self.step == "item":
            return f"{inner}[{self.key}]"
        if self.step in ("member", "class", "part"):
            return f"{inner}.{getattr(self.key, '__name__', self.key)}"
        if self.step == "constant":
            return _named(self.value)
        if self.step == "answer":
            return f"{_named(self.key[0])}({', '.join(map(repr, self.key[1]))})"
        if self.step == "of_value":
            return f"{_named(self.key)}({inner})"
        return _SPELLED[self.step].format(inner)

    def found(self, now):
        """What it finds now, in words."""
        if self.test == "length" and type(now) is self.wanted[0]:
            return f"{len(now)}"
        return _short(now)

    def said(self):
        """The whole guard in words."""
        value = self.wanted
        if self.test == "equal":
            return f"{self} == {_short(value)}"
        if self.test == "absent":
            return f"{self} is not there"
        if self.test == "is":
            return f"{self} is {_short(value() if self.weak else value)}"
        if self.test == "again":
            return f"{self} is the same as an earlier one"
        if self.test == "array":
            return f"{self} is {_array_in_words(*value[1:])}"
        if self.test in ("type", "tensor", "hooked"):
            return f"{self} is a {value.__name__}"
        if self.test in NUMBERS:
            return f"{self} is {'a float' if self.test == 'float' else 'an int'}"
        if self.test == "length":
            return f"len({self}) == {value[1]}"
        if self.test == "keys":
            return f"list({self}) == {_short(list(value))}"
        if self.test == "bundle":
            return (
                f"{self} has what it had: {', '.join(entry[1] for entry in value[1:] if entry[1])}"
            )
        return str(self)

    def changed(self, now):
        """The paths of the numbers and functions that are others now; None: something else is."""
        if self.test == "equal" and is_one_kind(self.wanted, now):
            return [self.path]
        if self.kind is types.FunctionType is type(now):
            return [self.path]
        if self.test != "bundle":
            return None
        found = []
        for cls, name, value in (
            entry for entry in self.wanted[1:] if len(entry) == 3 and entry[1]
        ):
            there = cls.__dict__.get(name, MISSING)
            if there is not value and type(value) is int and there != value:
                if not is_one_kind(value, there):
                    return None
                found.append(path_in_class(cls, name))
        return found or None

    def close(self):
        """Lets go of what was found; what is said stays the same."""
        if self.step == "constant" and not self.name:
            self.name = _named(self.value)
        self.value = None


def is_one_kind(was, now):
    """Two floats, or two integers, that can be inputs."""
    floats = is_float(type(was)) and is_float(type(now))
    return floats or type(was) is type(now) is int and is_number(now)


def path_in_class(cls, name):
    """The path of the row of what a class has itself under a name."""
    return ("constant", str(id(cls)), "class", name)


def _named(value):
    return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or _short(value)


def _array_in_words(dtype, shape):
    sizes = ", ".join(map(str, shape))
    return f"an array of {str(dtype).rpartition('.')[2]}[{sizes}]"


def _short(value):
    """Never runs code of the user's."""
    if is_plain(value) or type(value) in (list, dict) and all(type(v) in PLAIN for v in value):
        text = repr(value)
    elif isinstance(value, (type, types.FunctionType, types.ModuleType)):
        text = value.__name__
    elif is_array(type(value)):
        text = _array_in_words(value.dtype, value.shape)
    else:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
