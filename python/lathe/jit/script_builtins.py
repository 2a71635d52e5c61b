"""Python's functions where they meet what data decides: range(), int(), max(), item() ..."""

import functools
import itertools
import math
import operator
import sys
import types
from _warnings import warn

from .. import ops
from .._lathe import Tensor, get_default_dtype, int64, tensor
from .._lathe import bool as lathe_bool
from .script_lists import DataList, grown
from .script_math import FUNCTIONS, whole
from .script_optional import ADVICE, Maybe, settled
from .script_values import (
    Number,
    all_of,
    any_of,
    decided_by_data,
    is_inside,
    is_number,
    operator_of,
    refuse,
)

_ROWS = (list, tuple)


class Range:
    """range() whose length data decides; only `for` can use it."""

    def __init__(self, start, stop, step):
        if isinstance(step, Number):
            refuse("a range whose step data decides", "use a step that is known")
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        self.start, self.stop, self.step = start, stop, step

    def count(self):
        if self.step > 0:
            return (self.stop - self.start + (self.step - 1)) // self.step
        return (self.start - self.stop + (-self.step - 1)) // -self.step

    def __iter__(self):
        refuse("a range whose length data decides is used outside of a for loop")


def _range(script, node, args, kwargs):
    if not any(decided_by_data(a) for a in args):
        return range(*args, **kwargs)
    args = [_int(script, node, [a], {}) for a in args]
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return Range(start, stop, step)


def _number(kind):
    def convert(script, node, args, kwargs):
        if len(args) != 1 or kwargs or not decided_by_data(args[0]):
            return kind(*args, **kwargs)
        if kind is bool:
            return script.as_truth(node, args[0])
        if is_inside(args[0]):
            return args[0] if kind is int else Number(Number.of(args[0]).to(kind), kind)
        n = args[0] if isinstance(args[0], Number) else Number.of_tensor(args[0])
        if n.kind is kind:
            return n
        if kind is int and n.kind is float:
            return whole(script, node, n.tensor)
        return Number(n.to(kind), kind)

    return convert


_int = _number(int)


def _extreme(f, better):
    def choose(script, node, args, kwargs):
        items = list(args[0]) if len(args) == 1 and not isinstance(args[0], Number) else args
        if kwargs or not any(decided_by_data(i) for i in items):
            return script.session.observer.call(f)(*args, **kwargs)
        best = items[0]
        for item in items[1:]:
            test = better(item, best)
            if decided_by_data(test):
                best = script.decide(node, test, lambda i=item: i, lambda b=best: b)
            elif test:
                best = item
        return best

    return choose


def _quantifier(f, joined):
    def ask(script, node, args, kwargs):
        items = list(*args, **kwargs)
        answer = f is all
        for item in items:
            if decided_by_data(item):
                answer = joined(answer, item)
            elif not decided_by_data(answer) and bool(item) is not answer:
                return not answer
            elif bool(item) is not (f is all):
                return f is any
        return answer

    return ask


def _sum(script, node, args, kwargs):
    """Of numbers: floats that Python 3.12 adds with what is lost by rounding are refused."""
    if len(args) not in (1, 2) or kwargs:
        return script.session.observer.call(sum)(*args, **kwargs)
    items = args[0] if type(args[0]) in _ROWS else list(args[0])
    if not any(isinstance(i, Number) for i in items):
        return script.session.observer.call(sum)(items, *args[1:])
    floats = [i for i in items if type(i) is float or isinstance(i, Number) and i.kind is float]
    if sys.version_info >= (3, 12) and floats:
        script.refuse(node, "sum() of numbers (float) that data decides",
                      next="add them in a for loop")  # fmt: skip
    return functools.reduce(operator.add, items, *(args[1:] or (0,)))


def _method(f):
    """What a number answers itself."""
    return lambda script, node, args, kwargs: f(
        *(Number.of(a) if is_inside(a) else a for a in args), **kwargs
    )


def _isinstance(script, node, args, kwargs):
    value, classes = args
    value = settled(value)
    if isinstance(value, Number):
        return issubclass(value.kind, classes)
    if type(value) is DataList:
        return issubclass(list, classes)
    if type(value) is Maybe:
        ask = script.session.observer.call(isinstance)
        there, none = ask(value.value, classes), ask(None, classes)
        if there is none:
            return there
        return value.is_there() if there else value.is_none()
    return script.session.observer.call(isinstance)(value, classes)


