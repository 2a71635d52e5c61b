"""callback: a function of Python's, called at its place in a program.

What the function is given and gives are nested values; C++ (python/bindings/callback.cpp) knows
lists of tensors. `_Arguments` and `_Results` take the one apart and make the other.
"""

from . import _lathe, ops
from ._lathe import Tensor
from .func import trees
from .jit.observe.symbolic import kind_of_number, number_as_tensor

_PLAIN = (bool, int, float, complex, str, bytes, type(None), _lathe.dtype, _lathe.device)
_MOST_SAVED = 30  # tensors that a derivative reads


def callback(function, *args, result=None, ordered=None, vjp=None):
    """function(*args), called from a program whenever it comes to this place.

    args: nested tuples, lists and dicts of tensors, numbers, texts and None; the function gets the
    same, with tensors of its own. It may do what it likes, also what a trace refuses.
    result: what it gives: a tensor that it is like, a (shape, dtype) pair, a library.TensorSpec, or
    these in tuples, lists and dicts; sizes may be those of a trace. The function returns tensors,
    NumPy arrays or numbers of just these dtypes and sizes. None: nothing.
    ordered: whether each call counts. Ordered calls happen each, in the program's order, also among
    prints; others may be left out where their results are not used, and made once for equal
    arguments. Default: ordered if there is no result.
    vjp: the derivative, vjp(args, result, cotangent) -> a gradient for each of args: a tensor,
    None, or nested as the argument. It is called as the function is.

    What the function raises comes out of the call of the program, which has then written to
    nothing. In a trace, what the function holds is part of the program: a tensor that it uses is
    refused unless it is an argument. AutogradError where a gradient is asked for and there is no
    vjp; UnsupportedError where an ordered call is given what a vmap maps over, and in lt.save.
    """
    return prepared(function, args, result, ordered, vjp)()


def prepared(function, args, result, ordered, vjp, made=None):
    """What makes the call. made: functions of one capture, by all that they depend on, so that
    equal calls have one."""
    for f in (function,) if vjp is None else (function, vjp):
        if not callable(f):
            raise _lathe.TypeError(
                "what is to be called is no function", op="callback", got=type(f).__name__,
                expected="a function from the arguments to the result", next="write a lambda",
            )  # fmt: skip
    given, declared = _Arguments(args), _Results(result)
    if ordered is None:
        ordered = not declared.leaves
    if not ordered and not declared.leaves:
        raise _lathe.ValueError(
            "a call without a result and without order would never happen", op="callback",
            got="ordered=False, no result", expected="a result, or ordered=True",
            next="say what the function gives: result=",
        )  # fmt: skip
    if vjp is not None and max(len(given.tensors), len(declared.leaves)) > _MOST_SAVED:
        raise _lathe.ValueError(
            "a derivative of so many tensors", op="callback",
            got=f"{len(given.tensors)} arguments, {len(declared.leaves)} results",
            expected=f"at most {_MOST_SAVED} of each", next="stack() some of them",
        )  # fmt: skip
    key = (id(function), id(vjp), ordered, given.key(), declared.key())
    host = made.get(key) if made is not None else None
    if host is None:
        host = _host(function, vjp, given, declared)
        if made is not None:
            made[key] = host

    def call():
        return declared.build(_lathe._call_host(host, given.tensors, declared.sizes(), ordered))

    return call


def _host(function, vjp, given, declared):
    name = getattr(function, "__qualname__", type(function).__qualname__)
    plans, structure = given.plans, given.structure

    def run(tensors):
        return declared.taken(name, function(*_rebuilt(plans, structure, tensors)))

    derivative = None
    if vjp is not None:
        types = [(t.dtype, t.ndim, t.device) for t in given.tensors if _is_float(t)]
        rule = _derivative(vjp, plans, structure, declared, len(given.tensors))
        derivative = _lathe._HostFunction(f"vjp of {name}", types, rule, True, None)
    return _lathe._HostFunction(name, declared.types(), run, True, derivative)


def _derivative(vjp, plans, structure, declared, count):
    def run(tensors):
        xs, results = tensors[:count], (len(tensors) - count) // 2
        args = _rebuilt(plans, structure, xs)
        ys, dys = tensors[count : count + results], tensors[count + results :]
        answer = vjp(args, declared.build(ys), declared.build(dys))
        if len(args) == 1 and not isinstance(answer, tuple):
            answer = (answer,)
        if not isinstance(answer, (tuple, list)) or len(answer) != len(args):
            raise _lathe.ValueError(
                "the derivative gives another number of gradients than there are arguments",
                op="callback", got=trees.describe(answer), expected=f"{len(args)} gradients",
                next="return a tuple with one for each argument, None where there is none",
            )  # fmt: skip
        leaves = []
        for gradient, part in zip(answer, structure[2]):
            if gradient is None:
                leaves += [None] * trees.leaf_count(part)
            else:
                leaves += trees.matching("callback", "the gradients", gradient, part)
        tensors = iter(xs)
        out = []
        for leaf, plan in zip(leaves, plans):
            x = next(tensors) if plan[0] != "plain" else None
            if x is not None and _is_float(x):
                out.append(ops.zeros_like(x) if leaf is None else _as_tensor(leaf, x.dtype))
        return out

    return run


