"""What the ops of neural networks compute, place by place: poolings, borders, images of another
size, norms and losses. references.py collects them."""

import itertools

import numpy as np
from scipy import special


def each(value, axes):
    return (value,) * axes if isinstance(value, int) else tuple(value)


# ── poolings ──────────────────────────────────────────────────────────────────────────────────


def pool_counts(sizes, kernel, stride, padding, dilation, ceil_mode):
    counts = []
    for size, k, s, p, d in zip(sizes, kernel, stride, padding, dilation):
        room = size + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil_mode else room // s) + 1
        if ceil_mode and (count - 1) * s >= size + p:
            count -= 1
        counts.append(count)
    return counts


def pooling(reduce):
    """reduce(x, places of a window, its bounds with padding) for every window of the last axes."""

    def pool(axes, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, **more):
        sizes, lead = x.shape[-axes:], x.shape[:-axes]
        kernel, pad, apart = (each(v, axes) for v in (kernel_size, padding, dilation))
        step = kernel if stride is None else each(stride, axes)
        counts = pool_counts(sizes, kernel, step, pad, apart, ceil_mode)
        outs = [[] for _ in np.ndindex(*lead)]
        for image, out in zip(x.reshape(-1, *sizes), outs):
            for at in np.ndindex(*counts):
                start = [a * s - p for a, s, p in zip(at, step, pad)]
                places = [
                    [b + t * d for t in range(k) if 0 <= b + t * d < n]
                    for b, k, d, n in zip(start, kernel, apart, sizes)
                ]
                room = np.prod(
                    [min(b + k, n + p) - b for b, k, n, p in zip(start, kernel, sizes, pad)]
                )
                out.append(reduce(image, list(itertools.product(*places)), room, **more))
        results = np.array(outs, dtype=object)
        shape = (*lead, *counts)
        if isinstance(outs[0][0], tuple):
            return tuple(
                np.array([[v[i] for v in row] for row in outs]).reshape(shape) for i in (0, 1)
            )
        return results.astype(x.dtype).reshape(shape)

    return pool


def largest(image, places, _):
    best = max(range(len(places)), key=lambda i: (image[places[i]], -i))
    return image[places[best]], np.ravel_multi_index(places[best], image.shape)


def average(image, places, room, count_include_pad=True, divisor_override=None):
    total = sum(image[p] for p in places)
    return total / (divisor_override or (room if count_include_pad else len(places)))


def lp_pool(axes):
    def pool(x, norm_type, kernel_size, stride=None, ceil_mode=False):
        mean = pooling(average)(axes, x**norm_type, kernel_size, stride, ceil_mode=ceil_mode)
        return (np.maximum(mean, 0) * np.prod(each(kernel_size, axes))) ** (1 / norm_type)

    return pool