# Containers, and what makes or prints texts.
_TAKE_NUMBERS = (list, tuple, dict, print, str, repr, format, warn)
_COMPARED_BY_IDENTITY = (types.BuiltinFunctionType, types.FunctionType, type(int), type(tensor))


def _locals(script, node, args, kwargs):
    refuse("locals() looks at all names of the function", "name what you want of it")


def _divmod(script, node, args, kwargs):
    """Of numbers; each of the two is checked as it would be alone."""
    if not any(isinstance(a, Number) for a in args) or len(args) != 2 or kwargs:
        return script.as_it_is(node, divmod, args, kwargs)
    a, b = args
    b = script.divisor(node, a, b, exact=False)
    return a // b, a % b


def _tensor(script, node, args, kwargs):
    """lathe.tensor() of numbers that data decides, in lists or not."""
    if len(args) != 1 or not set(kwargs) <= {"dtype"} or not _holds_numbers(args[0]):
        return script.as_it_is(node, tensor, args, kwargs)
    kinds = set(_kinds(script, node, args[0]))
    kind = next(k for k in (float, int, bool) if k in kinds)
    of_kind = get_default_dtype() if kind is float else _OF_KINDS[kind]
    dtype = kwargs.get("dtype") or of_kind

    def made(value):
        if isinstance(value, (list, tuple)):
            return ops.stack([made(v) for v in value])
        n = Number.of(value)
        return n.within(dtype) if n.kind is int else n.tensor.to(dtype)

    return made(args[0]).clone()


_OF_KINDS = {int: int64, bool: lathe_bool}


def _holds_numbers(value):
    if type(value) in _ROWS:
        return any(map(_holds_numbers, value))
    return isinstance(value, Number)


def _kinds(script, node, value):
    """The kinds of the numbers in lists; tensors and arrays among them are refused."""
    if type(value) in _ROWS and len(value) > 0:
        return [k for v in value for k in _kinds(script, node, v)]
    if not is_number(value):
        script.refuse(node, "a number that data decides beside what is none, in tensor()",
                      next="stack tensors: lathe.stack(items)")  # fmt: skip
    return [value.kind if isinstance(value, Number) else Number.of(value).kind]


class BUILTINS:
    """Python's functions that mean something else for what data decides."""

    Range = Range
    _table = {
        int: _int, float: _number(float), bool: _number(bool), range: _range,
        max: _extreme(max, operator_of(">")), min: _extreme(min, operator_of("<")),
        abs: _method(abs), Number.is_integer: _method(Number.is_integer),
        any: _quantifier(any, any_of), all: _quantifier(all, all_of), isinstance: _isinstance,
        **FUNCTIONS, sum: _sum, locals: _locals, divmod: _divmod, tensor: _tensor,
    }  # fmt: skip

    @classmethod
    def stand_in(cls, f):
        # Not for callables of the user's: their == and hash may be code of their own.
        found = cls._table.get(f) if type(f) in _COMPARED_BY_IDENTITY else None
        of = getattr(f, "__self__", None)
        if found is None and isinstance(of, Tensor) and getattr(f, "__name__", "") == "item":
            return lambda script, node, args, kwargs: Number.of_tensor(of)
        return found

    @staticmethod
    def taken(script, f, args, kwargs):
        """The arguments of an op. Integers that data decides are sizes where it takes integers, and
        numbers are tensors where it takes these, too."""
        if not isinstance(f, _OPS):
            return args, kwargs
        given = [i for a in (*args, *kwargs.values()) for i in (a if type(a) in _ROWS else (a,))]
        if not any(isinstance(i, Number) for i in given):
            return args, kwargs
        script.session.observer.note_size()
        names, kinds = _parameters(f)
        several = kinds.get(names[-1], "").endswith("[]")  # x.reshape(2, n)
        at = [*names, *names[-1:] * (len(args) * several)]
        pairs = list(itertools.zip_longest(at[: len(args)], args))
        like = [a for n, a in (*pairs, *kwargs.items())
                if isinstance(a, Tensor) and kinds.get(n) in _FOR_TENSORS]  # fmt: skip
        op = f.schemas[0].partition("(")[0]
        if not like and isinstance(args[0], Tensor) and op != ops.where.__name__:  # no condition
            like = args[:1]
        if op in _NOT_AS_TENSORS or op in _LIMITS and like and like[0].requires_grad:
            like = []
        args = [_as_taken(a, kinds.get(n), like) for n, a in pairs]
        return args, {n: _as_taken(a, kinds.get(n), like) for n, a in kwargs.items()}

    @staticmethod
    def refuse_numbers(script, node, f, args, kwargs):
        """Does the callable only keep what it is given? Else numbers that data decides, and what
        may be None, are refused."""
        if any(f is g for g in _ASKING):
            return True
        own = getattr(f, "__self__", None)
        if type(own) is list and f.__name__ in _AT and any(isinstance(a, Number) for a in args[:1]):
            grown(script.session, own)
        if isinstance(own, (list, dict, tuple)) or any(f is t for t in (list, tuple, dict)):
            return f in (tuple, list, dict) or f.__name__ in _KEEPING
        if isinstance(own, Number):
            return False
        if _keeps_fields(f):
            return True
        if getattr(f, "__module__", None) == "math":
            _refuse_tensors(script, node, f, args)
        takes_numbers = isinstance(own, str) or any(f is t for t in _TAKE_NUMBERS)
        takes_numbers |= getattr(f, "__module__", None) == "lathe._callbacks"
        takes_numbers |= isinstance(f, type) and f.__module__ != "builtins"
        for a in [*args, *kwargs.values()]:
            for i in a if isinstance(a, (list, tuple)) else (a,):
                if isinstance(i, Number) and not takes_numbers:
                    name = getattr(f, "__name__", type(f).__name__)
                    script.refuse(node, f"a number that data decides is an argument of {name}()",
                                  next="pass a tensor")  # fmt: skip
                if type(settled(i)) is Maybe:
                    script.refuse(node, "a value that may be None is used here", next=ADVICE)
        return False


