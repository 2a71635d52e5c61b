"""Control flow as functions of functions. A script reads their source like the user's own, so that
the functions that they are given are read as well; what they do is in _structures.py."""

from . import _structures


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) if pred holds, else false_fn(*operands): as PyTorch's.

    pred: a bool, or a tensor of one element. operands: a tuple of nested tuples, lists, dicts and
    named tuples of tensors and numbers; the results are such too. Numbers become 0-d tensors: bool,
    int64 or the default dtype.

    In a trace or script a pred that is a tensor becomes an `if` of the program: both functions are
    recorded once, and what they give must agree in structure, dtypes and ranks. In eager the one
    taken runs, on the tape as usual; gradients are the same bits in each mode.

    TypeError for results that do not agree, and for what is no tensor or number; ValueError for a
    pred of more than one element; TraceError where a recorded function changes a Python object.
    """
    return _structures.cond(
        pred, lambda *args: true_fn(*args), lambda *args: false_fn(*args), operands
    )


def while_loop(cond_fn, body_fn, carried_inputs):
    """carried = body_fn(*carried) as long as cond_fn(*carried) holds: as PyTorch's.

    carried_inputs: a tuple or list, whose items the functions take as arguments and body_fn gives
    back as a tuple; or anything else, which they take as their one argument. Each item may be
    nested as the operands of cond. Dtypes, ranks and structure stay as they are. What is carried at
    the end, as a tuple where it was one or a list.

    In a trace or script the loop becomes one of the program, whatever the number of rounds.
    Errors as those of cond.
    """
    return _structures.while_loop(
        lambda *args: cond_fn(*args), lambda *args: body_fn(*args), carried_inputs
    )


def fori_loop(lower, upper, body_fun, init_val):
    """val = body_fun(i, val) for i in range(lower, upper), from init_val: as JAX's.

    i is an int, in a trace a size, if both bounds are; where a bound is a tensor of one integer it
    is a 0-d int64 tensor. val may be nested as the operands of cond, and keeps its structure,
    dtypes and ranks. In a trace or script the loop is one of the program; up to 16 rounds of known
    number are written out. Errors as those of cond.
    """
    return _structures.fori_loop(lower, upper, lambda i, val: body_fun(i, val), init_val)


def scan(f, init, xs=None, length=None, reverse=False, *, dim=0):
    """carry, ys: for each slice of xs along dim carry, y = f(carry, slice); the last carry, and the
    ys stacked along dim. As JAX's.

    init, xs and what f gives may be nested as the operands of cond; None stands for nothing. All of
    xs have one size along dim; length says the number of rounds where there are no xs. reverse:
    from the last slice to the first, each y at its slice's place. carry keeps its structure, dtypes
    and ranks, and each y is of one shape and dtype in all rounds.

    In a trace or script it is one loop of the program. ShapeError for xs of different lengths or ys
    of different shapes; other errors as those of cond.
    """
    return _structures.scan(lambda carry, x: f(carry, x), init, xs, length, reverse, dim)


def map(f, xs, *, dim=0):
    """f of each slice of xs along dim, stacked along dim: a scan that carries nothing. As JAX's,
    which knows the first axis.

    One slice at a time, unlike vmap. Errors as those of scan.
    """
    return _structures.map(lambda x: f(x), xs, dim)


def reduce(f, init, xs, *, dim=0):
    """f(... f(f(init, slice 0), slice 1) ...) over the slices of xs along dim: a scan that keeps
    nothing but what is carried. init without slices.

    Sums, products and extremes of numbers are ops of their own, which are faster; associative_scan
    combines many elements at once. Errors as those of scan.
    """
    return _structures.reduce(lambda carry, x: f(carry, x), init, xs, dim)


def associative_scan(fn, elems, reverse=False, axis=0):
    """Every prefix of elems along the axis combined by fn, that of the last elements if reverse.
    Arguments as JAX's.

    fn(a, b): combines two nested values like elems element by element along the axis, and is
    associative; it is called with many elements at once. The order is fixed in every mode: for d =
    1, 2, 4, ... below the size, all elements i >= d at once become fn(element i - d, element i)
    (Hillis and Steele, "Data parallel algorithms", CACM 29, 1986). So there are log2(n) calls, each
    on all elements. A trace captures a program for each number of calls.

    ShapeError where sizes along the axis differ or fn gives another shape; TypeError where it gives
    other dtypes or another structure.
    """
    return _structures.associative_scan(lambda a, b: fn(a, b), elems, reverse, axis)
