"""Functions whose arguments are nested lists, shapes or foreign buffers, put into an op's terms."""

import math

from . import _lathe, ops
from ._errors import typed
from ._lathe import _Tensor as Tensor

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _refuse(op, problem, got, expected, next):
    return _lathe.ValueError(problem, op=op, got=got, expected=expected, next=next)


# ── einsum ──────────────────────────────────────────────────────────────────────────────────────


def _subscript(axes):
    """[0, ..., 2] as 'A...C'."""
    letters = []
    for axis in axes:
        known = axis is Ellipsis or (isinstance(axis, int) and 0 <= axis < len(_LETTERS))
        if not known:
            raise _refuse(
                "einsum", "an axis has no such number", repr(axis),  # not an op: its own name
                f"numbers from 0 to {len(_LETTERS) - 1}, or ...", "number the axes from 0",
            )  # fmt: skip
        letters.append("..." if axis is Ellipsis else _LETTERS[axis])
    return "".join(letters)


def _equation(args):
    """The equation and the operands: of ('ij,jk', x, y) or of (x, [0, 1], y, [1, 2], [0, 2])."""
    if not args or isinstance(args[0], str):
        many = len(args) == 2 and isinstance(args[1], (list, tuple))
        return args[0] if args else "", args[1] if many else args[1:]
    terms = ",".join(_subscript(axes) for axes in args[1::2])
    result = "->" + _subscript(args[-1]) if len(args) % 2 else ""
    return terms + result, args[: len(args) - len(args) % 2 : 2]


def _explicit(equation, operands):
    """The letters of each operand and of the result, none of them '...'."""
    terms, arrow, result = equation.replace(" ", "").partition("->")
    free = [c for c in _LETTERS if c not in equation]
    terms = terms.split(",")
    dots = [x.ndim - len(t) + 3 for t, x in zip(terms, operands) if "..." in t]
    free = free[: max(dots, default=0)]

    def named(term, axes):
        return term.replace("...", "".join(free[len(free) - axes :]))

    if not arrow:
        letters = "".join(terms).replace(".", "")
        result = "..." + "".join(c for c in sorted(set(letters)) if letters.count(c) == 1)
    terms = [named(t, x.ndim - len(t) + 3) for t, x in zip(terms, operands)]
    return terms, named(result, len(free))


def _cheapest(terms, sizes, result):
    """The pair whose product is smallest, less what it replaces; and the letters it keeps."""
    best = None
    for j in range(1, len(terms)):
        for i in range(j):
            rest = set(result).union(*(t for k, t in enumerate(terms) if k not in (i, j)))
            kept = "".join(c for c in dict.fromkeys(terms[i] + terms[j]) if c in rest)

            def count(term):
                return math.prod(sizes[c] for c in set(term))

            cost = count(kept) - count(terms[i]) - count(terms[j])
            if best is None or cost < best[0]:
                best = (cost, (i, j), kept)
    return best[1:]


def _in_order(equation, operands, optimize):
    """Two operands at a time: by a path as NumPy's einsum_path gives it, or the cheapest pair."""
    operands = list(operands)
    terms, result = _explicit(equation, operands)
    sizes = {}
    for term, x in zip(terms, operands):
        for letter, size in zip(term, x.shape):
            sizes[letter] = max(size, sizes.get(letter, size))
    path = [] if isinstance(optimize, (bool, str)) else [p for p in optimize if p != "einsum_path"]
    while len(operands) > 2:
        chosen, kept = tuple(path.pop(0)) if path else None, None
        if chosen is None:
            chosen, kept = _cheapest(terms, sizes, result)
        else:
            rest = set(result).union(*(t for k, t in enumerate(terms) if k not in chosen))
            kept = "".join(c for c in dict.fromkeys("".join(terms[i] for i in chosen)) if c in rest)
        parts = [operands[i] for i in chosen]
        value = ops.einsum(",".join(terms[i] for i in chosen) + "->" + kept, parts)
        for i in sorted(chosen, reverse=True):
            del operands[i], terms[i]
        operands.append(value)
        terms.append(kept)
    return ops.einsum(",".join(terms) + "->" + result, operands)


def einsum(*args, optimize=None) -> Tensor:
    """A sum of products over named axes: einsum('ij,jk->ik', x, y), or with axes as numbers,
    einsum(x, [0, 1], y, [1, 2], [0, 2]).

    Operands are joined two by two from the left; optimize=True joins the cheapest pair first, and
    a path as numpy.einsum_path gives it is followed.
    """
    equation, operands = _equation(args)
    if optimize is None or optimize is False or len(operands) < 3:
        return ops.einsum(equation, operands)
    return _in_order(equation, operands, optimize)


