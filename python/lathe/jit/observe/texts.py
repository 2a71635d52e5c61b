"""Texts of tensors and of numbers that only running the program tells: made when it runs.

In a capture `f"loss {loss}"` is a Text: parts that are known, and parts that say how they are made
of values of the program. It can be put together with others, printed and warned with: print() and
warnings.warn() become ordered calls of the program (printing.py). Whatever else is done with it is
refused if a tensor is in it; else it becomes the text that it is now, and its sizes and floats are
guarded.
"""

import itertools
import types
from _functools import reduce
from _operator import mod

from ... import _lathe, ops
from ..._grad_mode import no_grad
from ..._lathe import Tensor
from .operators import number_of
from .recording import HEAP, MISSING, in_mro
from .rows import IDENTITY, is_plain
from .symbolic import kind_of_number, number_as_tensor

_BOXES = (list, tuple, set, frozenset, dict)
_SYMBOLIC = (_lathe.SymInt, _lathe.SymFloat)
_MOST_LEVELS = 64


def _of_program(kind):
    return issubclass(kind, (Tensor, Text)) or kind in _SYMBOLIC or hasattr(kind, "_is_data")


def _is_named(kind):
    return issubclass(kind, tuple) and hasattr(kind, "_make")


def _is_of_dataclass(kind, method):
    inner = getattr(method, "__wrapped__", None)
    made = inner is not None and inner.__code__.co_filename == "<string>"
    return made and hasattr(kind, "__dataclass_fields__")


# ── values, as a run has them ───────────────────────────────────────────────────────────────────
# Each says which tensors of the program it reads (`tensors`); what it is once an iterator gives
# those (`now`); and what it is for a program that holds for this value only (`settled`): a size or
# a float then becomes a guard, and what data decides has none.


class _Plain:
    def __init__(self, value):
        self._value = value

    def tensors(self):
        return ()

    def now(self, tensors):
        return self._value

    def again(self, tensors):
        return self

    def key(self):
        return ("plain", repr(self._value) if is_plain(self._value) else id(self._value))

    def settled(self):
        return self._value


class _Unsettled(Exception):
    """Data decides the value."""


class _Shown:
    """A tensor whose text ends as that of the traced function's: with its history."""

    def __init__(self, tensor, history):
        self._tensor, self._history = tensor, history

    def __repr__(self):
        return _lathe._tensor_text(self._tensor, self._history)

    def __format__(self, spec):
        return format(self._tensor, spec) if self._tensor.ndim == 0 or spec else repr(self)

    def __getattr__(self, name):
        return getattr(self._tensor, name)

    def __getitem__(self, key):
        return self._tensor[key]

    def __float__(self):
        return float(self._tensor)

    def __int__(self):
        return int(self._tensor)


class _OfTensor:
    def __init__(self, tensor, history):
        self._tensor, self._history = tensor, history

    def tensors(self):
        return (self._tensor,)

    def now(self, tensors):
        t = next(tensors)
        return _Shown(t, self._history) if self._history else t

    def again(self, tensors):
        return _OfTensor(next(tensors), self._history)

    def key(self):
        return ("tensor", self._tensor.dtype, self._tensor.ndim, self._history)

    def settled(self):
        raise _Unsettled


class _OfNumber:
    def __init__(self, value, kind=None):
        self._value, self._kind = value, kind or kind_of_number(value)

    def tensors(self):
        if isinstance(self._value, Tensor):
            return (self._value,)
        return (number_as_tensor(self._value),)

    def now(self, tensors):
        return self._kind(next(tensors).item())

    def again(self, tensors):
        return _OfNumber(next(tensors), self._kind)

    def key(self):
        return ("number", self._kind)

    def settled(self):
        if hasattr(type(self._value), "_is_data") or isinstance(self._value, Tensor):
            raise _Unsettled
        return self._value


class _Box:
    def __init__(self, kind, items):
        self._kind, self._items = kind, items

    def tensors(self):
        return [t for item in self._items for t in item.tensors()]

    def now(self, tensors):
        return self._kind([item.now(tensors) for item in self._items])

    def again(self, tensors):
        return _Box(self._kind, [item.again(tensors) for item in self._items])

    def key(self):
        return ("box", self._kind, *[item.key() for item in self._items])

    def settled(self):
        return self._kind([item.settled() for item in self._items])


class _Spoken:
    def __init__(self, text, short):
        self._text, self._short = text, short

    def __repr__(self):
        return self._text

    def __str__(self):
        return self._short


