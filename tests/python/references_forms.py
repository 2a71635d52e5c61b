"""Overloads, copies of views, pieces, and the parts that composites are made of."""

import math

import numpy as np
from convolutions import convolution, convolution_transpose
from scipy import special


def dtype_of(dtype):
    return np.dtype(str(dtype).removeprefix("lathe."))


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def log_softmax(x, dim):
    return x - special.logsumexp(x, dim, keepdims=True)


def pieces(x, size, dim=0):
    """Of a size, the last one smaller; or of a list of sizes."""
    sizes = size if isinstance(size, list) else [size] * (x.shape[dim] // size)
    return tuple(p for p in np.split(x, np.cumsum(sizes), dim) if p.shape[dim])


def chunks(x, count, dim=0):
    return pieces(x, math.ceil(x.shape[dim] / count), dim)


def unbound(x, dim=0):
    return tuple(np.moveaxis(x, dim, 0))


def windows_of(x, dim, size, step):
    view = np.lib.stride_tricks.sliding_window_view(x, size, dim)
    return np.moveaxis(np.moveaxis(view, dim, 0)[::step], 0, dim)


def reinterpreted(x, dtype):
    return x.view(dtype_of(dtype))


def strided(x, size, stride, offset):
    steps = [s * x.itemsize for s in stride]
    return np.lib.stride_tricks.as_strided(x.ravel()[offset:], size, steps).copy()


def repeated(x, repeats):
    return np.tile(x, repeats)


def attention(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    if enable_gqa:
        k, v = (np.repeat(t, q.shape[-3] // t.shape[-3], -3) for t in (k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if is_causal:
        mask = np.tril(np.ones(scores.shape[-2:], bool))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return softmax(scores, -1) @ v


def with_dtype(function):
    return lambda x, dim, dtype: function(x.astype(dtype_of(dtype)), dim)


def reducing(function):
    return lambda x, dim, dtype: function(x.astype(dtype_of(dtype)), tuple(dim))


def spread(*functions):
    """Over an axis or over all, with one degree of freedom less or none."""

    def of(x, dim=None, unbiased=True, keepdim=False):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        axis = None if dim is None else tuple(dim)
        found = tuple(f(x, axis, ddof=int(unbiased), keepdims=keepdim) for f in functions[:1])
        return found + tuple(f(x, axis, keepdims=keepdim) for f in functions[1:])

    return of


def ordered(x, stable=True, dim=-1, descending=False):
    order = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, order, dim), order


def largest(x, k, dim, largest, is_sorted):
    return tuple(np.take(part, range(k), dim) for part in ordered(x, True, dim, largest))


def scattered(x, dim, index, value):
    out = x.copy()
    np.put_along_axis(out, index, value, dim)
    return out


def added(x, dim, index, source, alpha):
    out = x.copy()
    np.add.at(np.moveaxis(out, dim, 0), index, alpha * np.moveaxis(source, dim, 0))
    return out


def batch_norm(x, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    lane = (-1,) + (1,) * (x.ndim - 2)
    if training:
        axes = (0, *range(2, x.ndim))
        mean, var = x.mean(axes), x.var(axes)
    y = (x - mean.reshape(lane)) / np.sqrt(var.reshape(lane) + eps)
    return y * weight.reshape(lane) + bias.reshape(lane)


def logits_loss(x, t, weight=None, pos_weight=1.0):
    losses = (1 - t) * np.logaddexp(x, 0) + pos_weight * t * np.logaddexp(-x, 0)
    return (losses if weight is None else losses * weight).mean()


def smooth_cross_entropy(x, target, label_smoothing):
    logp = log_softmax(x, 1)
    hard = -np.take_along_axis(logp, target[:, None], 1).mean()
    return (1 - label_smoothing) * hard - label_smoothing * logp.mean()


def norm(x, p=2, dim=None, keepdim=False):
    p = 2 if p == "fro" else p
    return (np.abs(x) ** p).sum(None if dim is None else tuple(dim), keepdims=keepdim) ** (1 / p)


def segments(data, reduce, lengths, unsafe):
    return np.stack([part.sum(0) for part in np.split(data, np.cumsum(lengths))[: len(lengths)]])


def rounded_quotient(x, y, rounding_mode):
    return {"floor": np.floor, "trunc": np.trunc, None: lambda q: q}[rounding_mode](x / y)


def one_hot(x, num_classes):
    return np.eye(num_classes, dtype=np.int64)[x]


def affine_scan(x, dim, reverse=False):
    """By turns y * x[i] and y + x[i], from 0; the last element first if reverse."""
    steps, found = np.moveaxis(x, dim, 0), np.zeros_like(np.moveaxis(x, dim, 0))
    y, order = 0.0, range(len(steps))
    for turn, i in enumerate(reversed(order) if reverse else order):
        y = y + steps[i] if turn % 2 else y * steps[i]
        found[i] = y
    return np.moveaxis(found, 0, dim)


def adjoint(function, at):
    """What a convolution's factor `at` gets from a cotangent, one element of it after another."""

    def of(first, second, shape, **settings):
        dy, other = (first, second) if at == 0 else (second, first)
        size = math.prod(shape)
        found = np.zeros(size)
        for i in range(size):
            unit = np.eye(1, size, i).reshape(shape)
            operands = (unit, other) if at == 0 else (other, unit)
            found[i] = (dy * function(*operands, None, **settings)).sum()
        return found.reshape(shape)

    return of


def next_in_grid(shift):
    """nextafter where the last `shift` bits of f32 are no digits, of numbers not close to 0."""

    def of(x, y):
        x, step = x.astype(np.float32), np.uint32(1 << shift)
        size = np.abs(x).view(np.uint32)
        away = (x > 0) == (y > x)
        return np.copysign(np.where(away, size + step, size - step).view(np.float32), x)

    return of


def first_above(chance):
    """How many are left below a uniform number when chance(0), chance(1), ... are added up."""

    def count(u, *parameters):
        total, k = chance(0, *parameters), 0
        while total < u and k < 1000:
            k += 1
            total += chance(k, *parameters)
        return k

    return np.vectorize(count, otypes=[float])


def scaled(x, dim, norm, length=None):
    return {0: 1.0, 1: (length or x.shape[dim]) ** -0.5, 2: 1 / (length or x.shape[dim])}[norm]


def stft(x, n_fft, hop=None, win=None, normalized=False, return_complex=True):
    """Frames every hop elements of the padded signal, in a window of ones in the middle."""
    hop, win = hop or n_fft // 4, win or n_fft
    window = np.zeros(n_fft)
    window[(n_fft - win) // 2 :][:win] = 1
    x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], "reflect")
    frames = np.lib.stride_tricks.sliding_window_view(x, n_fft, -1)[..., ::hop, :]
    found = np.swapaxes(np.fft.fft(frames * window), -1, -2) / (n_fft**0.5 if normalized else 1)
    return found if return_complex else np.stack([found.real, found.imag], -1)


def istft(x, n_fft, hop=None, window=None, length=None, normalized=False):
    """Frames added where they were, by the sum of the windows' squares there."""
    hop = hop or n_fft // 4
    window = np.ones(n_fft) if window is None else window
    frames = np.fft.irfft(np.swapaxes(x, -1, -2), n_fft) * (n_fft**0.5 if normalized else 1)
    whole = n_fft + hop * (frames.shape[-2] - 1)
    signal, weight = np.zeros((*x.shape[:-2], whole)), np.zeros(whole)
    for k in range(frames.shape[-2]):
        at = slice(k * hop, k * hop + n_fft)
        signal[..., at] += frames[..., k, :] * window
        weight[at] += window**2
    middle = slice(n_fft // 2, n_fft // 2 + length if length else whole - n_fft // 2)
    found = signal[..., middle] / weight[middle]
    more = length - found.shape[-1] if length else 0
    return np.pad(found, [(0, 0)] * (found.ndim - 1) + [(0, more)])


REFERENCES = {
    "cast": lambda x, dtype: x.astype(dtype_of(dtype)), "isinf": np.isinf, "fmax": np.fmax,
    "fmin": np.fmin, "masked_fill": lambda x, mask, value: np.where(mask, value, x),
    "where.self": lambda x, condition, other: np.where(condition, x, other),
    "isclose": np.isclose, "one_hot": one_hot, "segment_reduce": segments,
    "narrow.start": lambda x, dim, start, n: np.take(x, range(start, start + n), dim),
    "split": pieces, "split.sizes": pieces, "split.method": pieces,
    "split.method_sizes": pieces, "unsafe_split": pieces, "chunk": chunks, "unsafe_chunk": chunks,
    "unbind": unbound, "t": np.transpose, "view_as": lambda x, y: x.reshape(y.shape),
    "reshape_as": lambda x, y: x.reshape(y.shape),
    "expand_as": lambda x, y: np.broadcast_to(x, y.shape), "unfold": windows_of,
    "repeat": repeated, "tensor_split.tensor": lambda x, at: tuple(np.split(x, at)),
    "reinterpreted": reinterpreted,
    "view_as_complex_put": lambda x, v: np.stack([v.real, v.imag], -1),
    "reinterpreted_put": lambda x, v, dtype: v.view(x.dtype),
    "atleast_1d.each": lambda xs: tuple(map(np.atleast_1d, xs)),
    "atleast_2d.each": lambda xs: tuple(map(np.atleast_2d, xs)),
    "atleast_3d.each": lambda xs: tuple(map(np.atleast_3d, xs)),
    "scaled_dot_product_attention": attention,
    # forms with another argument
    "add.alpha": lambda x, y, alpha: x + alpha * y,
    "add.scaled": lambda x, y, alpha: x + alpha * y,
    "sub.scaled": lambda x, y, alpha: x - alpha * y,
    "sub.alpha": lambda x, y, alpha: x - alpha * y, "div.rounding_mode": rounded_quotient,
    "round.decimals": lambda x, decimals: np.round(x, decimals),
    "clone.memory_format": lambda x, memory_format: x,
    "contiguous.memory_format": lambda x, memory_format: x,
    "sum.dtype": reducing(np.sum), "mean.dtype": reducing(np.mean), "prod.dtype": reducing(np.prod),
    "cumsum.dtype": with_dtype(np.cumsum), "cumprod.dtype": with_dtype(np.cumprod),
    **{f"var.{form}": spread(np.var) for form in ("dim", "unbiased")},
    **{f"std.{form}": spread(np.std) for form in ("dim", "unbiased")},
    **{f"var_mean.{form}": spread(np.var, np.mean) for form in ("dim", "unbiased")},
    **{f"std_mean.{form}": spread(np.std, np.mean) for form in ("dim", "unbiased")},
    "max": np.max, "min": np.min, "max.other": np.maximum, "min.other": np.minimum,
    "arange.end": np.arange, "full.tensor": lambda size, fill_value: np.full(size, fill_value),
    "full_like.tensor": np.full_like, "scatter.value": scattered, "index_add.alpha": added,
    "gather.sparse_grad": lambda x, dim, index, sparse_grad: np.take_along_axis(x, index, dim),
    "sort.stable": ordered, "argsort.stable": lambda *a, **k: ordered(*a, **k)[1],
    "topk.sorted": largest,
    **{f"softmax.{form}": lambda x, dim, dtype=None: softmax(x, dim)
       for form in ("dtype", "functional", "int")},
    **{f"log_softmax.{form}": lambda x, dim, dtype=None: log_softmax(x, dim)
       for form in ("dtype", "functional", "int")},
    "batch_norm.functional": batch_norm,
    "mse_loss.legacy": lambda x, t, reduction: ((x - t) ** 2).sum(),
    "l1_loss": lambda x, t: np.abs(x - t).mean(),
    "l1_loss.legacy": lambda x, t, size_average: np.abs(x - t).sum(),
    "nll_loss.legacy": lambda x, t, reduce: -np.take_along_axis(x, t[:, None], 1)[:, 0],
    "cross_entropy.legacy": smooth_cross_entropy,
    "binary_cross_entropy_with_logits": logits_loss,
    "binary_cross_entropy_with_logits.legacy": logits_loss,
    "binary_cross_entropy_with_logits.numbered": lambda x, t, weight, pos_weight, how: (
        logits_loss(x, t, weight, pos_weight) * (x.size if how == 2 else 1)
    ),
    "norm": norm, "norm.name": norm,
    "normalize": lambda x: x / np.sqrt((x * x).sum(1, keepdims=True)),
    # copies of views
    "as_strided_copy": strided,
    "diagonal_copy": lambda x, offset: np.diagonal(x, offset),
    "expand_copy": lambda x, size: np.broadcast_to(x, size),
    "permute_copy": lambda x, dims: np.transpose(x, dims),
    "select_copy": lambda x, dim, index: np.take(x, index, dim),
    "split_copy": pieces, "split_copy.sizes": pieces, "split_with_sizes_copy": pieces,
    "squeeze_copy": np.squeeze, "t_copy": np.transpose, "unbind_copy": unbound,
    "transpose_copy": np.swapaxes, "unfold_copy": windows_of,
    "view_copy": lambda x, size: x.reshape(size),
    "unsqueeze_copy": lambda x, dim: np.expand_dims(x, dim),
    # parts of composites
    "affine_scan": affine_scan, "nextafter_f16": next_in_grid(13),
    "nextafter_bf16": next_in_grid(16),
    **{f"convolution{n}d_d{k}": adjoint(convolution, k) for n in (1, 2, 3) for k in (0, 1)},
    **{f"convolution_transpose{n}d_d{k}": adjoint(convolution_transpose, k)
       for n in (1, 2, 3) for k in (0, 1)},
    "fft_r2c": lambda x, dim, norm: np.fft.rfft(x, axis=dim) * scaled(x, dim, norm),
    "fft_c2r": lambda x, dim, norm, last: (
        np.fft.irfft(x, last, dim, "forward") * scaled(x, dim, norm, last)
    ),
    "stft": stft, "istft": istft,
    "normal_of": lambda noise, mean, std: mean + std * noise,
    "bernoulli_of": lambda u, p: np.where(u < p, 1.0, 0.0), "weight_of": np.copy,
    "overwritten": lambda x, value: np.copy(value), "steps_with": lambda x, other: np.copy(x),
    "arrival": lambda u, w: -np.log1p(-u) / w, "arrived": lambda which, time: which,
    "few_events": first_above(lambda k, rate: np.exp(-rate) * rate**k / math.factorial(k)),
    "few_successes": first_above(lambda k, n, p: special.binom(n, k) * p**k * (1 - p) ** (n - k)),
    "empty": np.zeros, "empty_like": np.zeros_like,
}  # fmt: skip
