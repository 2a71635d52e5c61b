"""What shape ops and products compute, in NumPy and SciPy; collected by references.py."""

import itertools

import numpy as np
from scipy.spatial import distance


def rolled(x, shifts, dims=None):
    return np.roll(x, shifts, tuple(dims)) if dims else np.roll(x, shifts[0])


def moved(x, source, destination):
    return np.moveaxis(x, source, destination)


def unflattened(x, dim, sizes):
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])


def sections(split):
    return lambda x, n: tuple(split(x, n))


def written(x, index, value):
    out = x.copy()
    out[index] = value
    return out


def embedded_diagonal(x, offset=0, dim1=-2, dim2=-1):
    n = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], n, n))
    i = np.arange(x.shape[-1])
    out[..., i + max(-offset, 0), i + max(offset, 0)] = x
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


def filled_diagonal(x, value, wrap=False):
    out = x.copy()
    np.fill_diagonal(out, value, wrap)
    return out


def on_diagonal(x, src, offset=0):
    out = x.copy()
    i = np.arange(len(src))
    out[i + max(-offset, 0), i + max(offset, 0)] = src
    return out


def blocks(xs):
    xs = [np.atleast_2d(x) for x in xs]
    out = np.zeros(np.sum([x.shape for x in xs], 0))
    row = column = 0
    for x in xs:
        out[row : row + x.shape[0], column : column + x.shape[1]] = x
        row, column = row + x.shape[0], column + x.shape[1]
    return out


def deep(x):
    """NumPy's atleast_3d but for a vector, which is a row there: [1, n, 1]."""
    return np.atleast_3d(x)


def combined(x, r=2, with_replacement=False):
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(x, r)))


