"""Functions that make tensors."""

import builtins

import numpy as np

import lathe as lt

__all__ = ["arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
           "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros",
           "zeros_like"]  # fmt: skip


def sized(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    if isinstance(obj, lt.Tensor):
        made = obj if dtype in (None, obj.dtype) else obj.to(dtype)
        if copy is False and made is not obj:
            raise lt.ValueError("another dtype needs a copy", op="asarray", got="copy=False")
        return made.clone() if copy and made is obj else made
    if copy is False and not hasattr(obj, "__array__"):
        raise lt.ValueError("what is no array is copied", op="asarray", got="copy=False")
    if isinstance(obj, np.ndarray) and not copy and dtype is None:
        return lt.from_numpy(obj)
    return lt.tensor(obj, dtype=dtype, device=device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    start, stop = (0, start) if stop is None else (start, stop)
    values = (start, stop, step)
    if not all(isinstance(v, builtins.int) for v in values):
        values = start, stop, step = tuple(builtins.float(v) for v in values)
        dtype = dtype or lt.get_default_dtype()
    if (stop - start) * step < 0:  # of nothing, where PyTorch refuses it
        return lt.empty(0, dtype=dtype or lt.int64, device=device)
    return lt.arange(*values, dtype=dtype, device=device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    if not endpoint:
        return linspace(start, stop, num + 1, dtype=dtype, device=device)[:-1]
    return lt.linspace(start, stop, num, dtype=dtype, device=device)


def empty(shape, *, dtype=None, device=None):
    return lt.empty(sized(shape), dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    return lt.zeros(sized(shape), dtype=dtype, device=device)


def ones(shape, *, dtype=None, device=None):
    return lt.ones(sized(shape), dtype=dtype, device=device)


def full(shape, fill_value, *, dtype=None, device=None):
    return lt.full(sized(shape), fill_value, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    return lt.empty_like(x, dtype=dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    return lt.zeros_like(x, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    return lt.ones_like(x, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    return lt.full_like(x, fill_value, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    columns = n_rows if n_cols is None else n_cols
    k = builtins.max(-n_rows, builtins.min(k, columns))  # beyond, there is no diagonal
    rows = lt.arange(n_rows).unsqueeze(1)
    return lt.eq(lt.arange(columns), rows + k).to(dtype or lt.get_default_dtype())


def from_dlpack(x, /, *, device=None, copy=None):
    made = lt.from_dlpack(x)
    return made.clone() if copy else made


def meshgrid(*arrays, indexing="xy"):
    return list(lt.meshgrid(*arrays, indexing=indexing))


def tril(x, /, *, k=0):
    return lt.tril(x, k)


def triu(x, /, *, k=0):
    return lt.triu(x, k)
