"""Functions that move elements, and those that put tensors together."""

import lathe as lt

from ._dtypes import together

__all__ = ["broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "matrix_transpose",
           "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile",
           "unstack"]  # fmt: skip


def broadcast_arrays(*arrays):
    return list(lt.broadcast_tensors(*arrays))


def broadcast_to(x, /, shape):
    return lt.broadcast_to(x, tuple(shape))


def concat(arrays, /, *, axis=0):
    parts = together(*arrays)
    if axis is None:
        return lt.cat([p.reshape(-1) for p in parts])
    return lt.cat(list(parts), axis)


def stack(arrays, /, *, axis=0):
    return lt.stack(list(together(*arrays)), axis)


def unstack(x, /, *, axis=0):
    return tuple(lt.unbind(x, axis))


def expand_dims(x, /, axis=0):
    return x.unsqueeze(axis)


def squeeze(x, /, axis):
    axes = axis if isinstance(axis, tuple) else (axis,)
    if any(x.shape[a] != 1 for a in axes):
        raise lt.ValueError(
            "an axis of more than one element stays", op="squeeze", got=f"{tuple(x.shape)}, {axes}"
        )
    return lt.squeeze(x, axes)


def flip(x, /, *, axis=None):
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return lt.flip(x, tuple(axes))


def permute_dims(x, /, axes):
    return x.permute(tuple(axes))


def matrix_transpose(x, /):
    return x.transpose(-1, -2)


def moveaxis(x, source, destination, /):
    return lt.movedim(x, source, destination)


def reshape(x, /, shape, *, copy=None):
    made = x.reshape(tuple(shape))
    if copy is False and made.numel() and made.data_ptr() != x.data_ptr():
        raise lt.ValueError("this shape needs a copy", op="reshape", got="copy=False")
    return made.clone() if copy else made


def roll(x, /, shift, *, axis=None):
    return lt.roll(x, shift, () if axis is None else axis)


def repeat(x, repeats, /, *, axis=None):
    if axis is None:
        x, axis = x.reshape(-1), 0
    if isinstance(repeats, lt.Tensor):
        repeats = repeats.to(lt.int64)
    return lt.repeat_interleave(x, repeats, axis)


def tile(x, repetitions, /):
    return lt.tile(x, tuple(repetitions))