def shuffled(x, f):
    n, c, h, w = x.shape
    y = x.reshape(n, c // f // f, f, f, h, w).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(n, c // f // f, h * f, w * f)


def unshuffled(x, f):
    n, c, h, w = x.shape
    y = x.reshape(n, c, h // f, f, w // f, f).transpose(0, 1, 3, 5, 2, 4)
    return y.reshape(n, c * f * f, h // f, w // f)


def dealt(x, groups):
    y = x.reshape(len(x), groups, -1, *x.shape[2:])
    return np.swapaxes(y, 1, 2).reshape(x.shape)


def pair(v):
    return (v, v) if isinstance(v, int) else tuple(v)


def places(size, kernel, dilation, padding, stride):
    """Where each element of each window lies in the padded picture: kernel by windows."""
    k, d, p, s = map(pair, (kernel, dilation, padding, stride))
    count = [(size[a] + 2 * p[a] - d[a] * (k[a] - 1) - 1) // s[a] + 1 for a in (0, 1)]
    for i, j in np.ndindex(k):
        for y, x in np.ndindex(*count):
            yield (i * k[1] + j, y * count[1] + x, i * d[0] + y * s[0], j * d[1] + x * s[1])


def columns(x, kernel_size, dilation=1, padding=0, stride=1):
    if x.ndim == 3:
        return columns(x[None], kernel_size, dilation, padding, stride)[0]
    found = list(places(x.shape[2:], kernel_size, dilation, padding, stride))
    p = pair(padding)
    x = np.pad(x, [(0, 0), (0, 0), (p[0], p[0]), (p[1], p[1])])
    area = int(np.prod(pair(kernel_size)))
    out = np.zeros((*x.shape[:2], area, found[-1][1] + 1))
    for k, window, row, column in found:
        out[:, :, k, window] = x[:, :, row, column]
    return out.reshape(len(x), -1, out.shape[-1])


def folded(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    if x.ndim == 2:
        return folded(x[None], output_size, kernel_size, dilation, padding, stride)[0]
    size, p, area = pair(output_size), pair(padding), int(np.prod(pair(kernel_size)))
    x = x.reshape(len(x), -1, area, x.shape[-1])
    out = np.zeros((*x.shape[:2], size[0] + 2 * p[0], size[1] + 2 * p[1]))
    for k, window, row, column in places(size, kernel_size, dilation, padding, stride):
        out[:, :, row, column] += x[:, :, k, window]
    return out[:, :, p[0] : p[0] + size[0], p[1] : p[1] + size[1]]


def scaled(product):
    return lambda x, a, b, beta=1, alpha=1: beta * x + alpha * product(a, b)


def summed(a, b):
    return (a @ b).sum(0)


def strided(x, size, stride, offset=0):
    item = x.itemsize
    flat = x.ravel()[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, [s * item for s in stride]).copy()


def strided_put(x, value, size, stride, offset=0):
    out = x.copy()
    steps = [s * x.itemsize for s in stride]
    np.lib.stride_tricks.as_strided(out.reshape(-1)[offset:], size, steps)[...] = value
    return out


def distances(x, y, p=2.0, compute_mode=None):
    apart = np.abs(x[..., :, None, :] - y[..., None, :, :])
    return (apart**p).sum(-1) ** (1 / p)


def vander(x, N=None, increasing=False):
    return np.vander(x, N, increasing)


REFERENCES = {
    "reversed": lambda x, dims: np.flip(x, dims), "flip": lambda x, dims: np.flip(x, dims),
    "reversed_put": lambda x, v, dims: np.flip(v, dims), "fliplr": np.fliplr, "flipud": np.flipud,
    "roll": rolled, "rot90": lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims),
    "tile": lambda x, dims: np.tile(x, dims),
    "repeat_interleave": lambda x, repeats, dim=None: np.repeat(x, repeats, dim),
    "repeat_interleave.each": lambda x, repeats, dim: np.repeat(x, repeats, dim),
    "repeat_interleave.places": lambda n: np.repeat(np.arange(len(n)), n),
    "movedim": moved, "swapaxes": lambda x, axis0, axis1: np.swapaxes(x, axis0, axis1),
    "transpose.axes": lambda x, axes: np.transpose(x, axes), "unflatten": unflattened,
    "ravel": np.ravel, "broadcast_to": lambda x, size: np.broadcast_to(x, size),
    "narrow_copy": lambda x, dim, start, length: np.take(x, range(start, start + length), dim),
    "adjoint": lambda x: np.conj(np.swapaxes(x, -1, -2)), "resolve_conj": np.copy,
    "resolve_neg": np.copy, "sum_to_size": lambda x, size: x.sum((0, 2))[:, None],
    "linalg_diagonal": lambda x, offset: np.diagonal(x, offset, -2, -1),
    "atleast_1d": np.atleast_1d, "atleast_2d": np.atleast_2d,
    "atleast_3d": deep, "hstack": np.hstack, "vstack": np.vstack, "dstack": np.dstack,
    "column_stack": np.column_stack, "block_diag": blocks, "combinations": combined,
    "meshgrid": lambda xs, indexing="ij": tuple(np.meshgrid(*xs, indexing=indexing)),
    "cartesian_prod": lambda xs: np.array(list(itertools.product(*xs))),
    "broadcast_tensors": lambda xs: tuple(np.broadcast_arrays(*xs)),
    "diagonal": lambda x, offset=0, dim1=0, dim2=1: np.diagonal(x, offset, dim1, dim2),
    "diagonal_put": on_diagonal, "diagonal_scatter": on_diagonal,
    "diag_embed": embedded_diagonal, "diag": lambda x, diagonal: np.diag(x, diagonal),
    "diagflat": lambda x, offset: np.diagflat(x, offset), "fill_diagonal_": filled_diagonal,
    "select_scatter": lambda x, src, dim, index: written(x, (slice(None), index), src),
    "slice_scatter": lambda x, src, start, end, step: written(x, slice(start, end, step), src),
    "tril": np.tril, "triu": np.triu,
    "tril_indices": lambda row, col, offset: np.stack(np.tril_indices(row, offset, col)),
    "triu_indices": lambda row, col, offset: np.stack(np.triu_indices(row, offset, col)),
    "pixel_shuffle": lambda x, upscale_factor: shuffled(x, upscale_factor),
    "pixel_unshuffle": lambda x, downscale_factor: unshuffled(x, downscale_factor),
    "channel_shuffle": lambda x, groups: dealt(x, groups), "unfold.functional": columns,
    "fold": folded, "mv": np.matmul, "bmm": np.matmul, "dot": np.dot, "vdot": np.vdot,
    "outer": np.outer, "inner": np.inner, "kron": np.kron,
    "tensordot.dims": lambda x, y, dims_self, dims_other: (
        np.tensordot(x, y, (dims_self, dims_other))
    ),
    "linalg_vecdot": lambda x, y, dim=-1: (np.conj(x) * y).sum(dim),
    "cross": np.cross, "linalg_cross": lambda x, y, dim: np.cross(x, y, axis=dim),
    "trace": np.trace, "addmm": scaled(np.matmul), "addmv": scaled(np.matmul),
    "addr": scaled(np.outer), "baddbmm": scaled(np.matmul), "addbmm": scaled(summed),
    "addmm.scaled": scaled(np.matmul), "addmv.scaled": scaled(np.matmul),
    "addr.scaled": scaled(np.outer), "baddbmm.scaled": scaled(np.matmul),
    "addbmm.scaled": scaled(summed), "linalg_multi_dot": np.linalg.multi_dot,
    "chain_matmul": np.linalg.multi_dot, "einsum": lambda equation, xs: np.einsum(equation, *xs),
    "cdist": distances, "pdist": distance.pdist,
    "cov": lambda x, fweights=None, aweights=None: np.cov(x, fweights=fweights, aweights=aweights),
    "corrcoef": np.corrcoef,
    "vander": vander,
    "linspace.ends": lambda start, end, steps: np.linspace(start, end, steps),
    "logspace": lambda start, end, steps: np.logspace(start, end, steps),
    "logspace.ends": lambda start, end, steps, base: np.logspace(start, end, steps, base=base),
    "empty_permuted": lambda size, physical_layout: np.zeros(size),
    "empty_strided": lambda size, stride: np.zeros(size),
    "new_empty": lambda x, size: np.zeros(size),
    "new_empty_strided": lambda x, size, stride: np.zeros(size),
    "scalar_tensor": lambda s: np.array(s),
    "strided": strided, "strided_put": strided_put, "strided_over": strided,
    "as_strided": lambda x, size, stride, storage_offset=0: (
        strided(x, size, stride, storage_offset)
    ),
    "as_strided_scatter": strided_put,
    "view.dtype": lambda x, dtype: x.view(np.dtype(str(dtype).removeprefix("lathe."))),
    "view_as_real": lambda x: np.stack((x.real, x.imag), -1),
    "view_as_complex": lambda x: x[..., 0] + 1j * x[..., 1],
    "view_as_real_put": lambda x, v: v[..., 0] + 1j * v[..., 1],
    "split_with_sizes": lambda x, n: tuple(np.split(x, np.cumsum(n)[:-1])),
    "unsafe_split_with_sizes": lambda x, n: tuple(np.split(x, np.cumsum(n)[:-1])),
    "tensor_split": sections(np.array_split), "tensor_split.indices": sections(np.array_split),
    "hsplit": sections(np.hsplit), "hsplit.indices": sections(np.hsplit),
    "vsplit": sections(np.vsplit), "vsplit.indices": sections(np.vsplit),
    "dsplit": sections(np.dsplit), "dsplit.indices": sections(np.dsplit),
}  # fmt: skip
