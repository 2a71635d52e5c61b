"""What scripts compute with besides Python's values: numbers that data decides.

Number is a Python bool, int or float whose value only a run of the program knows. It is kept in a
0-d tensor (bool, int64 or float64) and computes as Python's numbers do; beside a tensor it counts
as a Python number does, so it promotes nothing. An integer that 64 bits do not hold is a
ScriptError when the program runs; one that the integers of the tensor beside it do not hold is an
OverflowError.
"""

import ast
import math
import operator

from .. import _lathe, ops
from .._lathe import Tensor
from .script_source import trampoline

_DTYPES = {bool: _lathe.bool, int: _lathe.int64, float: _lathe.float64}
_HUGE = 2**1000
LARGEST_POWER = 64
_SYMBOLIC = (_lathe.SymInt, _lathe.SymFloat)
_HALF = (_lathe.float16, _lathe.bfloat16)
_RANGES = {
    _lathe.uint8: (0, 255), _lathe.int8: (-(2**7), 2**7 - 1), _lathe.int16: (-(2**15), 2**15 - 1),
    _lathe.int32: (-(2**31), 2**31 - 1), _lathe.uint16: (0, 2**16 - 1),
    _lathe.uint32: (0, 2**32 - 1),
}  # fmt: skip
_CHECKED = {
    operator.add: ops.checked_add, operator.sub: ops.checked_sub, operator.mul: ops.checked_mul,
}  # fmt: skip


def refuse_at(file, line, problem, got="", next="", excerpt=""):
    """Raises a ScriptError at a line of the user's."""
    said = {"op": "script", "got": got, "next": next, "excerpt": excerpt}
    trampoline(file, line)(_refuse, (problem,), said)


def _refuse(problem, **said):
    raise _lathe.ScriptError(problem, **said)


def refuse(problem, next=""):
    raise _lathe.ScriptError(problem, op="script", next=next)


def decided_by_data(value):
    """Is the answer to `if value` known only when the program runs?"""
    return (isinstance(value, (Tensor, Number)) or hasattr(type(value), "_is_optional")
            or is_inside(value))  # fmt: skip


def is_inside(value):
    """Is it a size that only running the program tells?"""
    return type(value) is _lathe.SymInt and value.inside


def as_symbolic(tensor):
    """The tensor as a value of the program, also one that is there already: it may change."""
    return tensor.detach() if _lathe._symbolic(tensor) else tensor.detach().clone()


def as_condition(value):
    """A bool tensor of one element."""
    if hasattr(type(value), "_is_optional"):
        return _as_condition(value)
    if is_inside(value):
        value = Number.of(value)
    t = value.tensor if isinstance(value, Number) else as_symbolic(value)
    if t.ndim > 0 and t.numel() != 1:
        raise _lathe.ValueError(
            "only a tensor of one element is a condition",
            op="bool",
            got=f"a tensor of shape {list(t.shape)}",
            expected="one element",
            next="reduce it: x.any(), x.all()",
        )
    return t if t.dtype is _lathe.bool else ops.ne(t, 0)


def _as_condition(maybe):
    """Is there a value, and is it true?"""
    inner = maybe.value
    if not (isinstance(inner, Number) or isinstance(inner, Tensor) and inner.ndim == 0):
        refuse("the truth of a value that may be None", "ask `y is not None` first")
    return ops.logical_and(Number.of(maybe.flag).tensor, as_condition(inner))


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────


