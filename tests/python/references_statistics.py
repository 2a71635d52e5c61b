"""What statistics, orders, sets and writes by index compute, in NumPy: by op name."""

import functools

import numpy as np


def axes(dim):
    return tuple(dim) if dim else None


def kept(function):
    return lambda x, dim=(), keepdim=False, **more: function(x, axis=axes(dim), keepdims=keepdim)


def with_mean(spread):
    def both(x, dim=(), keepdim=False):
        where = {"axis": axes(dim), "keepdims": keepdim}
        return spread(x, ddof=1, **where), np.mean(x, **where)

    return both


def aminmax(x, dim=None):
    return np.min(x, axis=dim), np.max(x, axis=dim)


def renorm(x, p, dim, maxnorm):
    others = tuple(i for i in range(x.ndim) if i != dim)
    norm = (np.abs(x) ** p).sum(others, keepdims=True) ** (1 / p)
    return np.where(norm > maxnorm, x * maxnorm / (norm + 1e-7), x)


def cumulative(y, x=None, dx=1.0, dim=-1):
    y = np.moveaxis(y, dim, -1)
    step = dx if x is None else np.diff(x)
    return np.moveaxis(np.cumsum((y[..., 1:] + y[..., :-1]) / 2 * step, -1), -1, dim)


def gradient(x, spacing=None, dim=None, edge_order=1):
    dims = list(range(x.ndim)) if dim is None else list(dim)
    steps = (
        spacing if isinstance(spacing, list) else [1 if spacing is None else spacing] * len(dims)
    )
    found = np.gradient(x, *steps, axis=tuple(dims), edge_order=edge_order)
    return tuple(found) if len(dims) > 1 else (found,)


def kthvalue(x, k, dim=-1, keepdim=False):
    order = np.take(np.argsort(x, dim, kind="stable"), [k - 1], dim)
    both = np.take_along_axis(x, order, dim), order
    return both if keepdim else tuple(v.squeeze(dim) for v in both)


def median(x, dim, keepdim=False):
    return kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


def mode(x, dim=-1):
    def one(line):
        values, counts = np.unique(line, return_counts=True)
        best = values[counts.argmax()]
        return best, np.flatnonzero(line == best)[-1]

    found = np.array([one(line) for line in x.reshape(-1, x.shape[-1])])
    return found[:, 0].reshape(x.shape[:-1]), found[:, 1].reshape(x.shape[:-1]).astype(int)


def quantile(x, q, dim=None, keepdim=False, interpolation="linear"):
    return np.quantile(x, q, axis=dim, keepdims=keepdim, method=interpolation)


def running(better):
    def both(x, dim):
        values = better.accumulate(x, dim)
        place = np.arange(x.shape[dim]).reshape([-1 if i == dim else 1 for i in range(x.ndim)])
        return values, np.maximum.accumulate(np.where(x == values, place, 0), dim)

    return both


def logcumsumexp(x, dim, reverse=False):
    x = np.flip(x, dim) if reverse else x
    if np.iscomplexobj(x):
        y = np.log(np.cumsum(np.exp(x), dim))
    else:
        y = np.logaddexp.accumulate(x, dim)
    return np.flip(y, dim) if reverse else y


def folded(how, x, dim, index, src, include_self=True):
    """By element, in row-major order."""
    out, met = x.copy(), {}
    for at in np.ndindex(index.shape):
        to = list(at)
        to[dim] = index[at]
        met.setdefault(tuple(to), []).append(src[at])
    functions = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}
    for to, values in met.items():
        out[to] = functions[how]([x[to], *values] if include_self else values)
    return out


def by_slices(how, x, dim, index, source, include_self=True):
    shape = [-1 if i == dim else 1 for i in range(x.ndim)]
    index = np.broadcast_to(index.reshape(shape), source.shape)
    return folded(how, x, dim, index, source, include_self)