def adaptive(reduce):
    def pool(axes, x, output_size, return_indices=True):
        sizes, lead = x.shape[-axes:], x.shape[:-axes]
        counts = each(output_size, axes)
        rows = []
        for image in x.reshape(-1, *sizes):
            for at in np.ndindex(*counts):
                places = [
                    range(a * n // c, -(-(a + 1) * n // c)) for a, n, c in zip(at, sizes, counts)
                ]
                rows.append(reduce(image, list(itertools.product(*places)), 0))
        shape = (*lead, *counts)
        if isinstance(rows[0], tuple):
            return tuple(np.array([r[i] for r in rows]).reshape(shape) for i in (0, 1))
        return np.array(rows).reshape(shape)

    return pool


def evenly(image, places, _):
    return sum(image[p] for p in places) / len(places)


def unpool(axes):
    def back(x, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel, pad = each(kernel_size, axes), each(padding, axes)
        step = kernel if stride is None else each(stride, axes)
        have, lead = x.shape[-axes:], x.shape[:-axes]
        sizes = [(h - 1) * s - 2 * p + k for h, s, p, k in zip(have, step, pad, kernel)]
        sizes = output_size or sizes
        out = np.zeros((int(np.prod(lead)), int(np.prod(sizes))), x.dtype)
        flat = x.reshape(len(out), -1), indices.reshape(len(out), -1)
        for row, values, places in zip(out, *flat):
            for v, p in zip(values, places):
                row[p] = v
        return out.reshape(*lead, *sizes)

    return back


def fractional(axes):
    def pool(x, kernel_size, output_size, return_indices=False, _random_samples=None):
        sizes, kernel = x.shape[2:], each(kernel_size, axes)
        values, places = [], []
        for image, u in zip(x.reshape(-1, *sizes), _random_samples.reshape(-1, axes)):
            u = u[::-1] if axes == 2 else u
            starts = []
            for n, k, c, s in zip(sizes, kernel, output_size, u):
                alpha = (n - k) / (c - 1)
                starts.append(
                    [int((i + s) * alpha) - int(s * alpha) for i in range(c - 1)] + [n - k]
                )
            for at in np.ndindex(*output_size):
                window = [range(b[a], b[a] + k) for b, a, k in zip(starts, at, kernel)]
                v, p = largest(image, list(itertools.product(*window)), 0)
                values.append(v)
                places.append(p)
        shape = (*x.shape[:2], *output_size)
        return np.array(values).reshape(shape), np.array(places).reshape(shape)

    return pool


# ── borders and images ────────────────────────────────────────────────────────────────────────

NUMPY_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def constant_pad(x, pad, value=0):
    pairs = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2]))[::-1]
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(pairs, x.shape))
    more = [(max(a, 0), max(b, 0)) for a, b in pairs]
    return np.pad(x[cut], more, constant_values=value)


def pad(x, pad, mode="constant", value=None):
    if mode == "constant":
        return constant_pad(x, pad, value or 0)
    pairs = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2]))[::-1]
    return np.pad(x, pairs, mode=NUMPY_MODES[mode])


def cubic(d, a=-0.75):
    d = abs(d)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def axis_weights(n, m, factor, mode, corners, antialias):
    """[m, n]: how much each element of the result takes of each of the input's."""
    w = np.zeros((m, n))
    step = (n - 1) / max(m - 1, 1) if corners else (1 / factor if factor else n / m)
    for i in range(m):
        if mode == "nearest":
            w[i, min(int(i * step), n - 1)] = 1
        elif mode == "nearest-exact":
            w[i, min(int((i + 0.5) * step), n - 1)] = 1
        elif antialias:
            wide, reach = max(step, 1), 2 if mode == "bicubic" else 1
            center = (i + 0.5) * step
            low, high = int(max(center - reach * wide + 0.5, 0)), int(center + reach * wide + 0.5)
            for j in range(low, min(high, n)):
                d = abs((j - center + 0.5) / wide)
                w[i, j] = cubic(d, -0.5) if mode == "bicubic" else max(1 - d, 0)
            w[i] /= w[i].sum()
        else:
            at = i * step if corners else (i + 0.5) * step - 0.5
            if mode == "bicubic":
                low = int(np.floor(at))
                for j in range(low - 1, low + 3):
                    w[i, min(max(j, 0), n - 1)] += cubic(at - j)
            else:
                at = max(at, 0)
                low = min(int(at), n - 1)
                w[i, low] += 1 - (at - low)
                w[i, min(low + 1, n - 1)] += at - low
    return w


def interpolate(
    x, size=None, scale_factor=None, mode="nearest", align_corners=None,
    recompute_scale_factor=None, antialias=False,
):  # fmt: skip
    axes = x.ndim - 2
    factors = (None,) * axes if scale_factor is None else scale_factor
    if isinstance(factors, float):
        factors = (factors,) * axes
    sizes = [int(n * f) for n, f in zip(x.shape[2:], factors)] if size is None else each(size, axes)
    if mode == "area":
        return adaptive(evenly)(axes, x, sizes)
    for k, (m, f) in enumerate(zip(sizes, factors)):
        f = None if recompute_scale_factor else f
        w = axis_weights(x.shape[2 + k], m, f, mode, bool(align_corners), antialias)
        x = np.moveaxis(np.tensordot(w, x, (1, 2 + k)), 0, 2 + k)
    return x


