"""What _loops.py does: nested values are taken apart into tensors, and C++ runs or records the
structure (autodiff/control.h).

A part that is recorded runs once, whatever the program does later. So it may change nothing but
tensors (jit/observe/parts.py).
"""

from . import _lathe, ops
from ._lathe import Tensor
from .func import trees
from .jit.observe.parts import part

_KINDS = {bool: _lathe.bool, int: _lathe.int64, _lathe.SymInt: _lathe.int64}
_FLOATS = (float, _lathe.SymFloat)


def _as_tensor(op, what, value):
    if isinstance(value, Tensor):
        return value
    kind = type(value)
    if kind in _FLOATS:
        return ops.full((), value, dtype=_lathe.get_default_dtype())
    if kind in _KINDS:
        return ops.full((), value, dtype=_KINDS[kind])
    raise _lathe.TypeError(
        f"{what} holds something that is no tensor and no number", op=op, got=kind.__name__,
        expected="nested tuples, lists and dicts of tensors, numbers and None",
        next="keep other objects in the functions themselves",
    )  # fmt: skip


class _Tree:
    """A nested value taken apart. What is like it can be taken apart, and put together, too."""

    def __init__(self, op, what, value):
        self.op, self.what = op, what
        leaves, self.structure = trees.flatten(value)
        self.there = [leaf is not None for leaf in leaves]
        self.tensors = [_as_tensor(op, what, leaf) for leaf in leaves if leaf is not None]

    def build(self, tensors):
        tensors = iter(tensors)
        leaves = [next(tensors) if there else None for there in self.there]
        return trees.unflatten(self.structure, leaves)

    def like(self, value, what):
        """The tensors of a value that must have the same structure."""
        leaves = trees.matching(self.op, what, value, self.structure)
        if [leaf is not None for leaf in leaves] != self.there:
            raise _lathe.ValueError(
                f"{what} has None where it had a value, or a value in place of None", op=self.op,
                got=trees.describe(value), expected=trees.describe(self.build(self.there)),
                next="give the same parts each time",
            )  # fmt: skip
        return [_as_tensor(self.op, what, leaf) for leaf in leaves if leaf is not None]


class _Results:
    """What a function gives each time: of the structure that it gave first."""

    def __init__(self, op, what):
        self.op, self.what, self.first = op, what, None

    def take(self, value):
        tree = _Tree(self.op, self.what, value)
        if self.first is None:
            self.first = tree
        elif (tree.structure, tree.there) != (self.first.structure, self.first.there):
            raise _lathe.TypeError(
                f"{self.what} has another structure than before", op=self.op,
                got=trees.describe(value),
                expected=trees.describe(self.first.build(self.first.there)),
                next="give the same tuples, lists and dicts each time",
            )  # fmt: skip
        return tree.tensors


def cond(pred, true_fn, false_fn, operands):
    if not isinstance(pred, Tensor):
        return _plain_cond(pred, true_fn, false_fn, operands)
    given = _Tree("cond", "the operands", tuple(operands))
    results = _Results("cond", "what a branch gives")

    def branch(f):
        f = part("cond", f)
        return lambda: results.take(f(*given.build(given.tensors)))

    tensors = _lathe._cond(pred, branch(true_fn), branch(false_fn))
    return results.first.build(tensors)


def _plain_cond(pred, true_fn, false_fn, operands):
    if type(pred) not in (bool, int, float, _lathe.SymInt, _lathe.SymFloat):
        raise _lathe.TypeError(
            "the condition is no bool and no tensor", op="cond", got=type(pred).__name__,
            expected="a bool, or a tensor of one element", next="compare something",
        )  # fmt: skip
    given = _Tree("cond", "the operands", tuple(operands))
    made = (true_fn if pred else false_fn)(*given.build(given.tensors))
    result = _Tree("cond", "what a branch gives", made)
    return result.build(result.tensors)


def while_loop(cond_fn, body_fn, carried_inputs):
    several = isinstance(carried_inputs, (tuple, list)) and not hasattr(carried_inputs, "_fields")
    start = _Tree("while_loop", "what is carried",
                  tuple(carried_inputs) if several else carried_inputs)  # fmt: skip
    cond_fn, body_fn = part("while_loop", cond_fn), part("while_loop", body_fn)

    def call(f, tensors):
        now = start.build(tensors)
        return f(*now) if several else f(now)

    def ask(tensors):
        answer = call(cond_fn, tensors)
        if isinstance(answer, (tuple, list, dict)) or answer is None:
            raise _lathe.TypeError(
                "the condition gives no bool and no tensor", op="while_loop",
                got=type(answer).__name__, expected="a bool, or a tensor of one element",
                next="return a comparison",
            )  # fmt: skip
        return _as_tensor("while_loop", "the condition", answer)

    def body(tensors):
        return start.like(call(body_fn, tensors), "what the body gives")

    return start.build(_lathe._while_loop(ask, body, start.tensors))