class _Said:
    """An object among other values, whose texts are made already: its repr() and its str()."""

    def __init__(self, *texts):
        self._texts = texts

    def tensors(self):
        return [t for text in self._texts for t in text.tensors()]

    def now(self, tensors):
        return _Spoken(*[text.now(tensors) for text in self._texts])

    def again(self, tensors):
        return _Said(*[text.again(tensors) for text in self._texts])

    def key(self):
        return ("said", *[text.key() for text in self._texts])

    def settled(self):
        return _Spoken(*[text.settled() for text in self._texts])


class _Made:
    """A part of a text: what a function makes of values."""

    def __init__(self, function, *values):
        self._function, self._values = function, values

    def tensors(self):
        return [t for v in self._values for t in v.tensors()]

    def now(self, tensors):
        return self._function(*[v.now(tensors) for v in self._values])

    def again(self, tensors):
        return _Made(self._function, *[v.again(tensors) for v in self._values])

    def key(self):
        return ("made", self._function, *[v.key() for v in self._values])

    def settled(self):
        return self._function(*[v.settled() for v in self._values])


class Chosen:
    """One of several texts, as data decides. index: an integer tensor, which of them it is."""

    def __init__(self, index, texts):
        self._index, self._texts = index, texts

    def tensors(self):
        return [self._index, *[t for text in self._texts for t in tensors_of(text)]]

    def now(self, tensors):
        which, said = int(next(tensors).item()), None
        for i, text in enumerate(self._texts):
            given = [next(tensors) for _ in tensors_of(text)]
            if i == which:  # those of the others are stand-ins
                said = text if type(text) is str else text.now(iter(given))
        return said

    def again(self, tensors):
        index = next(tensors)
        return Chosen(index, [text_again(text, tensors) for text in self._texts])

    def key(self):
        return ("chosen", *[key_of(text) for text in self._texts])

    def settled(self):
        raise _Unsettled

    def each(self, inner):
        """What inner() gives of each text, with the questions that decide for it."""
        return [(((self._index, i), *asked), what)
                for i, text in enumerate(self._texts) for asked, what in inner(text)]  # fmt: skip


# ── texts ───────────────────────────────────────────────────────────────────────────────────────

_MOST_CASES = 256


def tensors_of(text):
    return [] if type(text) is str else text.tensors()


def text_again(text, tensors):
    """The same text of other tensors: an iterator gives them in the order of tensors_of()."""
    return text if type(text) is str else text.again(tensors)


def key_of(text):
    """Equal for texts that differ in their tensors only."""
    return text if type(text) is str else text.key()


def cases_of(text):
    """All that a text may say: [(questions, a str)]. It does where the answer to each is yes; a
    question is an integer tensor, and what it must be."""
    return [((), text)] if type(text) is str else text.cases()


def options_of(text):
    """The texts that a text is one of: [(questions, str or Text)]."""
    return [((), text)] if type(text) is str else text.options()


def holds(questions):
    """Where the answers are yes: a bool tensor."""
    return reduce(ops.logical_and, [ops.eq(index, i) for index, i in questions])


class Text:
    """A text of the program, in a capture."""

    __slots__ = ("_parts", "_observer")
    _is_text = True  # for who makes results

    def __init__(self, observer, parts):
        self._observer = observer
        self._parts = [p for part in parts for p in (part._parts if type(part) is Text else [part])]

    def tensors(self):
        return [t for p in self._parts if type(p) is not str for t in p.tensors()]

    def now(self, tensors):
        return "".join(p if type(p) is str else p.now(tensors) for p in self._parts)

    def again(self, tensors):
        parts = [p if type(p) is str else p.again(tensors) for p in self._parts]
        return Text(self._observer, parts)

    def key(self):
        return tuple(p if type(p) is str else p.key() for p in self._parts)

    def is_chosen(self):
        """Is it one of several, as data decides?"""
        return any(type(p) is Chosen for p in self._parts)

    def cases(self):
        found = [((), "")]
        for part in self._parts:
            if type(part) is str:
                more = [((), part)]
            elif type(part) is Chosen:
                more = part.each(cases_of)
            else:
                more = [((), self._settled([part]))]
            if len(found) * len(more) > _MOST_CASES:
                self._observer.refuse(
                    "a text that data decides has too many forms to compare it",
                    got=f"{len(found) * len(more)}", next=f"keep to {_MOST_CASES}, or use a number",
                )  # fmt: skip
            found = [((*a, *b), x + y) for a, x in found for b, y in more]
        return found

    def options(self):
        if len(self._parts) == 1 and type(self._parts[0]) is Chosen:
            return self._parts[0].each(options_of)
        return [((), self)]

    def is_equal(self, other):
        """Where it is the same text: a bool tensor, or a bool that is known."""
        both = itertools.product(self.cases(), cases_of(other))
        same = [(*a, *b) for (a, x), (b, y) in both if x == y]
        if not all(same):  # nothing is asked
            return True
        return reduce(ops.logical_or, map(holds, same)) if same else False

    def settled(self):
        """The text itself, where no data decides it: its sizes and floats are guarded."""
        return self._settled(self._parts)

    def _settled(self, parts):
        try:
            return "".join(p if type(p) is str else p.settled() for p in parts)
        except _Unsettled:
            return self._observer.refuse(
                "a text is used that is made of the elements of a tensor: it is known only when "
                "the program runs",
                got="a text that the program makes",
                next="print it, or make the text outside of the traced function",
            )

    def __add__(self, other):
        return self._joined(other, (self, other))

    def __radd__(self, other):
        return self._joined(other, (other, self))

    def _joined(self, other, parts):
        return Text(self._observer, parts) if type(other) in (str, Text) else NotImplemented

    def __getattr__(self, name):
        return getattr(self.settled(), name)