def reflected(p, low, span):
    if span == 0:
        return 0.0
    d = abs(p - low)
    flips, extra = int(d // span), d % span
    return (span - extra if flips % 2 else extra) + low


def place_in(p, n, padding_mode, corners):
    if padding_mode == "reflection":
        p = reflected(p, 0, n - 1) if corners else reflected(p, -0.5, n)
    return p if padding_mode == "zeros" else min(max(p, 0), n - 1)


def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    _axes, sizes = x.ndim - 2, x.shape[2:]
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    for at in np.ndindex(*grid.shape[:-1]):
        place = []
        for c, n in zip(grid[at][::-1], sizes):
            p = (c + 1) / 2 * (n - 1) if align_corners else ((c + 1) * n - 1) / 2
            place.append(p if mode == "bicubic" else place_in(p, n, padding_mode, align_corners))
        if mode == "nearest":
            taps = [[(int(np.rint(p)), 1.0)] for p in place]
        elif mode == "bilinear":
            taps = [
                [(int(np.floor(p)) + i, abs(1 - i - (p - np.floor(p)))) for i in (0, 1)]
                for p in place
            ]
        else:
            taps = [
                [(int(np.floor(p)) + i, cubic(p - np.floor(p) - i)) for i in range(-1, 3)]
                for p in place
            ]
            taps = [
                [(int(place_in(j, n, padding_mode, align_corners)), w) for j, w in t]
                for t, n in zip(taps, sizes)
            ]
        for combined in itertools.product(*taps):
            j = tuple(c[0] for c in combined)
            if all(0 <= a < n for a, n in zip(j, sizes)):
                out[(at[0], slice(None), *at[1:])] += x[(at[0], slice(None), *j)] * np.prod(
                    [c[1] for c in combined]
                )
    return out


def numbered_sample(x, grid, mode, outside, align_corners):
    modes = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return grid_sample(x, grid, modes[0][mode], modes[1][outside], align_corners)


def affine_grid(theta, size, align_corners=None):
    places = []
    for n in size[2:]:
        i = np.arange(n)
        places.append(2 * i / max(n - 1, 1) - (n > 1) if align_corners else (2 * i + 1) / n - 1)
    grid = np.stack([*np.meshgrid(*places, indexing="ij")[::-1], np.ones(size[2:])], -1)
    return np.einsum("...k,nik->n...i", grid, theta)


# ── norms ─────────────────────────────────────────────────────────────────────────────────────


def lane(v, x):
    return v.reshape(-1, *(1,) * (x.ndim - 2))


def standard(x, dims, eps):
    return (x - x.mean(dims, keepdims=True)) / np.sqrt(x.var(dims, keepdims=True) + eps)


def group_norm(x, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    y = standard(x.reshape(len(x), num_groups, -1), -1, eps).reshape(x.shape)
    y = y if weight is None else y * lane(weight, x)
    return y if bias is None else y + lane(bias, x)


def instance_norm(x, w, b, mean, var, use_input_stats, momentum, eps, cudnn_enabled=True):
    y = standard(x, tuple(range(2, x.ndim)), eps)
    if not use_input_stats:
        y = (x - lane(mean, x)) / np.sqrt(lane(var, x) + eps)
    return y * lane(w, x) + lane(b, x)


def instance_norm_functional(x, mean, var, weight, bias, use_input_stats=True):
    return instance_norm(x, weight, bias, mean, var, use_input_stats, 0.1, 1e-5)


def rms_norm(x, normalized_shape, weight=1.0, eps=2.220446049250313e-16):
    dims = tuple(range(-len(normalized_shape), 0))
    return x / np.sqrt((x * x).mean(dims, keepdims=True) + eps) * weight


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    total = np.zeros_like(x)
    for c in range(x.shape[1]):
        near = x[:, max(c - size // 2, 0) : c + (size - 1) // 2 + 1]
        total[:, c] = (near**2).sum(1)
    return x / (k + alpha * total / size) ** beta


# ── distances ─────────────────────────────────────────────────────────────────────────────────


def cosine_similarity(x, y, dim=1, eps=1e-8):
    def length(v):
        return np.maximum(np.sqrt((v * v).sum(dim)), eps)

    return (x * y).sum(dim) / (length(x) * length(y))


def pairwise_distance(x, y, p=2, eps=1e-6, keepdim=False):
    return (np.abs(x - y + eps) ** p).sum(-1, keepdims=keepdim) ** (1 / p)


# ── embeddings ────────────────────────────────────────────────────────────────────────────────


def shortened(index, weight, max_norm, norm_type=2.0):
    w = weight.copy()
    for i in set(index.ravel().tolist()):
        length = (np.abs(w[i]) ** norm_type).sum() ** (1 / norm_type)
        if length > max_norm:
            w[i] *= max_norm / (length + 1e-7)
    return w


def embedding(index, weight, padding_idx=None, max_norm=None, scale_grad_by_freq=False):
    return (weight if max_norm is None else shortened(index, weight, max_norm))[index]


def embedding_bag(
    index, weight, offsets=None, max_norm=None, mode="mean", per_sample_weights=None,
    include_last_offset=False, padding_idx=None,
):  # fmt: skip
    weight = weight if max_norm is None else shortened(index, weight, max_norm)
    if index.ndim == 2:
        bags = [range(k * index.shape[1], (k + 1) * index.shape[1]) for k in range(len(index))]
    else:
        ends = [*offsets[1:], len(index)] if not include_last_offset else offsets[1:]
        bags = [range(a, b) for a, b in zip(offsets, ends)]
    flat, out = index.ravel(), []
    scale = np.ones(len(flat)) if per_sample_weights is None else per_sample_weights.ravel()
    for bag in bags:
        rows = [weight[flat[i]] * scale[i] for i in bag if flat[i] != padding_idx]
        reduce = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
        out.append(reduce(rows, axis=0) if rows else np.zeros(weight.shape[1]))
    return np.array(out)


# ── losses ────────────────────────────────────────────────────────────────────────────────────


def loss(function):
    """A loss of each element, reduced as PyTorch's three arguments say."""

    def whole(*args, size_average=None, reduce=None, reduction="mean", **more):
        losses = function(*args, **more)
        if isinstance(reduction, int):
            reduction = ("none", "mean", "sum")[reduction]
        if reduction == "batchmean":
            return losses.sum() / len(losses)
        return {"none": lambda v: v, "mean": np.mean, "sum": np.sum}[reduction](losses)

    return whole


def numbered(function):
    """The same with PyTorch's number for the reduction, last."""

    def whole(*args, reduction=None):
        *args, reduction = args if reduction is None else (*args, reduction)
        return loss(function)(*args, reduction=reduction)

    return whole


def huber(x, t, delta=1.0):
    d = np.abs(x - t)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


def smooth_l1(x, t, beta=1.0):
    d = np.abs(x - t)
    return np.where(d < beta, d * d / 2 / beta, d - beta / 2) if beta else d


def kl_div(x, t, log_target=False):
    return np.exp(t) * (t - x) if log_target else special.xlogy(t, t) - t * x


def poisson(x, t, log_input=True, full=False, eps=1e-8):
    y = np.exp(x) - t * x if log_input else x - t * np.log(x + eps)
    if full:
        y = y + np.where(t > 1, t * np.log(t) - t + np.log(2 * np.pi * t) / 2, 0)
    return y


def gaussian(x, t, var, full=False, eps=1e-6):
    var = np.maximum(var, eps)
    return (np.log(var) + (x - t) ** 2 / var) / 2 + (np.log(2 * np.pi) / 2 if full else 0)


def probability(x, t):
    return -(t * np.log(x) + (1 - t) * np.log1p(-x))


def bce(x, t, weight=1.0):
    return probability(x, t) * weight


def hinge_embedding(x, t, margin=1.0):
    return np.where(t != 1, np.maximum(0, margin - x), 0) + np.where(t != -1, x, 0)


def margin_ranking(x, y, t, margin=0.0):
    return np.maximum(0, margin - t * (x - y))


def multi_margin(x, t, p=1, margin=1.0, weight=None):
    out = []
    for row, own in zip(x, t):
        parts = [max(0, margin - row[own] + v) ** p for i, v in enumerate(row) if i != own]
        out.append(sum(parts) * (1 if weight is None else weight[own]) / len(row))
    return np.array(out)


def multilabel_margin(x, t):
    out = []
    for row, labels in zip(x, t):
        labels = list(itertools.takewhile(lambda v: v >= 0, labels))
        others = [i for i in range(len(row)) if i not in labels]
        out.append(sum(max(0, 1 - row[j] + row[i]) for j in labels for i in others) / len(row))
    return np.array(out)


def multilabel_soft_margin(x, t, weight=1.0):
    y = t * np.logaddexp(0, -x) + (1 - t) * np.logaddexp(0, x)
    return (y * weight).mean(-1)


def triplet(a, p, n, margin=1.0, p_norm=2, eps=1e-6, swap=False):
    far = pairwise_distance(a, n, p_norm, eps)
    if swap:
        far = np.minimum(far, pairwise_distance(p, n, p_norm, eps))
    return np.maximum(0, pairwise_distance(a, p, p_norm, eps) - far + margin)


def cosine_embedding(x, y, t, margin=0.0):
    c = (x * y).sum(-1) / np.sqrt(((x * x).sum(-1) + 1e-12) * ((y * y).sum(-1) + 1e-12))
    return np.where(t == 1, 1 - c, np.where(t == -1, np.maximum(0, c - margin), 0))


def ctc_one(logp, labels, blank):
    """The probability of one target by all ways to read it."""
    if len(logp) == 0:
        return 0.0 if len(labels) == 0 else np.inf
    symbols = [blank]
    for label in labels:
        symbols += [label, blank]
    state = np.full(len(symbols), -np.inf)
    state[:2] = logp[0][symbols[:2]]
    for row in logp[1:]:
        before = state.copy()
        for s, symbol in enumerate(symbols):
            ways = [before[s]] + ([before[s - 1]] if s > 0 else [])
            if s > 1 and symbol != blank and symbol != symbols[s - 2]:
                ways.append(before[s - 2])
            state[s] = np.logaddexp.reduce(ways) + row[symbol]
    return -np.logaddexp.reduce(state[-2:])


def ctc_loss(logp, targets, times, lengths, blank=0, reduction="mean", zero_infinity=False):
    if isinstance(reduction, int):
        reduction = ("none", "mean", "sum")[reduction]
    start, out = 0, []
    for k, (time, length) in enumerate(zip(times, lengths)):
        row = targets[k][:length] if targets.ndim == 2 else targets[start : start + length]
        start += length
        out.append(ctc_one(logp[:time, k], list(row), blank))
    out = np.array(out)
    out = np.where(np.isinf(out), 0, out) if zero_infinity else out
    if reduction == "mean":
        return (out / np.maximum(lengths, 1)).mean()
    return out.sum() if reduction == "sum" else out


# ── all of them ───────────────────────────────────────────────────────────────────────────────


def of_axes(axes, function, pick=None):
    """For tensors of so many axes; the result, or one of its results."""

    def call(x, *args, **named):
        found = function(axes, x, *args, **named)
        return found if pick is None else found[pick]

    return call


def without_flag(function):
    def call(*args, return_indices=True, **named):
        return function(*args, **named)

    return call


LOSSES = {
    "smooth_l1_loss": smooth_l1, "huber_loss": huber, "kl_div": kl_div,
    "poisson_nll_loss": poisson, "gaussian_nll_loss": gaussian, "binary_cross_entropy": bce,
    "hinge_embedding_loss": hinge_embedding, "margin_ranking_loss": margin_ranking,
    "soft_margin_loss": lambda x, t: np.logaddexp(0, -t * x),
    "multi_margin_loss": multi_margin, "multilabel_margin_loss": multilabel_margin,
    "multilabel_soft_margin_loss": multilabel_soft_margin, "triplet_margin_loss": triplet,
    "cosine_embedding_loss": cosine_embedding,
}  # fmt: skip
NUMBERED = [
    "hinge_embedding_loss", "margin_ranking_loss", "cosine_embedding_loss", "triplet_margin_loss",
    "kl_div", "poisson_nll_loss",
]  # fmt: skip

NEURAL = {
    "probability_loss": probability, "variance_at_least": np.maximum,
    "cosine_similarity": cosine_similarity,
    "pairwise_distance": pairwise_distance,
    "bilinear": lambda x, y, w, b: np.einsum("...i,oij,...j->...o", x, w, y) + b,
    "pad": pad, "constant_pad_nd": constant_pad,
    "constant_pad_nd.tensor": constant_pad, "interpolate": interpolate,
    "upsample": interpolate, "upsample_nearest": interpolate,
    "upsample_bilinear": lambda x, **k: interpolate(x, mode="bilinear", align_corners=True, **k),
    "grid_sample": grid_sample, "affine_grid": affine_grid, "affine_grid_generator": affine_grid,
    "grid_sampler": numbered_sample, "grid_sampler_2d": numbered_sample,
    "grid_sampler_3d": numbered_sample, "group_norm": group_norm,
    "group_norm.cudnn": group_norm, "instance_norm": instance_norm,
    "instance_norm.functional": instance_norm_functional, "rms_norm": rms_norm,
    "local_response_norm": local_response_norm,
    "embedding": lambda w, i, padding_idx=-1, scale_grad_by_freq=False: w[i],
    "embedding.functional": embedding, "embedding.renorm": embedding,
    "embedding_bag": embedding_bag, "embedding_bag.renorm": embedding_bag,
    "ctc_loss": ctc_loss, "ctc_loss.lists": ctc_loss, "ctc_loss.numbered": ctc_loss,
    "ctc_loss.numbered_lists": ctc_loss,
    **{name: loss(f) for name, f in LOSSES.items()},
    **{f"{name}.numbered": numbered(LOSSES[name]) for name in NUMBERED},
    **{f"max_pool{n}d": of_axes(n, pooling(largest), 0) for n in (1, 2, 3)},
    **{f"max_pool{n}d{form}": without_flag(of_axes(n, pooling(largest)))
       for n in (1, 2, 3) for form in (".indices", "_with_indices")},
    **{f"avg_pool{n}d": of_axes(n, pooling(average)) for n in (1, 2, 3)},
    **{f"lp_pool{n}d": lp_pool(n) for n in (1, 2, 3)},
    **{f"adaptive_avg_pool{n}d": of_axes(n, adaptive(evenly)) for n in (1, 2, 3)},
    **{f"adaptive_max_pool{n}d": of_axes(n, adaptive(largest), 0) for n in (1, 2, 3)},
    **{f"adaptive_max_pool{n}d{form}": of_axes(n, adaptive(largest))
       for n in (1, 2, 3) for form in (".indices", "_with_indices")},
    "adaptive_max_pool1d.function": of_axes(1, adaptive(largest)),
    **{f"max_unpool{n}d": unpool(n) for n in (1, 2, 3)},
    **{f"fractional_max_pool{n}d": lambda *a, n=n, **k: fractional(n)(*a, **k)[0] for n in (2, 3)},
    **{f"fractional_max_pool{n}d{form}": fractional(n)
       for n in (2, 3) for form in (".indices", "_with_indices")},
}  # fmt: skip
