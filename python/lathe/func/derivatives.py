"""Derivatives of functions, which are functions again: of nested tuples, lists and dicts of
tensors, to be traced, nested and batched.

All stand on reverse mode; forward mode is two reverse passes (recorded.Linear).
"""

import functools

from .. import _lathe, ops
from . import trees
from .batching import vmap
from .recorded import Linear, Recorded, refuse


def _recorded(name, function, argnums, args, named, has_aux):
    """The run of function by the chosen arguments, and the structure of one gradient."""
    several = not isinstance(argnums, int)
    numbers = tuple(argnums) if several else (argnums,)
    count = len(args)
    if not numbers or any(not -count <= n < count for n in numbers):
        refuse(name, "argnums names an argument that is not given by place", repr(argnums),
               f"numbers below {count}", "pass the argument by place")  # fmt: skip

    def of_chosen(*chosen):
        given = list(args)
        for n, value in zip(numbers, chosen):
            given[n] = value
        return function(*given, **named)

    run = Recorded(name, of_chosen, tuple(args[n] for n in numbers), has_aux)
    return run, run.inside if several else run.inside[2][0]


def _valued(name, function, argnums, has_aux):
    """A function that gives (the run, the gradient of its one element)."""

    def wrapped(*args, **named):
        run, structure = _recorded(name, function, argnums, args, named, has_aux)
        if len(run.ys) != 1 or run.outside is not None or run.ys[0].numel() != 1:
            refuse("grad", "the gradient of what is not one element",  # not an op: this function
                   trees.describe(run.result()) if len(run.ys) != 1 or run.outside is not None
                   else f"a result of shape {list(run.ys[0].shape)}",
                   "a tensor of one element", "sum() the result")  # fmt: skip
        if run.ys[0].is_complex():
            refuse("grad", "the gradient of what is no real number",  # not an op: this function
                   f"a result of {run.ys[0].dtype}", "a real result",
                   "take the real part or abs() of the result")  # fmt: skip
        found = run.pulled(run.ys, [ops.ones_like(_lathe._unrecorded(run.ys[0]))], keep=False)
        return run, trees.unflatten(structure, found)

    return wrapped


def value_and_grad(function, argnums=0):
    """A function that gives (function's value, its gradient by the argument number argnums).

    argnums: a number, or several; then the gradient is a tuple. An argument may be a nested tuple,
    list or dict of tensors, and its gradient has the same structure. The value is one element. An
    argument that the value does not depend on has a gradient of zeros. Where what is differentiated
    further is among the arguments or what the function closes over, the gradient has a history.
    """
    both = _valued("value_and_grad", function, argnums, False)

    @functools.wraps(function)
    def wrapped(*args, **named):
        run, found = both(*args, **named)
        return run.result(), found

    return wrapped


def grad(func, argnums=0, has_aux=False):
    """The function that gives func's gradient; see value_and_grad.

    has_aux: func gives (value, anything), and this gives (gradient, anything)."""
    both = _valued("grad", func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args, **named):
        run, found = both(*args, **named)
        return (found, run.aux) if has_aux else found

    return wrapped


def grad_and_value(func, argnums=0, has_aux=False):
    """The function that gives (func's gradient, its value); with has_aux the value is the pair that
    func gives."""
    both = _valued("grad_and_value", func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args, **named):
        run, found = both(*args, **named)
        return found, (run.result(), run.aux) if has_aux else run.result()

    return wrapped