def as_key(key):
    """A key of a dict: numbers and texts of the program are what they are now, and guarded."""
    kind = type(key)
    if kind is Text:
        return key.settled()
    if kind is tuple and not is_plain(key):
        return tuple(map(as_key, key))
    return number_of(key) if kind in _SYMBOLIC else key


def _settling(name):
    method = getattr(str, name)

    def settle(self, *args):
        return method(self.settled(), *[a.settled() if type(a) is Text else a for a in args])

    settle.__name__ = name
    return settle


_LIKE_STR = (
    "__len__ __iter__ __contains__ __getitem__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ "
    "__mul__ __rmul__ __mod__ __rmod__ __str__ __repr__ __format__"
)
for _name in _LIKE_STR.split():
    setattr(Text, _name, _settling(_name))
del _name


def build(texts, tensors):
    """What values are at a run whose tensors are these, in the order in which they read them."""
    tensors = iter(tensors)
    return [text.now(tensors) for text in texts]


class Texts:
    """Of an Observer: what makes texts."""

    def of_program(self, value, level=0):
        """Is it a tensor, or a number or text that only a run tells, or does it hold one?"""
        kind = type(value)
        if _of_program(kind):
            return True
        if not (kind in _BOXES or _is_named(kind)) or level > _MOST_LEVELS:
            return False
        items = value.values() if kind is dict else value
        return any(self.of_program(v, level + 1) for v in items)

    def is_known(self, value):
        """Is its text that of the capture, as no object in it says its own?"""
        kind = type(value)
        if kind not in (list, tuple, dict):
            return not _of_program(kind)
        items = [*value, *value.values()] if kind is dict else value
        return all(is_plain(v) or issubclass(type(v), IDENTITY) for v in items)

    def as_value(self, value, level=0):
        """What makes the value anew at a run, as it is now."""
        kind = type(value)
        if kind is Text:
            return value
        if issubclass(kind, Tensor):
            return self._as_tensor(value, kind, level)
        if kind_of_number(value) is not None:
            return _OfNumber(value)
        if level > _MOST_LEVELS:
            self.refuse("a value that is printed is nested too deep, or contains itself")
        if kind is dict:
            keys, items = list(value), list(value.values())
            return _Made(_dict, self.as_value(keys, level), self.as_value(items, level))
        if _is_named(kind):
            return _Box(kind._make, [self.as_value(v, level + 1) for v in value])
        if kind in (list, tuple):
            return _Box(kind, [self.as_value(v, level + 1) for v in value])
        if is_plain(value) or issubclass(kind, IDENTITY) or kind.__module__ == "numpy":
            return _Plain(value)
        return self._said(value)

    def _said(self, value):
        return _Said(self._text(self.repr_of(value)), self._text(self.str_of(value)))

    def _as_tensor(self, value, kind, level):
        value = self._tensor_used(value)
        if level and kind is not Tensor:
            return self._said(value)
        history = _lathe._history_text(value)
        if history is None:
            self.refuse("a tensor is printed that goes through a loop or a branch that is recorded "
                        "as one: only a run tells its history, which is part of the text",
                        got="a tensor that may have a grad_fn",
                        next="print x.detach(), or a number of it: f'{x.sum():.3f}'")  # fmt: skip
        return self._copy(value, history)

    def _copy(self, value, history):
        """As it is now, whatever is written to it before the text is printed."""
        with self.resting(), no_grad():
            return _OfTensor(ops.clone(value), history)

    def _text(self, text):
        return text if type(text) is Text else Text(self, [text])

    def made_text(self, function, *values):
        return Text(self, [_Made(function, *map(self.as_value, values))])

    # ── str(), repr(), format() ─────────────────────────────────────────────────────────────────

    def _own(self, kind, name):
        """A method that a class of the user's has under a name; None: it is C's, or a number's."""
        if hasattr(kind, "_is_data") or kind is Text:
            return None
        cls, found = in_mro(kind.__mro__, name)
        of_python = cls is not None and cls.__flags__ & HEAP
        return found if of_python and type(found) is types.FunctionType else None

    def str_of(self, value):
        """str(value): a str, or a Text."""
        kind = type(value)
        if kind is str or kind is Text:
            return value
        own = self._own(kind, "__str__")
        if own is not None:
            return self.call(own)(value)
        if in_mro(kind.__mro__, "__str__")[0] in (object, Tensor) and kind is not Tensor:
            return self.repr_of(value)
        return str(value) if self.is_known(value) else self.made_text(str, value)

    def repr_of(self, value):
        kind = type(value)
        own = self._own(kind, "__repr__")
        if own is not None and _is_of_dataclass(kind, own):
            return self._record(value, kind)
        if own is not None:
            return self.call(own)(value)
        if in_mro(kind.__mro__, "__repr__")[0] is object and self.row_of(value) is not None:
            self.pin(value, "an object whose address is printed")
        return repr(value) if self.is_known(value) else self.made_text(repr, value)

    def _record(self, value, kind):
        """What the __repr__ that dataclass() has made says: it has no source."""
        fields = [f for f in kind.__dataclass_fields__.values()
                  if f.repr and f._field_type.name == "_FIELD"]  # fmt: skip
        parts = [f"{kind.__qualname__}("]
        for i, f in enumerate(fields):
            shown = self.repr_of(self.attribute(value, f.name))
            parts += [", " if i else "", f.name, "=", shown]
        return self.joined(*parts, ")")

    def format_of(self, value, spec):
        kind = type(value)
        if type(spec) is Text or kind is Text:
            return self.made_text(format, value, spec) if spec else value
        if kind is Tensor and value.ndim == 0:  # a number, without a history
            value = self._copy(self._tensor_used(value), "")
            return Text(self, [_Made(format, value, self.as_value(spec))])
        own = None if issubclass(kind, Tensor) else self._own(kind, "__format__")
        if own is not None:
            return self.call(own)(value, spec)
        if not spec and in_mro(kind.__mro__, "__format__")[0] is object:
            return self.str_of(value)
        if issubclass(kind, Tensor) and kind is not Tensor:
            return object.__format__(value, spec) if spec else self.str_of(value)
        return self.made_text(format, value, spec) if _of_program(kind) else format(value, spec)

    # ── hooks ───────────────────────────────────────────────────────────────────────────────────

    def formatted(self, value, conversion, spec):
        """A part of an f-string; conversion as in the syntax tree."""
        if not self.on():
            return format(_CONVERSIONS[conversion](value), spec)
        self.use(value)
        if conversion == 97 and self.of_program(value):  # !a
            return self.format_of(self.made_text(ascii, value), spec)
        convert = {115: self.str_of, 114: self.repr_of}.get(conversion, _CONVERSIONS[conversion])
        return self.format_of(convert(value), spec)

    def joined(self, *parts):
        """All parts of an f-string."""
        if any(type(p) is Text for p in parts):
            return Text(self, parts)
        return "".join(parts)

    def modulo(self, left, right):
        """left % right where left is a text: MISSING unless the result is a Text."""
        if type(left) not in (str, Text) or not (type(left) is Text or self.of_program(right)):
            return MISSING
        return self.made_text(mod, left, right)

    def method_of_str(self, owner, name, args, kwargs):
        """owner.join(...), owner.format(...); MISSING unless the result is a Text."""
        if name == "join" and len(args) == 1 and type(args[0]) in (list, tuple):
            items = args[0]
            if not any(type(i) is Text for i in items):
                return MISSING
            self.use(items)
            between = [owner] * (2 * len(items) - 1)
            between[::2] = items
            return Text(self, between)
        if name == "format" and self.of_program([*args, *kwargs.values()]):
            for value in (*args, *kwargs.values()):
                self.use(value)
            return self.made_text(_format, owner, list(args), kwargs)
        return MISSING


def _dict(keys, items):
    return dict(zip(keys, items))


def _format(text, args, kwargs):
    return text.format(*args, **kwargs)


_CONVERSIONS = {-1: lambda v: v, 115: str, 114: repr, 97: ascii}


def str_model(observer, f, args, kwargs):
    """The call str(...) or repr(...)."""
    if len(args) != 1 or kwargs:
        return observer._listed(f, None, f.__name__, args, kwargs)
    observer.use(args[0])
    return (observer.str_of if f is str else observer.repr_of)(args[0])


def format_model(observer, f, args, kwargs):
    if not 1 <= len(args) <= 2 or kwargs:
        return f(*args, **kwargs)
    observer.use(args[0])
    return observer.format_of(args[0], args[1] if len(args) == 2 else "")
