"""Functions of the module that are not ops: PyTorch's other ways to call them, and comparisons.

All of them are made of ops, so they are recorded, traced and differentiated like those.
"""

from . import _lathe
from ._lathe import Tensor, ops


def arange(start, end=None, step=1, *, dtype=None, device=None, requires_grad=False) -> Tensor:
    """start, start + step, ... below end; arange(end) starts at 0."""
    if end is None:
        start, end = 0, start
    return ops.arange(start, end, step, dtype=dtype, device=device, requires_grad=requires_grad)


def randint(low, high=None, shape=None, *, size=None, dtype=None, device=None) -> Tensor:
    """Uniform integers in [low, high); randint(high, shape) starts at 0."""
    shape = size if shape is None else shape
    if shape is None:
        low, high, shape = 0, low, high
    elif high is None:
        low, high = 0, low
    return ops.randint(low, high, shape, dtype=dtype, device=device)


def empty(*shape, dtype=None, device=None, requires_grad=False) -> Tensor:
    """Zeros: there is no memory to be seen that nobody has written."""
    return ops.zeros(*shape, dtype=dtype, device=device, requires_grad=requires_grad)


def empty_like(x, dtype=None) -> Tensor:
    """Zeros of x's shape."""
    return ops.zeros_like(x, dtype)


def rand_like(x, dtype=None) -> Tensor:
    """Uniform in [0, 1), of x's shape."""
    return ops.rand(x.shape, dtype or x.dtype, x.device)


def randn_like(x, dtype=None) -> Tensor:
    """Normal with mean 0 and variance 1, of x's shape."""
    return ops.randn(x.shape, dtype or x.dtype, x.device)


def as_tensor(data, dtype=None, device=None) -> Tensor:
    """data itself if it is a tensor of that kind, a tensor over its memory where that can be, else
    a copy."""
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if hasattr(data, "__array_interface__"):
        try:
            return _lathe.from_numpy(data).to(device=device, dtype=dtype)
        except (ValueError, TypeError):
            pass
    return _lathe.tensor(data, dtype=dtype, device=device)


def is_tensor(x) -> bool:
    return isinstance(x, Tensor)


def is_floating_point(x) -> bool:
    return x.dtype.is_floating_point


def is_complex(x) -> bool:
    return x.dtype.is_complex


def numel(x) -> int:
    return x.numel()


def equal(x, y) -> bool:
    """Whether x and y have one shape and equal elements; a Python bool."""
    return x.shape == y.shape and bool(ops.all(ops.eq(x, y)))


def isclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False) -> Tensor:
    """|x - y| <= atol + rtol * |y|, element by element; equal infinities are close."""
    near = ops.abs(x - y) <= atol + rtol * ops.abs(y)
    near = ops.logical_or(ops.eq(x, y), ops.logical_and(near, ops.isfinite(y)))
    if equal_nan:
        near = ops.logical_or(near, ops.logical_and(ops.isnan(x), ops.isnan(y)))
    return near


def allclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False) -> bool:
    """Whether all elements are close; a Python bool."""
    return bool(ops.all(isclose(x, y, rtol, atol, equal_nan)))


def fmax(x, y) -> Tensor:
    """The larger of x and y; where one is no number, the other."""
    return ops.where(ops.isnan(x), y, ops.where(ops.isnan(y), x, ops.maximum(x, y)))


def fmin(x, y) -> Tensor:
    """The smaller of x and y; where one is no number, the other."""
    return ops.where(ops.isnan(x), y, ops.where(ops.isnan(y), x, ops.minimum(x, y)))


def isinf(x) -> Tensor:
    return ops.logical_not(ops.logical_or(ops.isfinite(x), ops.isnan(x)))


def maximum_or_extreme(x, dim, keepdim, both, whole, along):
    if isinstance(dim, Tensor):
        return both(x, dim)
    if dim is None:
        return whole(x)
    return along(x, dim, keepdim)


