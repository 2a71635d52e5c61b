"""Loops as functions of functions. A script reads their source like the user's own."""

from . import ops


def while_loop(condition, body, values):
    """values = body(*values) as long as condition(*values) holds; the last values, as a tuple.

    In a script the loop becomes part of the program; elsewhere it is Python's own.
    """
    values = tuple(values)
    while condition(*values):
        values = tuple(body(*values))
    return values


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) if pred holds, else false_fn(*operands).

    In a script both become parts of the program; elsewhere it is Python's own `if`.
    """
    if pred:
        return true_fn(*operands)
    return false_fn(*operands)


def scan(function, start, x, dim=0):
    """carry, y = function(carry, slice) for each slice of x along dim; the last carry, and the ys
    stacked along dim."""
    carry, ys = start, []
    for piece in ops.unbind(x, dim):
        carry, y = function(carry, piece)
        ys.append(y)
    return carry, ops.stack(ys, dim)
