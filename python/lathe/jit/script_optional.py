"""Values of scripts that are None or not, as data decides: a flag and a value.

A question about one (`y is None`) is a Number that carries facts: what is known about the value
where the answer is yes, and where it is no. The branches of an if are recorded with these facts, so
that code behind a test reads the value itself.
"""

from .. import _lathe, ops
from .._lathe import SymFloat, Tensor
from .observe.plans import sequence_maker
from .observe.texts import Text
from .script_values import Number, refuse

NUMBERS = (bool, int, float, SymFloat)
ADVICE = "test it first: `if y is not None:`, and use it there"


class Maybe:
    """flag: is there a value? fact: the same, where it is known."""

    __slots__ = ("flag", "value", "fact")
    _is_optional = True

    def __init__(self, flag, value):
        self.flag, self.value, self.fact = flag, value, None

    def settled(self):
        """The value, or None, where that is known."""
        if self.fact is None:
            return self
        return settled(self.value) if self.fact else None

    def is_none(self):
        answer = Number(ops.logical_not(Number.of(self.flag).tensor), bool)
        answer.yes, answer.no = [(self, False)], [(self, True)]
        return answer

    def is_there(self):
        answer = Number(Number.of(self.flag).tensor, bool)
        answer.yes, answer.no = [(self, True)], [(self, False)]
        return answer

    def _no(self, *_):
        refuse("a value that may be None is used", ADVICE)

    __bool__ = __eq__ = __ne__ = __hash__ = __iter__ = __len__ = __str__ = __repr__ = _no
    __format__ = _no


def settled(value):
    return value.settled() if type(value) is Maybe else value


def facts_of(test):
    """(what is known where the test is true, where it is false): [(Maybe, is it there?)]"""
    if isinstance(test, Number):
        return test.yes, test.no
    if type(test) is Maybe:
        return [(test, True)], []
    return [], []


class Facts:
    """What is known while a part of a script runs. asserted: [(Maybe, what was known before)]"""

    def __init__(self, asserted, facts):
        self._asserted, self._facts = asserted, facts

    def __enter__(self):
        self._begun = len(self._asserted)
        learn(self._asserted, self._facts)

    def __exit__(self, *_):
        while len(self._asserted) > self._begun:
            m, fact = self._asserted.pop()
            m.fact = fact


def learn(asserted, facts):
    for m, there in facts:
        asserted.append((m, m.fact))
        m.fact = there


def stand_in(value, symbols=None, keep=()):
    """Makes values of the same kind, which nothing will read: tensors and numbers of zeros.
    symbols: sizes that were there before as many symbols are kept; None: all sizes are zero.
    keep: ids of lists and objects that stand for themselves."""

    def inner(v):
        return stand_in(v, symbols, keep)

    if isinstance(value, Tensor):
        sizes = (0,) * value.ndim if symbols is None else _lathe._sizes_before(value, symbols)
        dtype = value.dtype
        return lambda: ops.zeros(sizes, dtype=dtype)
    if isinstance(value, Number) or type(value) in NUMBERS:
        kind = value.kind if isinstance(value, Number) else type(value)
        return lambda: Number.of((float if kind is SymFloat else kind)(0))
    if type(value) is Maybe:
        there = inner(value.value)
        return lambda: Maybe(False, there())
    if type(value) is Text:
        tensors = [inner(t) for t in value.tensors()]
        return lambda: value.again(iter([t() for t in tensors]))
    if hasattr(type(value), "_is_list") and (value.recorded or id(value) not in keep):
        return value.emptied(symbols)
    if id(value) in keep and may_change(value):
        return lambda: value
    if type(value) is dict:
        parts = {k: inner(v) for k, v in value.items()}
        return lambda: {k: v() for k, v in parts.items()}
    if sequence_maker(type(value)):
        items = [inner(v) for v in value]
        return lambda: make_sequence(type(value), [v() for v in items])
    if is_record(value):
        fields = {k: inner(v) for k, v in vars(value).items()}
        return lambda: make_record(type(value), {k: v() for k, v in fields.items()})
    return lambda: value


# ── objects of plain classes, as dataclasses are ────────────────────────────────────────────────

_HEAP = 1 << 9  # a class that a class statement may have made


def is_record(value):
    """An object that its attributes say all about."""
    kind = type(value)
    if not kind.__flags__ & _HEAP:
        return False
    if isinstance(value, (Tensor, type, BaseException, int, float, str, bytes, complex)):
        return False
    bases = [c for c in kind.__mro__ if c is not object]
    return all(c.__flags__ & _HEAP and not c.__dict__.get("__slots__")
               and c.__module__.split(".")[0] != "lathe" for c in bases)  # fmt: skip


def may_change(value):
    """Is it a list, a dict or an object, and no tuple or frozen dataclass?"""
    frozen = getattr(getattr(value, "__dataclass_params__", None), "frozen", False)
    return not (isinstance(value, tuple) or frozen)


def make_sequence(kind, items):
    """A list, or a tuple of a class; that of a named tuple has no code that can be seen."""
    return tuple.__new__(kind, items) if hasattr(kind, "_make") else kind(items)


def make_record(kind, fields):
    made = object.__new__(kind)
    made.__dict__.update(fields)
    return made