class Number:
    """A bool, int or float that data decides. yes, no: what is known of values that may be None
    where it is true, and where it is false (script_optional)."""

    __slots__ = ("tensor", "kind", "yes", "no", "divides", "negative_of")
    _is_data = True

    def __init__(self, tensor, kind, divides=False):
        self.tensor, self.kind = tensor, kind
        self.yes = self.no = ()
        self.negative_of = None
        self.divides = divides  # it is not zero, and no quotient by it is out of range

    @staticmethod
    def of_tensor(t):
        """What t.item() is."""
        t = t.detach().clone().reshape(())
        kind = bool if t.dtype is _lathe.bool else float if t.dtype.is_floating_point else int
        if t.dtype.is_complex:
            refuse("item() of a complex tensor", "take its real and imaginary parts")
        return Number(t.to(_DTYPES[kind]), kind)

    @staticmethod
    def of(value):
        """The same for a number that is known."""
        if isinstance(value, Number):
            return value
        if type(value) is _lathe.SymInt:
            return Number(ops.full((), value, dtype=_lathe.int64), int)
        if type(value) is _lathe.SymFloat:
            return Number(ops.ones((), dtype=_lathe.float64) * value, float)
        kind = bool if isinstance(value, bool) else int if isinstance(value, int) else float
        if kind is int and not fits(value):
            refuse(f"the integer {value} does not fit in 64 bits, as integers of a script must",
                    f"compute with floats: {float(value)!r}" if abs(value) < _HUGE else
                    "leave it out of what data decides")  # fmt: skip
        if kind is int and abs(value) >= 2**62:  # more than an argument of an op may be
            high = ops.full((), value >> 32, dtype=_lathe.int64)
            return Number(high * 2**32 + (value & (2**32 - 1)), kind)
        return Number(ops.full((), value, dtype=_DTYPES[kind]), kind)

    def is_integer(self):
        if self.kind is not float:
            return Number.of(True)
        return Number(ops.eq(ops.floor(self.tensor), self.tensor) & ops.isfinite(self.tensor), bool)

    def to(self, kind):
        return self.tensor if self.kind is kind else self.tensor.to(_DTYPES[kind])

    def beside(self, x):
        """A 0-d tensor that counts beside the tensor x as the number does."""
        dtype = x.dtype
        if dtype in _HALF and self.kind is not bool:
            refuse(f"a number that data decides beside a {dtype.name} tensor",
                    "convert the tensor to float32 first")  # fmt: skip
        if self.kind is float and not (dtype.is_floating_point or dtype.is_complex):
            dtype = _lathe.get_default_dtype()
        elif self.kind is int and dtype is _lathe.bool:
            dtype = _lathe.int64
        return self.within(dtype)

    def within(self, dtype):
        """The 0-d tensor in that dtype; integers must be in its range."""
        t = self.tensor
        if self.kind is int and dtype in _RANGES:
            t = ops.checked_range(t, *_RANGES[dtype])
        return t.to(dtype)

    def no_divisor(self, dividend, exact):
        """Where Python cannot divide the number by this one, or not in 64 bits: as tensors."""
        divisor = self.to(int) if self.kind is bool else self.tensor
        found = [divisor == 0]
        least = -(2**63)
        may_be_least = type(dividend) is not int or dividend == least
        if not exact and self.kind is int and is_integer(dividend) and may_be_least:
            is_least = Number.of(dividend).tensor == Number.of(least).tensor
            found.append(is_least & (divisor == -1))
        return found

    def as_divisor(self):
        """The same, for where it can be: what follows is computed all the same."""
        kind = float if self.kind is float else int
        divisor = self.to(kind)
        return Number(ops.where(divisor == 0, 1, divisor), kind, divides=True)

    def __neg__(self):
        if self.kind is float:
            return Number(-self.tensor, float)
        negative = Number(ops.checked_sub(0, self.to(int)), int)
        negative.negative_of = self
        return negative

    def size(self):
        """The integer as a size of tensors; a call where it is negative runs as it is."""
        if self.kind is not int:
            refuse(f"a {self.kind.__name__} that data decides is wanted as an integer",
                    "convert it: int(x)")  # fmt: skip
        if self.negative_of is not None:
            return -self.negative_of.size()
        return _lathe._size_in(self.to(int))

    def __pos__(self):
        return (
            Number(self.tensor, self.kind) if self.kind is not bool else Number(self.to(int), int)
        )

    def __abs__(self):
        if self.kind is float:
            return Number(ops.abs(self.tensor), float)
        n = self.to(int)
        return Number(ops.where(n < 0, ops.checked_sub(0, n), n), int)

    def __pow__(self, power):
        if self.kind is float or type(power) is not int or not 0 <= power <= LARGEST_POWER:
            refuse("a power that data decides, of other than an integer to a small known integer",
                    "multiply, or take the power of tensors")  # fmt: skip
        product = Number.of(1)
        for _ in range(power):
            product = product * self
        return product

    def _no(self, *_):
        refuse("a number that data decides is wanted as a Python number, which it is not before "
                "the program runs", "keep it in comparisons and arithmetic")  # fmt: skip

    # No __index__, __int__ or __float__: a tensor beside a number would take it for a plain one.
    __bool__ = __hash__ = __str__ = __repr__ = __format__ = _no
    __iter__ = __len__ = _no


def dtype_of(kind):
    """Of the tensor that a number of this class is kept in."""
    return _DTYPES[kind]


def is_number(x):
    return isinstance(x, (Number, bool, int, float, *_SYMBOLIC))


def is_integer(x):
    return type(x) in (int, _lathe.SymInt) or isinstance(x, Number) and x.kind is int


def _operand(x, divisor=False):
    """A number of the trace as one that data decides, for it may change; a divisor as what it is
    now, which is then guarded, but where only running tells it."""
    if not isinstance(x, _SYMBOLIC):
        return x
    if is_inside(x) or not divisor:
        return Number.of(x)
    return int(x) if type(x) is _lathe.SymInt else float(x)


def fits(value):
    """Is the integer one of int64?"""
    return -(2**63) <= value < 2**63