def tensordot(a, b, dims=2, out=None, *, axes=None) -> Tensor:
    """Sums of products over pairs of axes, one of each tensor.

    dims (NumPy's axes): how many axes, the last of a and the first of b; or two lists, of a's axes
    and of b's.
    """
    dims = dims if axes is None else axes
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise _refuse(
                "tensordot", "there are not so many axes", f"dims={dims}",  # not an op
                f"0 to {min(a.ndim, b.ndim)}", "dims is how many axes are summed",
            )  # fmt: skip
        dims = (list(range(a.ndim - dims, a.ndim)), list(range(dims)))
    of_a, of_b = ([d] if isinstance(d, int) else d for d in dims)
    value = getattr(ops, "tensordot.dims")(a, b, of_a, of_b)  # not an op: its own name
    return value if out is None else out.copy_(value)


# ── shapes ──────────────────────────────────────────────────────────────────────────────────────


def broadcast_shapes(*shapes) -> tuple[int, ...]:
    """The shape that tensors of these shapes have in common; a number is a shape of one axis."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    common = []
    for i in range(-max((len(s) for s in shapes), default=0), 0):
        size = 1
        for s in shapes:
            if len(s) < -i or s[i] == 1 or s[i] == size:
                continue
            if size != 1 or s[i] < 0:
                raise _lathe.ShapeError(
                    "the shapes do not broadcast", op="broadcast_shapes",
                    got=", ".join(map(str, shapes)), expected="equal sizes, or 1 where they differ",
                    next="compare the sizes from the last axis on",
                )  # fmt: skip
            size = s[i]
        common.append(size)
    return tuple(common)


def is_same_size(input, other) -> bool:
    return input.shape == other.shape


# ── from memory ─────────────────────────────────────────────────────────────────────────────────


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False) -> Tensor:
    """A tensor of obj: over its memory where that can be, unless copy is True. With copy=False a
    ValueError where it cannot."""
    from ._functions import as_tensor

    shared = as_tensor(obj, dtype=dtype, device=device)
    if isinstance(obj, Tensor):
        same = shared is obj or shared.data_ptr() == obj.data_ptr()
    else:
        place = getattr(obj, "__array_interface__", None)
        same = place is not None and place["data"][0] == shared.data_ptr()
    if copy is False and not same:
        raise _refuse(
            "asarray", "this cannot be done without a copy", type(obj).__name__,
            "a tensor or an array of that dtype and device", "leave copy out",
        )  # fmt: skip
    if copy and same:
        shared = shared.clone()
    shared = shared.detach() if shared.requires_grad and not requires_grad else shared
    return shared.requires_grad_() if requires_grad else shared


def frombuffer(buffer, *, dtype=None, count=-1, offset=0, requires_grad=False) -> Tensor:
    """A tensor over the memory of any writable object with the buffer protocol, from the byte
    offset on; of its own dtype and shape if none is given."""
    if dtype is None and count == -1 and offset == 0:
        tensor = _lathe.from_numpy(buffer)
        return tensor.requires_grad_() if requires_grad else tensor
    dtype = _lathe.uint8 if dtype is None else dtype
    data = memoryview(buffer).cast("B")
    fits = (len(data) - offset) // dtype.itemsize
    if offset < 0 or count < -1 or fits < 1 or count > fits or count == 0:
        raise _refuse(
            "frombuffer", "there are not so many elements", f"count={count}, offset={offset}",
            f"at most {max(fits, 0)} elements of {dtype} behind the offset",
            "offset is in bytes, count in elements",
        )  # fmt: skip
    if count == -1 and (len(data) - offset) % dtype.itemsize:
        raise _refuse(
            "frombuffer", "the bytes are no whole number of elements",
            f"{len(data) - offset} bytes",
            f"a multiple of {dtype.itemsize}", "say with count how many elements to take",
        )  # fmt: skip
    size = (fits if count == -1 else count) * dtype.itemsize
    tensor = _lathe.from_numpy(data[offset : offset + size]).view(dtype)
    return tensor.requires_grad_() if requires_grad else tensor


for _f in (einsum, tensordot, broadcast_shapes, asarray, frombuffer, is_same_size):
    globals()[_f.__name__] = typed(_f)