def max(x, dim=None, keepdim=False):
    """The largest element; along dim, (values, indices); of two tensors, element by element."""
    return maximum_or_extreme(x, dim, keepdim, ops.maximum, ops.amax, ops.max_dim)


def min(x, dim=None, keepdim=False):
    """The smallest element; along dim, (values, indices); of two tensors, element by element."""
    return maximum_or_extreme(x, dim, keepdim, ops.minimum, ops.amin, ops.min_dim)


def norm(x, p=2, dim=None, keepdim=False) -> Tensor:
    """(sum |x|^p)^(1/p) over dim, or over everything; integers as floats. p: a number, inf, -inf, 0
    (how many elements are not 0; it has no derivative), or "fro", which is 2. For p from 1 on, the
    derivative where the norm is 0 is 0."""
    dims = [] if dim is None else dim
    if p == "fro":
        p = 2
    if isinstance(p, str):
        raise _lathe.ValueError(
            "this norm does not exist",
            op="norm",
            got=repr(p),
            expected='a number, inf, -inf or "fro"',
            next="for p-norms give p as a number",
        )
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        x = x.to(_lathe.get_default_dtype())  # squares and -128's magnitude need more room
    if p == float("inf"):
        return ops.amax(ops.abs(x), dims, keepdim)
    if p == -float("inf"):
        return ops.amin(ops.abs(x), dims, keepdim)
    if p == 0:
        return ops.sum(ops.cast(ops.ne(x, 0), ops.abs(x).dtype), dims, keepdim)
    if p == 1:
        return ops.sum(ops.abs(x), dims, keepdim)

    def root(t):
        return ops.sqrt(t) if p == 2 else ops.pow(t, 1 / p)

    powers = ops.square(ops.abs(x)) if p == 2 else ops.pow(ops.abs(x), p)
    total = ops.sum(powers, dims, keepdim)
    if p < 1:
        return root(total)
    # A root is infinitely steep at 0, and that times the 0 behind it would be NaN.
    nothing = ops.eq(total, 0)
    return ops.where(nothing, total, root(ops.where(nothing, 1, total)))


def _positive(number, op, what):
    if number <= 0:
        raise _lathe.ValueError(
            f"{what} must be positive",
            op=op,
            got=number,
            expected="at least 1",
            next="give a number from 1",
        )


def split(x, size, dim=0) -> tuple[Tensor, ...]:
    """Pieces of `size` along dim (the last may be shorter), or of the sizes in a list; views."""
    total = x.shape[dim]
    if isinstance(size, int):
        _positive(size, "split", "the size of a piece")
        starts = range(0, int(total), size)
        return tuple(ops.slice(x, dim, s, s + size) for s in starts) or (x,)
    pieces, at = [], 0
    for s in size:
        pieces.append(ops.narrow(x, dim, at, s))
        at = at + s
    if at != total:
        raise _lathe.ValueError(
            "the sizes do not add up to the axis",
            op="split",
            got=list(size),
            expected=total,
            next="give sizes that cover the axis, or one size for all pieces",
        )
    return tuple(pieces)


