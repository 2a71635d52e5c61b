"""What ops compute, in NumPy and SciPy: op name -> function of arrays; from the ops' docs.

Families of their own are modules beside this one, references_<family>.py, with REFERENCES each.
"""

import importlib
from pathlib import Path

import numpy as np
from convolutions import convolution, convolution_transpose
from neural_references import NEURAL, each
from scipy import special


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def scan(function):
    def along(x, dim, reverse=False):
        return np.flip(function(np.flip(x, dim), dim), dim) if reverse else function(x, dim)

    return along


def axes(dim):
    return tuple(dim) if dim else None


def reducing(function):
    return lambda x, dim=(), keepdim=False: function(x, axis=axes(dim), keepdims=keepdim)


def spread(function):
    return lambda x, dim=(), keepdim=False, correction=1: function(
        x, axis=axes(dim), keepdims=keepdim, ddof=correction
    )


def picking(function):
    return lambda x, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)


def extreme(value, position):
    def both(x, dim, keepdim=False):
        return value(x, axis=dim, keepdims=keepdim), position(x, axis=dim, keepdims=keepdim)

    return both


def put_slice(x, value, dim, start, end, step):
    out = x.copy()
    index = [slice(None)] * x.ndim
    index[dim] = slice(start, end, step)
    out[tuple(index)] = value
    return out


def take_slice(x, dim, start=None, end=None, step=1):
    index = [slice(None)] * x.ndim
    index[dim] = slice(start, end, step)
    return x[tuple(index)]


def scatter(x, dim, index, src):
    out = x.copy()
    for at in np.ndindex(index.shape):  # row-major order: the last write stays
        to = list(at)
        to[dim] = index[at]
        out[tuple(to)] = src[at]
    return out


def scatter_add(x, dim, index, src):
    out = x.copy()
    for at in np.ndindex(index.shape):
        to = list(at)
        to[dim] = index[at]
        out[tuple(to)] += src[at]
    return out


def index_add(x, dim, index, source):
    out = np.moveaxis(x.copy(), dim, 0)
    for i, row in zip(index, np.moveaxis(source, dim, 0)):
        out[i] += row
    return np.moveaxis(out, 0, dim)


def sort(x, dim=-1, descending=False):
    order = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, order, dim), order


def topk(x, k, dim=-1, largest=True):
    return tuple(np.take(y, range(k), dim) for y in sort(x, dim, largest))


def windows(x, kernel, stride=1, dilation=1):
    n = len(kernel)
    step, apart = each(stride, n), each(dilation, n)
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, apart)]
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=tuple(range(-n, 0)))
    strides, taps = (tuple(slice(None, None, v) for v in values) for values in (step, apart))
    return view[(..., *strides, *taps)]