def _is_index(value):
    return type(value) in (int, _lathe.SymInt)


def fori_loop(lower, upper, body_fun, init_val):
    for bound in (lower, upper):
        if not _is_index(bound) and not (
            isinstance(bound, Tensor) and not bound.is_floating_point()
        ):
            raise _lathe.TypeError(
                "a bound of the loop is no integer", op="fori_loop", got=_described(bound),
                expected="an int, a size, or a tensor of one integer", next="convert it first",
            )  # fmt: skip
    start = _Tree("fori_loop", "what is carried", init_val)
    body_fun = part("fori_loop", body_fun)

    def body(i, tensors):
        return start.like(body_fun(i, start.build(tensors)), "what the body gives")

    if _is_index(lower) and _is_index(upper):
        return start.build(_lathe._fori_loop(lower, upper, body, start.tensors))
    first, stop = (_as_tensor("fori_loop", "a bound", b).to(_lathe.int64).reshape(())
                   for b in (lower, upper))  # fmt: skip

    def counted(tensors):
        return [tensors[0] + 1, *body(tensors[0], tensors[1:])]

    tensors = [first, *start.tensors]
    end = _lathe._while_loop(lambda now: now[0] < stop, counted, tensors)
    return start.build(end[1:])


def _described(value):
    return f"a tensor of {value.dtype.name}" if isinstance(value, Tensor) else type(value).__name__


def _axis_first(op, x, dim):
    if not -x.ndim <= dim < x.ndim:
        raise _lathe.IndexError(
            "dim names an axis that a tensor has not", op=op, got=f"{dim} of {list(x.shape)}",
            expected="an axis of every tensor", next="check dim",
        )  # fmt: skip
    return x if dim == 0 else x.movedim(dim, 0)


def scan(f, init, xs, length, reverse, dim, op="scan"):
    start = _Tree(op, "what is carried", init)
    given = _Tree(op, "xs", xs)
    along = [_axis_first(op, x, dim) for x in given.tensors]
    if length is None:
        if not along:
            raise _lathe.ValueError(
                "the number of rounds is not known", op=op, got="no xs and no length",
                expected="xs, or a length", next="pass length=",
            )  # fmt: skip
        length = along[0].shape[0]
    elif not _is_index(length):
        raise _lathe.TypeError("the length is no integer", op=op, got=_described(length),
                               expected="an int or a size", next="convert it first")  # fmt: skip
    ys = _Results(op, "what a round gives")
    f = part(op, f)

    def round(carried, rows):
        made = f(start.build(carried), given.build(rows))
        if not isinstance(made, tuple) or len(made) != 2:
            raise _lathe.TypeError(
                "the function gives no pair", op=op, got=trees.describe(made),
                expected="(carry, y)", next="return carry, y; None for a y that is not wanted",
            )  # fmt: skip
        return start.like(made[0], "what is carried on"), ys.take(made[1])

    carried, stacked = _lathe._scan(round, start.tensors, along, length, bool(reverse))
    if dim != 0:
        stacked = [_axis_back(op, y, dim) for y in stacked]
    return start.build(carried), ys.first.build(stacked)


def scan_of_a_kind(name, f, carried, xs, constants, reverse):
    """A scan of f(carried, rows, constants) -> (carried, what is stacked), all of them lists of
    tensors, which nobody checks. f reads nothing else, and its name says what it does: what eager
    code calls again and again is a program."""
    return _lathe._scan_of_a_kind(name, part("scan", f), carried, xs, constants, reverse)


def _axis_back(op, y, dim):
    if not -y.ndim <= dim < y.ndim:
        raise _lathe.IndexError(
            "the results of the rounds cannot be stacked along dim", op=op,
            got=f"dim {dim} for results of {list(y.shape[1:])}", expected="an axis of the result",
            next="use dim=0 and move the axis afterwards",
        )  # fmt: skip
    return y.movedim(0, dim)


def map(f, xs, dim):
    return scan(lambda carry, x: (carry, f(x)), (), xs, None, False, dim, op="map")[1]


def reduce(f, init, xs, dim):
    return scan(lambda carry, x: (f(carry, x), None), init, xs, None, False, dim, op="reduce")[0]


def associative_scan(fn, elems, reverse, axis):
    given = _Tree("associative_scan", "elems", elems)
    if not given.tensors:
        raise _lathe.ValueError("there is nothing to scan", op="associative_scan", got="no tensors",
                                expected="one tensor or more", next="check elems")  # fmt: skip
    for x in given.tensors:
        _axis_first("associative_scan", x, axis)

    def combine(a, b):
        return given.like(fn(given.build(a), given.build(b)), "what the function gives")

    return given.build(_lathe._associative_scan(combine, given.tensors, axis, bool(reverse)))