def index_copy(x, dim, index, source):
    out = np.moveaxis(x.copy(), dim, 0)
    values = np.moveaxis(source, list(range(dim, dim + index.ndim)), list(range(index.ndim)))
    out[index] = values
    return np.moveaxis(out, 0, dim)


def index_fill(x, dim, index, value):
    out = np.moveaxis(x.copy(), dim, 0)
    out[index] = value
    return np.moveaxis(out, 0, dim)


def put(x, index, source, accumulate=False):
    out = x.copy()
    if accumulate:
        np.add.at(out.reshape(-1), index, source)
    else:
        out.reshape(-1)[index] = source
    return out


def index_put(x, indices, values, accumulate=False):
    out = x.copy()
    if accumulate:
        np.add.at(out, tuple(indices), values)
    else:
        out[tuple(indices)] = values
    return out


def take_along(x, index, dim=None):
    if dim is None:
        return x.reshape(-1)[index]
    return np.take_along_axis(x, np.broadcast_to(index, (len(index), *x.shape[1:])), dim)


def masked_scatter(x, mask, source):
    out = x.copy()
    out[mask] = source[: mask.sum()]
    return out


def positions(mask, size, fill_value=-1):
    found = np.argwhere(mask)[:size]
    rest = np.full((size - len(found), mask.ndim), fill_value)
    return np.concatenate([found, rest])


def unique(x, return_inverse=False, return_counts=False, dim=None):
    found = np.unique(x, True, True, True, axis=dim)
    inverse = found[2].reshape(x.shape if dim is None else -1)
    extra = [inverse] * return_inverse + [found[3]] * return_counts
    return (found[0], *extra)


def unique_consecutive(x, return_inverse, return_counts):
    starts = np.concatenate([[True], x[1:] != x[:-1]])
    at = np.flatnonzero(starts)
    return x[at], np.cumsum(starts) - 1, np.diff([*at, len(x)])


def grid_histogram(x, bins, range=None, weight=None, density=False):
    pairs = None if range is None else list(zip(range[::2], range[1::2]))
    hist, edges = np.histogramdd(x, bins, pairs, density, weight)
    return hist, *edges


def histogram(x, bins, range=None, weight=None, density=False):
    return np.histogram(x, bins, range=range, weights=weight, density=density)


def histc(x, bins, low=0, high=0):
    return np.histogram(x, bins, range=None if low == high else (low, high))[0]


def with_mask(function, fill):
    """`function` of x where the mask is true, and of `fill` elsewhere."""

    def masked(x, *args, mask=True, **kwargs):
        return function(np.where(mask, x, fill), *args, **kwargs)

    return masked


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def normalize(x, p, dim):
    return x / np.maximum((np.abs(x) ** p).sum(dim, keepdims=True) ** (1 / p), 1e-12)


def logaddexp(x, y, input_mask):
    return np.logaddexp(np.where(input_mask, x, -np.inf), y)


MASKED = {
    "sum": with_mask(kept(np.sum), 0), "prod": with_mask(kept(np.prod), 1),
    "mean": kept(np.mean), "amax": with_mask(kept(np.max), -np.inf),
    "amin": with_mask(kept(np.min), np.inf), "argmax": with_mask(np.argmax, -np.inf),
    "argmin": np.argmin, "var": lambda x, dim, unbiased: np.var(x, dim[0], ddof=int(unbiased)),
    "std": lambda x, dim, correction: np.std(x, dim[0], ddof=correction),
    "median": np.median, "norm": with_mask(
        lambda x, p, dim: (np.abs(x) ** p).sum(dim[0]) ** (1 / p), 0
    ),
    "logsumexp": with_mask(lambda x, dim: np.logaddexp.reduce(x, dim[0]), -np.inf),
    "cumsum": with_mask(np.cumsum, 0), "cumprod": with_mask(np.cumprod, 1), "softmax": softmax,
    "log_softmax": lambda x, dim: np.log(softmax(x, dim)),
    "softmin": lambda x, dim: softmax(-x, dim), "normalize": with_mask(normalize, 0),
    "logaddexp": logaddexp,
}  # fmt: skip