def _is_float(t):
    return t.dtype.is_floating_point or t.dtype.is_complex


def _rebuilt(plans, structure, tensors):
    tensors = iter(tensors)
    return trees.unflatten(structure, [_leaf(plan, tensors) for plan in plans])


def _leaf(plan, tensors):
    if plan[0] == "plain":
        return plan[1]
    t = next(tensors)
    return t if plan[0] == "tensor" else plan[1](t.item())


class _Arguments:
    """What a function is given: its tensors, and how the rest is made of them."""

    def __init__(self, args):
        leaves, self.structure = trees.flatten(tuple(args))
        self.tensors = []
        self.plans = [self._plan(leaf) for leaf in leaves]

    def _plan(self, leaf):
        if isinstance(leaf, Tensor):
            self.tensors.append(leaf)
            return ("tensor",)
        if (kind := kind_of_number(leaf)) is not None:
            self.tensors.append(number_as_tensor(leaf))
            return ("number", kind)
        if isinstance(leaf, _PLAIN):
            return ("plain", leaf)
        raise _lathe.TypeError(
            "an argument holds something that is no tensor and no number", op="callback",
            got=type(leaf).__name__,
            expected="nested tuples, lists and dicts of tensors, numbers, texts and None",
            next="let the function know the object, as a method or a closure does",
        )  # fmt: skip

    def key(self):
        types = [(t.dtype, t.ndim) for t in self.tensors]
        return repr((self.structure, self.plans, types))


class _Declared:
    """One result, as the caller says it."""

    def __init__(self, shape, dtype, device):
        self.shape, self.dtype, self.device = tuple(shape), dtype, device


class _Results:
    """What a function gives, by its declaration."""

    def __init__(self, result):
        self.leaves, self.structure = trees.flatten(() if result is None else _declared(result))
        self.none = result is None
        for leaf in self.leaves:
            if not isinstance(leaf, _Declared):
                _refuse_declaration(leaf)

    def types(self):
        return [(d.dtype, len(d.shape), d.device) for d in self.leaves]

    def sizes(self):
        return [size for d in self.leaves for size in d.shape]

    def key(self):
        return repr((self.structure, self.types(), self.none))

    def build(self, tensors):
        return None if self.none else trees.unflatten(self.structure, tensors)

    def taken(self, name, value):
        """The tensors of what the function gave."""
        if self.none:
            if value is not None:
                raise _lathe.TypeError(
                    f"{name}() gives a value, and no result is declared", op="callback",
                    got=type(value).__name__, expected="None",
                    next="say what it gives: result=",
                )  # fmt: skip
            return []
        leaves = trees.matching("callback", f"what {name}() gives", value, self.structure)
        return [_as_tensor(leaf, d.dtype) for leaf, d in zip(leaves, self.leaves)]


def _declared(tree):
    if isinstance(tree, Tensor):
        return _Declared(tree.shape, tree.dtype, tree.device)
    if isinstance(tree, dict):
        return {k: _declared(v) for k, v in tree.items()}
    if isinstance(tree, (tuple, list)):
        if len(tree) == 2 and isinstance(tree[1], _lathe.dtype):
            shape = tree[0] if isinstance(tree[0], (tuple, list)) else (tree[0],)
            return _Declared(shape, tree[1], "cpu")
        parts = [_declared(part) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    if type(tree).__name__ == "TensorSpec":
        return _Declared(tree.shape, tree.dtype, tree.device)
    return _refuse_declaration(tree)


def _refuse_declaration(leaf):
    raise _lathe.TypeError(
        "a result is declared by something that is no type of a tensor", op="callback",
        got=type(leaf).__name__, expected="a tensor, a (shape, dtype) pair or a TensorSpec",
        next="write result=x for a result like x, or result=((n, m), lt.float32)",
    )  # fmt: skip


def _as_tensor(value, dtype):
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float, complex)):
        return _lathe.tensor(value, dtype=dtype)
    try:
        return _lathe.tensor(value)
    except _lathe.Error as cause:
        raise _lathe.TypeError(
            "a function gives something that is no tensor", op="callback",
            got=type(value).__name__, expected="a tensor, a NumPy array or a number",
            next="return the values as a tensor",
        ) from cause  # fmt: skip
