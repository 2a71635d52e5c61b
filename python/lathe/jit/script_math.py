"""Functions of math and powers, of numbers that data decides.

What rounds as an op does is that op. For the rest the program calls Python, whose mathematical
library says the last bit of a sine or of a power (`computed`).
"""

import functools
import math

from .. import ops
from .._callbacks import prepared
from .._lathe import Tensor, int64
from .script_values import (
    LARGEST_POWER,
    Number,
    decided_by_data,
    dtype_of,
    fits,
    is_number,
)


def whole(script, node, x):
    """The integer that a float of the program is without its fraction. Where there is none, or one
    that eager's ops do not take, the call runs as it is."""
    script.may_fail(node)
    fits = ops.abs(x) < 2.0**62  # not of what is no number
    script.do(node, script.session.fail_where, ops.logical_not(fits))
    return Number(ops.where(fits, x, ops.zeros_like(x)).to(int64), int)


def _rounded(f, op, of_tensors=False):
    """math.floor() and its kin, of one number. of_tensors: Python makes a float of a tensor."""

    def convert(script, node, args, kwargs):
        n = _one_number(args, kwargs, of_tensors)
        if n is None:
            return script.as_it_is(node, f, args, kwargs)
        if n.kind is float or isinstance(args[0], Tensor):
            return whole(script, node, op(n.to(float)))
        return Number(n.to(int), int)

    return convert


def _one_number(args, kwargs, of_tensors=True):
    """What a function is given, if it is one number that data decides; else None."""
    if len(args) != 1 or kwargs:
        return None
    if of_tensors and isinstance(args[0], Tensor):
        return Number.of_tensor(args[0])
    return args[0] if isinstance(args[0], Number) else None


def _exact(f, op, kind=float, fails=None):
    """A function of math that rounds as the op does, of one number; fails: where it raises."""

    def convert(script, node, args, kwargs):
        n = _one_number(args, kwargs)
        if n is None:
            return script.as_it_is(node, f, args, kwargs)
        x = n.to(float)
        if fails is not None:
            script.may_fail(node)
            script.do(node, script.session.fail_where, fails(x))
        return Number(op(x), kind)

    return convert


@functools.lru_cache(maxsize=1024)
def _of_tensors(f):
    """f of the numbers that tensors hold: one function, so that equal calls are one."""
    return functools.wraps(f)(lambda *tensors: f(*[t.item() for t in tensors]))


def computed(script, node, f, args, kind):
    """A number that the program lets Python compute, whose bits are those of Python's own
    mathematical library. Where it raises an exception, or gives another kind of number, the call
    runs as it is."""
    script.may_fail(node)
    session = script.session
    session.observer.note_failure()
    numbers = [Number.of_tensor(a) if isinstance(a, Tensor) else Number.of(a) for a in args]
    with session.observer.resting():
        call = prepared(
            _of_tensors(f), [n.tensor for n in numbers], ((), dtype_of(kind)), False, None,
            session.calls,
        )  # fmt: skip
        return Number(call(), kind)


def _by_python(f):
    """A function of math that gives a float."""

    def convert(script, node, args, kwargs):
        if kwargs or not any(decided_by_data(a) for a in args):
            return script.session.observer.call(f)(*args, **kwargs)
        return computed(script, node, f, args, float)

    return convert


def _as_float(a, b):
    power = a**b
    if type(power) is not float:
        raise ValueError("the power of a float is complex")
    return power


def _as_integer(a, b):
    power = a**b
    if type(power) is not int or not fits(power):
        raise ValueError("the power of an integer is a float, or more than 64 bits hold")
    return power


def power(script, node, a, b):
    """a ** b, of which data decides one at least."""
    kinds = [Number.of(x).kind for x in (a, b)]
    if float not in kinds and not (type(b) is int and b < 0):
        if type(b) is int and b <= LARGEST_POWER:
            return Number.of(a) ** b
        return computed(script, node, _as_integer, (a, b), int)
    return computed(script, node, _as_float, (a, b), float)


def _power(script, node, args, kwargs):
    if len(args) != 2 or kwargs or not all(map(is_number, args)):
        return script.as_it_is(node, pow, args, kwargs)
    return power(script, node, *args) if any(map(decided_by_data, args)) else pow(*args)


_OF_MATH = [
    math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atan2, math.atanh, math.copysign,
    math.cos, math.cosh, math.degrees, math.erf, math.erfc, math.exp, math.expm1, math.fmod,
    math.gamma, math.hypot, math.lgamma, math.log, math.log10, math.log1p, math.log2, math.pow,
    math.radians, math.remainder, math.sin, math.sinh, math.tan, math.tanh,
]  # fmt: skip
if hasattr(math, "cbrt"):  # not an op
    _OF_MATH += [math.cbrt, math.exp2]


FUNCTIONS = {
    math.floor: _rounded(math.floor, ops.floor, of_tensors=True),
    math.ceil: _rounded(math.ceil, ops.ceil, of_tensors=True),
    math.trunc: _rounded(math.trunc, ops.trunc), round: _rounded(round, ops.round),
    math.sqrt: _exact(math.sqrt, ops.sqrt, fails=lambda x: x < 0),
    math.fabs: _exact(math.fabs, ops.abs), math.isnan: _exact(math.isnan, ops.isnan, bool),
    math.isinf: _exact(math.isinf, ops.isinf, bool),
    math.isfinite: _exact(math.isfinite, ops.isfinite, bool), pow: _power,
    **{f: _by_python(f) for f in _OF_MATH},
}  # fmt: skip