REFERENCES = {f"masked_{name}": function for name, function in MASKED.items()} | {
    "count_nonzero": lambda x, dim=(): np.count_nonzero(x, axis=axes(dim)),
    "nansum": kept(np.nansum), "nanmean": kept(np.nanmean), "var_mean": with_mean(np.var),
    "std_mean": with_mean(np.std), "aminmax": aminmax, "renorm": renorm,
    "dist": lambda x, y, p=2: (np.abs(x - y) ** p).sum() ** (1 / p),
    "trapezoid": lambda y, dx, dim: np.trapezoid(y, dx=dx, axis=dim),
    "trapezoid.x": lambda y, x: np.trapezoid(y, x), "trapz": lambda y: np.trapezoid(y),
    "trapz.x": lambda y, x, dim: np.trapezoid(y, x, axis=dim),
    "cumulative_trapezoid": cumulative, "cumulative_trapezoid.x": cumulative,
    "diff": lambda x, n, dim=-1, prepend=None: np.diff(
        x, n, dim, **({} if prepend is None else {"prepend": prepend})
    ),
    "gradient": gradient, "gradient.steps": gradient, "gradient.positions": gradient,
    "kthvalue": kthvalue, "median": lambda x: kthvalue(x, (x.size + 1) // 2)[0],
    "nanmedian": lambda x: kthvalue(x, (x.size + 1) // 2)[0], "median.dim": median,
    "nanmedian.dim": median, "mode": mode, "quantile": quantile, "nanquantile": quantile,
    "msort": lambda x: np.sort(x, 0), "probability": np.copy, "drawing_weight": np.copy,
    "cummax": running(np.maximum), "cummin": running(np.minimum),
    "running_max": lambda x, dim: np.maximum.accumulate(x, dim),
    "running_min": lambda x, dim, reverse: np.flip(
        np.minimum.accumulate(np.flip(x, dim), dim), dim),
    "logcumsumexp": logcumsumexp, "logcumsumexp_scan": logcumsumexp,
    **{f"scatter_{how}": functools.partial(folded, how) for how in ("prod", "amax", "amin")},
    **{f"index_{how}": functools.partial(by_slices, how) for how in ("prod", "amax", "amin")},
    "scatter_reduce": lambda x, dim, index, src, how, **k: folded(how, x, dim, index, src, **k),
    "index_reduce": lambda x, dim, index, src, how, **k: by_slices(how, x, dim, index, src, **k),
    "scatter.reducing": lambda x, dim, index, src, reduce: folded("prod", x, dim, index, src),
    "scatter.value_reducing": lambda x, dim, index, value, reduce: folded(
        "sum", x, dim, index, np.full(index.shape, value)
    ),
    "index_copy": index_copy, "index_fill": index_fill, "put": put, "index_put": index_put,
    "take": lambda x, index: x.reshape(-1)[index], "take_along_dim": take_along,
    "true_positions": positions, "nonzero_static": positions,
    "nonzero": lambda x, as_tuple=False: np.nonzero(x) if as_tuple else np.argwhere(x),
    "argwhere": np.argwhere, "where.positions": np.nonzero,
    "masked_select": lambda x, mask: x[np.broadcast_to(mask, x.shape)],
    "masked_scatter": masked_scatter, "unique": unique, "unique_consecutive": unique_consecutive,
    "searchsorted.side": lambda s, x, side: np.searchsorted(s, x, side),
    "searchsorted.number": np.searchsorted, "bucketize": lambda x, s: np.searchsorted(s, x),
    "bucketize.number": lambda x, s: np.searchsorted(s, x), "isin": np.isin,
    "isin.number": np.isin, "isin.element": np.isin, "bincount": np.bincount, "histc": histc,
    "histogram": histogram, "histogram.edges": histogram,
    **dict.fromkeys(("histogramdd", "histogramdd.counts", "histogramdd.edges"), grid_histogram),
    "unravel_index": np.unravel_index,
}  # fmt: skip
