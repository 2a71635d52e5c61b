"""Convolutions in NumPy, tap by tap, for the references."""

import numpy as np
from neural_references import each


def convolution(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Over all axes behind the second, tap by tap."""
    if x.ndim == w.ndim - 1:
        return convolution(x[None], w, bias, stride, padding, dilation, groups)[0]
    axes = x.ndim - 2
    step, border, apart = each(stride, axes), each(padding, axes), each(dilation, axes)
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in border)])
    taps = w.shape[2:]
    sizes = [(x.shape[2 + k] - apart[k] * (taps[k] - 1) - 1) // step[k] + 1 for k in range(axes)]
    y = np.zeros((len(x), groups, len(w) // groups, *sizes), x.dtype)
    ws = w.reshape(groups, -1, *w.shape[1:])
    for tap in np.ndindex(taps):
        seen = tuple(
            slice(tap[k] * apart[k], tap[k] * apart[k] + (sizes[k] - 1) * step[k] + 1, step[k])
            for k in range(axes)
        )
        xs = x[(..., *seen)].reshape(len(x), groups, -1, *sizes)
        y += np.einsum("ngc...,goc->ngo...", xs, ws[(..., *tap)])
    y = y.reshape(len(x), -1, *sizes)
    return y if bias is None else y + bias.reshape(-1, *(1,) * axes)


def convolution_transpose(
    x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """Each element of x times the whole of w, added where it lands."""
    axes = x.ndim - 2
    step, border, apart = each(stride, axes), each(padding, axes), each(dilation, axes)
    taps, more = w.shape[2:], each(output_padding, axes)
    sizes = [
        (x.shape[2 + k] - 1) * step[k] + apart[k] * (taps[k] - 1) + 1 + more[k] for k in range(axes)
    ]
    y = np.zeros((len(x), groups, w.shape[1], *sizes), x.dtype)
    xs = x.reshape(len(x), groups, -1, *x.shape[2:])
    ws = w.reshape(groups, -1, *w.shape[1:])
    for tap in np.ndindex(taps):
        lands = tuple(
            slice(
                tap[k] * apart[k], tap[k] * apart[k] + (x.shape[2 + k] - 1) * step[k] + 1, step[k]
            )
            for k in range(axes)
        )
        y[(..., *lands)] += np.einsum("ngc...,gco->ngo...", xs, ws[(..., *tap)])
    y = y.reshape(len(x), -1, *sizes)
    y = y[(..., *(slice(p, n - p) for p, n in zip(border, sizes)))]
    return y if bias is None else y + bias.reshape(-1, *(1,) * axes)