def _arithmetic(f, divides):
    def forward(a, b):
        if isinstance(b, Tensor):
            return f(a.beside(b), b)
        if not is_number(b):
            return NotImplemented
        return _numbers(f, divides, a, _operand(b, divides))

    def backward(a, b):
        if isinstance(b, Tensor):
            return f(b, a.beside(b))
        if not is_number(b):
            return NotImplemented
        return _numbers(f, divides, _operand(b), a)

    return forward, backward


def _numbers(f, divides, a, b):
    if divides and isinstance(b, Number) and not b.divides:
        refuse("a division of numbers whose divisor data decides: it may be zero",
                "divide tensors")  # fmt: skip
    if divides and not isinstance(b, Number) and b == 0:
        raise ZeroDivisionError("division by zero")
    if any(isinstance(x, float) or (isinstance(x, Number) and x.kind is float) for x in (a, b)):
        a, b = (x if isinstance(x, Number) else Number.of(float(x)) for x in (a, b))
        return Number(f(a.to(float), b.to(float)), float)
    if f is operator.truediv:
        return _quotient(a, b)
    known, a, b = b, Number.of(a), Number.of(b)
    if f is operator.floordiv and not isinstance(known, Number) and known == -1:
        return -a  # the only quotient that can be out of range
    return Number(_CHECKED.get(f, f)(a.to(int), b.to(int)), int)


def _quotient(a, divisor):
    """Of integers: rounded once, as Python's is."""
    if isinstance(divisor, Number):
        a, b = (ops.checked_dividend(Number.of(x).to(int)).to(_lathe.float64) for x in (a, divisor))
        return Number(a / b, float)
    if abs(divisor) & (abs(divisor) - 1) == 0 and abs(divisor) < _HUGE:  # divides without rounding
        return Number(a.to(float) / float(divisor), float)
    if abs(divisor) > 2**53:
        refuse(f"an integer that data decides is divided by {divisor}, which floats round",
                "divide float(n)")  # fmt: skip
    return Number(ops.checked_dividend(a.to(int)).to(_lathe.float64) / float(divisor), float)


def _compared_with(number, x):
    """The same for a comparison, in which an integer keeps its value beside any integers."""
    whole = number.kind is int and not (x.dtype.is_floating_point or x.dtype.is_complex)
    return number.tensor if whole else number.beside(x)


def _whole_and_float(f, n, x):
    """f(n, x) for an int64 and a float64, exact as in Python: where n is x when it is rounded to a
    float, x is an integer, and the integers decide (2**63 is above them all)."""
    rounded = n.to(_lathe.float64)
    inside = (x >= -(2.0**63)) & (x < 2.0**63)
    whole = ops.where(inside, x, 0.0).to(_lathe.int64)
    equal = (rounded == x) & inside & (n == whole)
    below = (rounded < x) | ((rounded == x) & (~inside | (n < whole)))
    above = (rounded > x) | ((rounded == x) & inside & (n > whole))
    answer = {
        operator.eq: lambda: equal, operator.ne: lambda: ~equal, operator.lt: lambda: below,
        operator.le: lambda: below | equal, operator.gt: lambda: above,
        operator.ge: lambda: above | equal,
    }[f]()  # fmt: skip
    return Number(answer, bool)


def _beside_a_large(f, a, b):
    """f(a, b) for an integer that is known, beyond 64 bits."""
    if a.kind is not float:
        return f(0, b)  # decided by the sign
    try:
        near = float(b)
    except OverflowError:
        near = math.inf if b > 0 else -math.inf
    if near == b:
        return Number(f(a.tensor, near), bool)
    # No float is between b and its neighbour, so <= is < for one of the two, and > is >=.
    if f in (operator.eq, operator.ne):
        return f is operator.ne
    up = near > b
    f = {operator.lt: operator.lt if up else operator.le,
         operator.gt: operator.ge if up else operator.gt}[_STRICT[f]]  # fmt: skip
    return Number(f(a.tensor, near), bool)


_SWAPPED = {
    operator.eq: operator.eq, operator.ne: operator.ne, operator.lt: operator.gt,
    operator.gt: operator.lt, operator.le: operator.ge, operator.ge: operator.le,
}  # fmt: skip
_STRICT = {
    operator.lt: operator.lt, operator.le: operator.lt, operator.gt: operator.gt,
    operator.ge: operator.gt,
}  # fmt: skip


def _comparison(f):
    def compare(a, b):
        if isinstance(b, Tensor):
            return f(_compared_with(a, b), b)
        if not is_number(b):
            return NotImplemented
        b = _operand(b)
        if isinstance(b, int) and not fits(b):
            return _beside_a_large(f, a, b)
        b = Number.of(b)
        if a.kind is not float and b.kind is not float:
            return Number(f(a.to(int), b.to(int)), bool)
        if a.kind is b.kind:
            return Number(f(a.tensor, b.tensor), bool)
        if a.kind is float:
            return _whole_and_float(_SWAPPED[f], b.to(int), a.tensor)
        return _whole_and_float(f, a.to(int), b.tensor)

    return compare