def chunk(x, chunks, dim=0) -> tuple[Tensor, ...]:
    """At most `chunks` pieces of equal size along dim (the last may be shorter); views."""
    _positive(chunks, "chunk", "the number of pieces")
    return split(x, -(-int(x.shape[dim]) // chunks) or 1, dim)


def unbind(x, dim=0) -> tuple[Tensor, ...]:
    """The slices along dim, without that axis; views."""
    return tuple(ops.select(x, dim, i) for i in range(x.shape[dim]))


def masked_fill(x, mask, value) -> Tensor:
    """x with value where mask (bool) is true, in x's dtype. DTypeError for a mask of another dtype,
    and for a value of a kind that x's dtype does not hold (1.5 among integers; in bool all numbers
    but 0 are true)."""
    mask = as_tensor(mask)
    if mask.dtype is not _lathe.bool:
        raise _lathe.DTypeError(
            "the mask is not of bool",
            op="masked_fill",  # not an op: the function of this name
            got=f"a mask of {mask.dtype}",
            expected="a mask of bool",
            next="compare it: mask != 0",
        )
    if x.dtype is _lathe.bool and not isinstance(value, Tensor):
        value = value != 0
    y = ops.where(mask, value, x)
    if y.dtype is x.dtype:
        return y
    if _kind(y.dtype) > _kind(x.dtype):
        raise _lathe.DTypeError(
            "the value is of a kind that the tensor does not hold",
            op="masked_fill",  # not an op: the function of this name
            got=f"a tensor of {x.dtype} and a value that makes it {y.dtype}",
            expected=f"a value of {x.dtype}",
            next="convert the tensor or the value with .to(dtype) first",
        )
    return y.to(x.dtype)


def _kind(dtype) -> int:
    """0: bool, 1: integers, 2: floats, 3: complex."""
    if dtype.is_complex or dtype.is_floating_point:
        return 3 if dtype.is_complex else 2
    return int(dtype is not _lathe.bool)


def unfold(x, dim, size, step) -> Tensor:
    """Windows of `size` elements along dim, each `step` after the one before, as a new last axis;
    a view, which cannot be written through."""
    dim = dim % x.ndim
    last = ops.transpose(x, dim, -1)
    seen = ops.windows(ops.unsqueeze(last, -2), [1, size], [1, step])
    return ops.transpose(ops.squeeze(seen, [-2, -4]), dim, -2)


def repeat(x, *counts) -> Tensor:
    """x laid side by side, counts[i] times along axis i; more counts than axes make new axes in
    front."""
    if len(counts) == 1 and isinstance(counts[0], (tuple, list)):
        counts = tuple(counts[0])
    new = len(counts) - x.ndim
    if new < 0 or any(n < 0 for n in counts):
        raise _lathe.ValueError(
            "a count of 0 or more for each axis expected",
            op="repeat",  # not an op: the function of this name
            got=f"{list(counts)} for rank {x.ndim}",
            expected=f"at least {x.ndim} counts",
            next="a count of 1 leaves an axis as it is",
        )
    sizes = (1,) * new + tuple(x.shape)
    pairs = [n for count, size in zip(counts, sizes) for n in (count, size)]
    apart = ops.reshape(x, [n for size in sizes for n in (1, size)])
    tiled = ops.expand(apart, pairs)
    return ops.reshape(tiled, [count * size for count, size in zip(counts, sizes)])


def bmm(a, b) -> Tensor:
    """Matrix products of a batch: a[n, i, k] @ b[n, k, j]."""
    if a.ndim != 3 or b.ndim != 3:
        raise _lathe.ShapeError(
            "two tensors of rank 3 expected",
            op="bmm",
            got=f"{list(a.shape)} and {list(b.shape)}",
            next="use matmul or @ for other ranks",
            expected="[n, i, k] and [n, k, j]",
        )
    return ops.mm(a, b)


def addmm(c, a, b, *, beta=1, alpha=1) -> Tensor:
    """beta * c + alpha * (a @ b)."""
    product = ops.matmul(a, b)
    if alpha != 1:
        product = product * alpha
    return (c if beta == 1 else c * beta) + product


def tril(x, diagonal=0) -> Tensor:
    """The lower triangle of the last two axes; zeros above the diagonal."""
    rows, columns = _triangle(x)
    return ops.where(columns <= rows + diagonal, x, False)


def triu(x, diagonal=0) -> Tensor:
    """The upper triangle of the last two axes; zeros below the diagonal."""
    rows, columns = _triangle(x)
    return ops.where(columns >= rows + diagonal, x, False)


def _triangle(x):
    rows = ops.unsqueeze(ops.arange(0, x.shape[-2], device=x.device), 1)
    return rows, ops.arange(0, x.shape[-1], device=x.device)


def exported():
    """What becomes part of `lathe`."""
    names = globals()
    mine = {n: f for n, f in names.items() if getattr(f, "__module__", "") == __name__}
    hidden = {"exported", "maximum_or_extreme"}
    return {n: f for n, f in mine.items() if n not in hidden and not n.startswith("_")}