def _checked(name, what, values, like):
    """Tensors of the shapes of those they are multiplied with."""
    for value, x in zip(values, like):
        if not isinstance(value, _lathe.Tensor) or value.shape != x.shape:
            got = list(value.shape) if isinstance(value, _lathe.Tensor) else type(value).__name__
            refuse(name, f"{what} do not fit what they belong to", got, list(x.shape),
                   "give each the shape of its own")  # fmt: skip
    return values


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function of cotangents): that gives the products of cotangents, which have
    the structure of func's result, with func's derivative, as a tuple with one item for each
    primal. With has_aux what func gives besides comes third."""
    run = Recorded("vjp", func, primals, has_aux)

    def pull(*cotangents, retain_graph=True):
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        seeds = trees.matching("vjp", "the cotangents", given, run.outside)
        seeds = _checked("vjp", "the cotangents", seeds, run.ys)
        return trees.unflatten(run.inside, run.pulled(run.ys, seeds, retain_graph))

    value = run.result()
    return (value, pull, run.aux) if has_aux else (value, pull)


def _linear(name, func, primals, has_aux=False):
    if not isinstance(primals, tuple):
        refuse(name, "the primals are no tuple", type(primals).__name__, "a tuple of arguments",
               "write (x,) for one", _lathe.TypeError)  # fmt: skip
    run = Recorded(name, func, primals, has_aux)
    linear = Linear(run)

    def push(*tangents):
        values = trees.matching(name, "the tangents", tangents, run.inside)
        return trees.unflatten(
            run.outside, linear.pushed(_checked(name, "the tangents", values, run.xs))
        )

    return run, push


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), its derivative in the direction of tangents); with has_aux what func gives
    besides comes third. strict: a result that does not depend on the primals is an error."""
    run, push = _linear("jvp", func, primals, has_aux)
    if strict and not all(y.requires_grad for y in run.ys):
        refuse("jvp", "a result does not depend on the primals", trees.describe(run.result()),
               "results of the primals", "pass strict=False for zeros")  # fmt: skip
    if not isinstance(tangents, tuple):
        refuse("jvp", "the tangents are no tuple", type(tangents).__name__, "a tuple, as primals",
               "write (t,) for one", _lathe.TypeError)  # fmt: skip
    value, found = run.result(), push(*tangents)
    return (value, found, run.aux) if has_aux else (value, found)


def linearize(func, *primals):
    """(func(*primals), a function of tangents): its derivative there, without another run."""
    run, push = _linear("linearize", func, primals)
    return run.result(), push


def _identity(x):
    """For each element of x a tensor of its shape, 1 there and 0 elsewhere; on a new first axis."""
    n = x.numel()
    return ops.eye(n, dtype=x.dtype, device=x.device).reshape(n, *x.shape)


def _rows(function, basis, chunk_size, randomness="error"):
    """function's results for each row of basis, stacked."""
    return vmap(function, randomness=randomness, chunk_size=chunk_size)(basis)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """The function that gives func's Jacobian by reverse mode: for each tensor of the result, by
    each tensor of the chosen arguments, [*result, *argument], nested in their structures.

    chunk_size: how many rows are computed at a time; all, unless given."""

    @functools.wraps(func)
    def wrapped(*args, **named):
        run, structure = _recorded("jacrev", func, argnums, args, named, has_aux)
        parts = []
        for y in run.ys:
            rows = _rows(lambda row, y=y: run.pulled([y], [row]), _identity(y), chunk_size)
            found = [r.reshape((*y.shape, *x.shape)) for r, x in zip(rows, run.xs)]
            parts.append(trees.unflatten(structure, found))
        found = trees.unflatten(run.outside, parts)
        return (found, run.aux) if has_aux else found

    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error", chunk_size=None):
    """As jacrev, by forward mode: one column for each element of the arguments."""

    @functools.wraps(func)
    def wrapped(*args, **named):
        run, structure = _recorded("jacfwd", func, argnums, args, named, has_aux)
        linear = Linear(run)
        by_input = []
        for i, x in enumerate(run.xs):
            tangents = [ops.zeros_like(t) for t in run.xs]

            def column(row, i=i, tangents=tangents):
                return linear.pushed([*tangents[:i], row, *tangents[i + 1 :]])

            columns = _rows(column, _identity(x), chunk_size, randomness)
            by_input.append([
                c.movedim(0, -1).reshape((*y.shape, *x.shape)) for c, y in zip(columns, run.ys)
            ])  # fmt: skip
        parts = [trees.unflatten(structure, list(of_y)) for of_y in zip(*by_input)]
        found = trees.unflatten(run.outside, parts)
        return (found, run.aux) if has_aux else found

    return wrapped


def hessian(func, argnums=0):
    """The function that gives func's second derivatives: of each tensor of the result, by each two
    tensors of the chosen arguments. Both by reverse mode: forward mode is two reverse passes here,
    and would be a third."""
    return jacrev(jacrev(func, argnums), argnums)