_OPS = (type(ops.zeros), type(Tensor.narrow))
_AXES = ("dim", "dims", "axis")
_FOR_TENSORS = ("Tensor|Scalar", "Tensor|Scalar?")
_POWERS = (ops.pow, ops.float_power)
_COMPARISONS = (ops.eq, ops.ne, ops.lt, ops.le, ops.gt, ops.ge)  # integers keep their value there
_LIMITS = {op.__name__ for op in (ops.clamp, ops.clamp_min, ops.clamp_max)}  # share gradients
_NOT_AS_TENSORS = frozenset(op.__name__ for op in (*_POWERS, *_COMPARISONS))


@functools.lru_cache(maxsize=1024)
def _parameters(op):
    """The names of an op's arguments by place, and the kinds of all, as its first schema has it."""
    inside = op.schemas[0].partition("(")[2].rpartition(") ->")[0]
    parts = [p.partition("=")[0].rpartition(" ") for p in inside.split(", ")]
    names = [name for _, _, name in parts]
    kinds = {name: kind for kind, _, name in parts if name not in _AXES}
    return names[: names.index("*")] if "*" in names else names, kinds


def _as_taken(value, kind, like):
    if kind in ("int", "int[]") and type(value) in _ROWS:
        return type(value)(_as_taken(i, "int", like) for i in value)
    if not isinstance(value, Number):
        return value
    if kind in _FOR_TENSORS and like:
        return value.beside(like[0])
    return (
        value.size() if kind in ("int", "int?", "int[]", "Scalar") and value.kind is int else value
    )


_ASKING = (len, enumerate, zip, reversed, iter, next)  # of containers, whatever they hold
_STORING = ("append", "insert", "update", "setdefault")
_AT = ("pop", "insert")  # take an index
_KEEPING = ("append", "insert", "extend", "update", "setdefault", "get", "pop", "copy", "items",
            "values", "keys")  # fmt: skip


def _refuse_tensors(script, node, f, args):
    """The functions of math make Python floats, but for trunc(), which takes no tensor."""
    if f is math.trunc or not any(decided_by_data(a) and not is_inside(a) for a in args):
        return
    name = f.__name__
    advice = f"write lathe.{name}(x), of a tensor" if hasattr(ops, name) else "use lathe's ops"
    script.refuse(node, f"math.{name}() of what data decides", next=advice)


def keeps(f):
    """Does a callable only put what it is given somewhere, as it is?"""
    own = getattr(f, "__self__", None)
    if isinstance(own, (list, dict)) and f.__name__ in _STORING or f is setattr:
        return True
    return f is dict or f is functools.partial or _keeps_fields(f)


def _keeps_fields(f):
    """A class whose objects are made of its arguments as they are."""
    if not isinstance(f, type):
        return False
    if issubclass(f, tuple) and hasattr(f, "_fields"):
        return True
    return (
        "__dataclass_fields__" in vars(f)
        and not hasattr(f, "__post_init__")
        and (f.__init__.__code__.co_filename == "<string>")
    )
