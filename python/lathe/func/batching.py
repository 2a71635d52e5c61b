"""vmap: a function of one example made one of many, without a loop."""

import functools

from .. import _lathe, ops
from .._lathe import Tensor
from . import trees
from .recorded import refuse

_RANDOMNESS = ("error", "different", "same")  # as Randomness in core/batch/batch.h


def _is_place(value):
    return value is None or isinstance(value, int)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """The function that applies func to many examples at once.

    in_dims: along which axis of each argument the examples lie, None for one that is the same for
    all; a number for all, or nested as the arguments are. out_dims: where they lie in the results.
    Arguments by name are the same for all. Each op that func calls runs once, on all examples.

    randomness: what functions that draw numbers do: 'error', 'different' numbers for each example,
    or the 'same'. chunk_size: how many examples are run at a time; all, unless given.
    """
    if randomness not in _RANDOMNESS:
        refuse("vmap", "an unknown word for randomness", repr(randomness),
               "'error', 'different' or 'same'", "choose one of them")  # fmt: skip
    if chunk_size is not None and chunk_size < 1:
        refuse("vmap", "chunk_size is no number of examples", repr(chunk_size), "1 or more",
               "leave it out for all at once")  # fmt: skip

    @functools.wraps(func)
    def wrapped(*args, **named):
        leaves, structure = trees.flatten(args)
        dims = in_dims if _is_place(in_dims) else tuple(in_dims)
        places = trees.spread("vmap", "in_dims", dims, structure, _is_place)
        mapped = [_in_front(x, d) for x, d in zip(leaves, places)]
        sizes = [x.shape[0] for x, d in zip(mapped, places) if d is not None]
        if not sizes:
            refuse("vmap", "nothing is mapped over", f"in_dims={in_dims!r}",
                   "an axis of one argument or more", "call the function itself")  # fmt: skip
        if any(size != sizes[0] for size in sizes[1:]):
            refuse("vmap", "the arguments have different numbers of examples", sizes,
                   "one number for all", "check in_dims")  # fmt: skip

        def some(part):
            given = [x if d is None else part(x) for x, d in zip(mapped, places)]
            return _run(func, given, places, structure, named, out_dims, randomness)

        if chunk_size is None or sizes[0] <= chunk_size:
            return some(lambda x: x)
        parts = []
        for start in range(0, sizes[0], chunk_size):
            count = min(chunk_size, sizes[0] - start)
            parts.append(some(lambda x, s=start, n=count: x.narrow(0, s, n)))
        return _joined(parts, out_dims)

    return wrapped


def _in_front(x, place):
    """With the axis of the examples first."""
    if place is None:
        return x
    if not isinstance(x, Tensor):
        refuse("vmap", "an argument that is mapped over is no tensor", type(x).__name__, "a tensor",
               "give it None in in_dims", _lathe.TypeError)  # fmt: skip
    if not -x.ndim <= place < x.ndim:
        refuse("vmap", "in_dims names an axis that the argument has not", place,
               f"an axis of {list(x.shape)}", "check in_dims", _lathe.IndexError)  # fmt: skip
    return x if place == 0 else x.movedim(place, 0)


def _run(func, given, places, structure, named, out_dims, randomness):
    like = next(x for x, d in zip(given, places) if d is not None)
    batch = _lathe._Batch(like, _RANDOMNESS.index(randomness))
    try:
        inside = [x if d is None else batch.stand_in(x) for x, d in zip(given, places)]
        result = func(*trees.unflatten(structure, inside), **named)
    finally:
        batch.leave()
    for x, stand_in, d in zip(given, inside, places):
        if d is not None and not _lathe._same_tensor(batch.whole(stand_in), x):
            x.copy_(batch.whole(stand_in))  # func wrote to its argument
    leaves, outside = trees.flatten(result)
    dims = trees.spread("vmap", "out_dims", out_dims, outside, _is_place)
    return trees.unflatten(outside, [_put_back(batch, y, d) for y, d in zip(leaves, dims)])


def _put_back(batch, y, place):
    """A result with the axis of the examples where it is wanted."""
    if not isinstance(y, Tensor):
        refuse("vmap", "the function gives what is no tensor", type(y).__name__, "tensors",
               "return tensors alone", _lathe.TypeError)  # fmt: skip
    if place is None:
        if batch.is_stand_in(y):
            refuse("vmap", "a result differs between examples, and out_dims has None for it",
                   list(y.shape), "an axis", "give out_dims a number for it")  # fmt: skip
        return y
    found = batch.whole(y)
    if not -found.ndim <= place < found.ndim:
        refuse("vmap", "out_dims names an axis that the result has not", place,
               f"an axis of {list(found.shape)}", "check out_dims", _lathe.IndexError)  # fmt: skip
    return found if place == 0 else found.movedim(0, place)


def _joined(parts, out_dims):
    """The results of all chunks as one; what is the same for all is the first's."""
    flat = [trees.flatten(part) for part in parts]
    outside = flat[0][1]
    dims = trees.spread("vmap", "out_dims", out_dims, outside, _is_place)
    columns = zip(*(leaves for leaves, _ in flat))
    joined = [c[0] if d is None else ops.cat(list(c), d) for c, d in zip(columns, dims)]
    return trees.unflatten(outside, joined)


def vmap_fallbacks():
    """How often vmap has run each definition example by example, as it has no rule for it, since
    the program began: {name: calls}. Such calls are right, and as slow as a loop."""
    return dict(_lathe._batch_fallbacks())