def _bitwise(f):
    def forward(a, b):
        if isinstance(b, Tensor):
            return f(a.beside(b), b)
        if not is_number(b):
            return NotImplemented
        a, b = a, Number.of(_operand(b))
        if float in (a.kind, b.kind):
            return NotImplemented
        kind = bool if a.kind is b.kind is bool else int
        return Number(f(a.to(kind), b.to(kind)), kind)

    return forward


def _shifted(f):
    """By a number of bits that is known; of the left shift what 64 bits do not hold is an error."""

    def shift(a, bits):
        if a.kind is float or type(bits) is not int or not 0 <= bits < 63:
            return NotImplemented
        if f is operator.lshift:
            return a * 2**bits
        return Number(f(a.to(int), bits), int)

    return shift


def _inverted(a):
    return NotImplemented if a.kind is float else Number(~a.to(int), int)


_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)
for _f in (operator.add, operator.sub, operator.mul, *_DIVISIONS):
    _pair = _arithmetic(_f, _f in _DIVISIONS)
    setattr(Number, f"__{_f.__name__}__", _pair[0])
    setattr(Number, f"__r{_f.__name__}__", _pair[1])
for _f in (operator.and_, operator.or_, operator.xor):  # the same from both sides
    for _side in "", "r":
        setattr(Number, f"__{_side}{_f.__name__.strip('_')}__", _bitwise(_f))
for _f in (operator.lshift, operator.rshift):
    setattr(Number, f"__{_f.__name__}__", _shifted(_f))
Number.__invert__ = _inverted
for _f in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
    setattr(Number, f"__{_f.__name__}__", _comparison(_f))


# ── operators ───────────────────────────────────────────────────────────────────────────────────


def _compared(f):
    """The comparison, with sizes that only running tells as numbers that data decides."""

    def compare(a, b):
        return f(*(Number.of(x) if is_inside(x) else x for x in (a, b)))

    return compare


_LESS, _MORE, _EQUAL = map(_compared, (operator.lt, operator.gt, operator.eq))


def _not(value):
    answer = Number(ops.logical_not(as_condition(value)), bool)
    if isinstance(value, Number):
        answer.yes, answer.no = value.no, value.yes
    return answer


def all_of(a, b):
    a, b = (as_condition(v) if decided_by_data(v) else Number.of(bool(v)).tensor for v in (a, b))
    return Number(ops.logical_and(a, b), bool)


def any_of(a, b):
    a, b = (as_condition(v) if decided_by_data(v) else Number.of(bool(v)).tensor for v in (a, b))
    return Number(ops.logical_or(a, b), bool)


def _contains(item, things):
    if isinstance(things, Tensor):
        equal = things == (_compared_with(item, things) if isinstance(item, Number) else item)
        return Number(as_condition(ops.any(equal)), bool)
    if hasattr(type(things), "_is_list"):
        return things.contains(item)
    if isinstance(things, (list, tuple)):
        found = False
        for t in things:
            if t is item:
                return True
            equal = _EQUAL(t, item)
            if decided_by_data(equal):
                found = any_of(found, equal)
            elif equal:
                return True
        return found
    return item in things


def _contains_not(item, things):
    found = _contains(item, things)
    return _not(found) if decided_by_data(found) else not found


_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Invert: operator.invert, ast.Lt: _LESS, ast.LtE: _compared(operator.le), ast.Gt: _MORE,
    ast.GtE: _compared(operator.ge), ast.Eq: _EQUAL, ast.NotEq: _compared(operator.ne),
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not, ast.In: _contains, ast.NotIn: _contains_not,
    "[]": operator.getitem, "[]=": operator.setitem, "del []": operator.delitem,
    "not": _not, "and": all_of, "or": any_of, "<": _LESS, ">": _MORE,
}  # fmt: skip


def _in_place(f):
    """f of a tensor and a number that data decides writes to the tensor, as it does of others."""

    def written(x, y):
        return f(x, y.beside(x) if isinstance(y, Number) and isinstance(x, Tensor) else y)

    return written


_IN_PLACE = {
    ast.Add: operator.iadd, ast.Sub: operator.isub, ast.Mult: operator.imul,
    ast.Div: operator.itruediv, ast.FloorDiv: operator.ifloordiv, ast.Mod: operator.imod,
    ast.Pow: operator.ipow, ast.MatMult: operator.imatmul, ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior, ast.BitXor: operator.ixor, ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}  # fmt: skip


def operator_of(what, in_place=False):
    """The function of an operator: a node of ast, or one of the texts above."""
    if in_place:
        return _in_place(_IN_PLACE[type(what)])
    return _OPERATORS[what if isinstance(what, str) else type(what)]