def convolution_padding(x, w, bias=None, stride=1, padding="valid", dilation=1, groups=1):
    if padding == "same":
        axes = x.ndim - 2
        more = [a * (k - 1) for a, k in zip(each(dilation, axes), w.shape[2:])]
        x = np.pad(x, [(0, 0), (0, 0), *((n // 2, n - n // 2) for n in more)])
    return convolution(x, w, bias, stride, 0, dilation, groups)


def any_convolution(x, w, b, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return convolution_transpose(x, w, b, stride, padding, output_padding, groups, dilation)
    return convolution(x, w, b, stride, padding, dilation, groups)


def time_convolution(x, w, bias, pad=0):
    y = convolution(x.transpose(1, 2, 0), w.transpose(2, 1, 0), bias, 1, pad)
    return y.transpose(2, 0, 1)


def plain(function):
    """The same without a bias."""
    return lambda x, w, **settings: function(x, w, None, **settings)


def layer_norm(x, normalized_shape, weight=1.0, bias=0.0, eps=1e-5):
    dims = tuple(range(-len(normalized_shape), 0))
    mean, var = x.mean(dims, keepdims=True), x.var(dims, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * weight + bias


def native_layer_norm(x, normalized_shape, weight, bias, eps):
    dims = tuple(range(-len(normalized_shape), 0))
    mean, var = x.mean(dims, keepdims=True), x.var(dims, keepdims=True)
    return layer_norm(x, normalized_shape, weight, bias, eps), mean, 1 / np.sqrt(var + eps)


def native_batch_norm(x, w, b, mean, var, training, momentum, eps):
    y = batch_norm(x, w, b, mean, var, training, momentum, eps)
    if not training:
        return y, np.zeros(0), np.zeros(0)
    dims = (0, *range(2, x.ndim))
    return y, x.mean(dims), 1 / np.sqrt(x.var(dims) + eps)


def batch_norm(x, w, b, mean, var, training=False, momentum=0.1, eps=1e-5):
    lane = (-1,) + (1,) * (x.ndim - 2)
    if training:
        dims = (0, *range(2, x.ndim))
        mean, var = x.mean(dims), x.var(dims)
    scaled = (x - mean.reshape(lane)) / np.sqrt(var.reshape(lane) + eps)
    return scaled * w.reshape(lane) + b.reshape(lane)


def nll_loss(x, target, weight=None, reduction="mean"):
    weight = np.ones(x.shape[1]) if weight is None else weight
    own = -np.take_along_axis(x, np.expand_dims(target, 1), 1).squeeze(1) * weight[target]
    return {"mean": own.sum() / weight[target].sum(), "sum": own.sum(), "none": own}[reduction]


def cross_entropy(x, target, weight=None, reduction="mean", label_smoothing=0.0):
    logp = np.log(softmax(x, 1))
    if target.dtype.kind == "f":
        target = (1 - label_smoothing) * target + label_smoothing / x.shape[1]
        scale = 1 if weight is None else weight.reshape(-1, *(1,) * (x.ndim - 2))
        losses = -(target * logp * scale).sum(1)
        return losses.mean() if reduction == "mean" else losses.sum()
    hard = nll_loss(logp, target)
    return (1 - label_smoothing) * hard + label_smoothing * -logp.mean()


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + special.erf(x / np.sqrt(2)))


def clamp(x, low, high):
    return np.clip(x, low, high)


# Ops that NumPy has under the same name.
SHARED = """
    abs exp exp2 expm1 log log2 log10 log1p tanh sqrt sign square reciprocal sin cos tan sinh cosh
    floor ceil trunc maximum minimum fmod isnan isfinite logical_and logical_or logical_not
    bitwise_and bitwise_or bitwise_xor where conj real imag floor_divide remainder matmul
    zeros_like ones_like
"""
SAME_NAME = SHARED.split()

FAMILIES = {}
for module in sorted(Path(__file__).parent.glob("references_*.py")):
    FAMILIES |= importlib.import_module(module.stem).REFERENCES

REFERENCES = {
    "real_part": np.real, "imag_part": np.imag,
    **FAMILIES,
    **{
        name: getattr(np, name)
        for name in SAME_NAME
    },
    **{
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power,
        "cbrt": np.cbrt, "pow_real": np.power, "pow_integer": np.power, "checked_add": np.add,
        "checked_sub": np.subtract, "checked_mul": np.multiply,
        "checked_range": lambda x, low, high: x,
        "checked_dividend": lambda x: x, "cube": lambda x: x * x * x,
        "inverse_square": lambda x: 1 / (x * x),
        "neg": np.negative, "atan2": np.arctan2, "asin": np.arcsin, "acos": np.arccos,
        "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
        "ge": np.greater_equal, "bitwise_not": np.invert, "round": np.rint,
        "pmin": lambda x, y: np.where(x < y, x, y), "pmax": lambda x, y: np.where(x > y, x, y),
        "clamp_between": np.clip, "clamp": clamp, "clamp_min": np.maximum, "clamp_max": np.minimum,
        "fma": lambda x, y, z: x * y + z, "lerp": lambda x, y, w: x + w * (y - x),
        "div_floor": np.floor_divide, "div_trunc": lambda x, y: np.trunc(x / y),
        "rsqrt": lambda x: 1 / np.sqrt(x), "erf": special.erf,
        "erfc": special.erfc, "erfinv": special.erfinv, "lgamma": special.gammaln,
        "digamma": special.digamma, "clone": np.copy, "contiguous": np.copy,
        "complex": lambda re, im: re + 1j * im, "relu": lambda x: np.maximum(x, 0),
        "leaky_relu": lambda x, negative_slope: np.where(x > 0, x, x * negative_slope),
        "gelu_erf": gelu, "gelu_tanh": lambda x: gelu(x, "tanh"), "gelu": gelu,
        "logits_loss": lambda x, t, p: (1 - t) * np.logaddexp(x, 0) + p * t * np.logaddexp(-x, 0),
        "softmax": softmax, "log_softmax": lambda x, dim: np.log(softmax(x, dim)),
        "sum": reducing(np.sum), "mean": reducing(np.mean), "prod": reducing(np.prod),
        "amax": reducing(np.max), "amin": reducing(np.min), "any": reducing(np.any),
        "all": reducing(np.all), "argmax": picking(np.argmax), "argmin": picking(np.argmin),
        "square_sum": reducing(lambda x, **by: np.sum(x * x, **by)),
        "largest_of": lambda x, dim: extreme(np.max, np.argmax)(x.reshape(len(x), -1), -1),
        "max.dim": extreme(np.max, np.argmax), "min.dim": extreme(np.min, np.argmin),
        "var": spread(np.var), "std": spread(np.std),
        "logsumexp": lambda x, dim: special.logsumexp(x, axes(dim)),
        "cumsum": scan(np.cumsum), "cumprod": scan(np.cumprod),
        "view": lambda x, size: np.reshape(x, size), "reshape": np.reshape,
        "expand": lambda x, size: np.broadcast_to(x, size),
        "permute": lambda x, dims: np.transpose(x, dims),
        "transpose": lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1),
        "squeeze": lambda x, dim: np.squeeze(x, tuple(dim)),
        "unsqueeze": lambda x, dim: np.expand_dims(x, dim), "slice": take_slice,
        "select": lambda x, dim, index: np.take(x, index, dim),
        "narrow": lambda x, dim, start, length: take_slice(x, dim, start, start + length),
        "flatten": lambda x, start_dim: x.reshape(*x.shape[:start_dim], -1), "windows": windows,
        "cat": lambda xs, dim: np.concatenate(xs, dim), "stack": lambda xs, dim: np.stack(xs, dim),
        "view_put": lambda x, v, size: v.reshape(x.shape),
        "permute_put": lambda x, v, dims: np.transpose(v, np.argsort(dims)),
        "squeeze_put": lambda x, v, dim: v.reshape(x.shape),
        "unsqueeze_put": lambda x, v, dim: v.reshape(x.shape), "slice_put": put_slice,
        "gather": lambda x, dim, index: np.take_along_axis(x, index, dim), "scatter": scatter,
        "scatter_add": scatter_add, "index_select": lambda x, dim, index: np.take(x, index, dim),
        "index_add": index_add, "sort": sort, "topk": topk,
        "argsort": lambda x, dim, descending: sort(x, dim, descending)[1],
        "searchsorted": np.searchsorted,
        "full": lambda size, fill_value: np.full(size, fill_value),
        "zeros": lambda size: np.zeros(size), "ones": lambda size: np.ones(size),
        "full_like": lambda x, fill_value: np.full_like(x, fill_value),
        "arange": lambda start, end, step: np.arange(start, end, step),
        "range": lambda start, end, step: np.arange(start, end + step / 2, step),
        "linspace": lambda start, end, steps, dtype=None: np.linspace(start, end, steps),
        "eye": lambda n, m: np.eye(n, m), "mm": np.matmul,
        "linear": lambda x, w, b: x @ w.T + b,
        **{f"convolution{n}d": plain(convolution) for n in (1, 2, 3)},
        **{f"convolution_transpose{n}d": plain(convolution_transpose) for n in (1, 2, 3)},
        **{f"conv{n}d": convolution for n in (1, 2, 3)},
        **{f"conv{n}d.padding": convolution_padding for n in (1, 2, 3)},
        **{f"conv_transpose{n}d": convolution_transpose for n in (1, 2, 3)},
        "convolution": any_convolution, "conv_tbc": time_convolution,
        "layer_norm": layer_norm, "layer_norm.cudnn": lambda *a: layer_norm(*a[:-1]),
        "native_layer_norm": native_layer_norm, "native_batch_norm": native_batch_norm,
        "fill": np.full_like, "filled": np.full_like, "alias_copy": np.copy,
        "batch_norm": batch_norm, "mse_loss": lambda x, t: ((x - t) ** 2).mean(),
        "nll_loss": nll_loss, "cross_entropy": cross_entropy, **NEURAL,
    },
}  # fmt: skip
