"""Layers with weights, pooling, dropout, and those that only change shape."""

import math

from .. import _lathe, ops
from .._arguments import default_only
from .._errors import typed
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _start_weight_and_bias(layer, fan_in):
    """Uniform in +-1/sqrt(fan_in), both (LeCun et al. 1998, as PyTorch scales it)."""
    init.kaiming_uniform_(layer.weight, a=math.sqrt(5))
    if layer.bias is not None:
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(layer.bias, -bound, bound)


class Linear(Module):
    """y = x @ weight.T + bias. x[..., in_features]; weight[out_features, in_features]."""

    @typed
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        shape = (out_features, in_features)
        self.weight = Parameter(ops.zeros(shape, dtype=dtype, device=device))
        self.bias = Parameter(ops.zeros(out_features, dtype=dtype, device=device)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        _start_weight_and_bias(self, self.in_features)

    def forward(self, x):
        return ops.linear(x, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Conv2d(Module):
    """Cross-correlation of x[n, in_channels, h, w], plus a bias an output channel.

    weight[out_channels, in_channels / groups, kh, kw]. Sizes are numbers or (rows, columns).
    """

    @default_only(padding_mode="leave it out, and pad the input before")
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",  # not an op: what stands outside of the image
        device=None,
        dtype=None,
    ):
        super().__init__()
        if groups < 1 or in_channels % groups != 0 or out_channels % groups != 0:
            raise _lathe.ValueError(
                "groups that do not divide the channels",
                op="Conv2d",
                got=f"{groups} groups, {in_channels} and {out_channels} channels",
                expected="a divisor of both",
                next="choose fewer groups, or other channel counts",
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding = padding if isinstance(padding, str) else _pair(padding)
        self.dilation, self.groups, self.padding_mode = _pair(dilation), groups, padding_mode
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(ops.zeros(shape, dtype=dtype, device=device))
        self.bias = Parameter(ops.zeros(out_channels, dtype=dtype, device=device)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        rows, columns = self.kernel_size
        _start_weight_and_bias(self, self.in_channels // self.groups * rows * columns)

    def forward(self, x):
        return F.conv2d(
            x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        text += f", stride={self.stride}"
        if self.padding != (0, 0):
            text += f", padding={self.padding}"
        if self.dilation != (1, 1):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias is not None else text + ", bias=False"


class Embedding(Module):
    """A row of weight for each integer of x. weight[num_embeddings, embedding_dim].

    padding_idx: the row that is zeros at first, and is not trained.
    """

    @typed
    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise _lathe.IndexError(
                "there is no such row to pad with",
                op="Embedding",
                got=f"padding_idx={padding_idx}",
                expected=f"at least -{num_embeddings} and below {num_embeddings}",
                next="choose a row of the table",
            )
        if padding_idx is not None:
            padding_idx %= num_embeddings
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        table = ops.randn((num_embeddings, embedding_dim), dtype=dtype, device=device)
        if padding_idx is not None:
            table[padding_idx] = 0
        self.weight = Parameter(table)

    def forward(self, x):
        return F.embedding(
            x,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self):
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        return text if self.padding_idx is None else text + f", padding_idx={self.padding_idx}"


class MaxPool2d(Module):
    """Largest element of each window of x[..., h, w]."""

    @typed
    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        return_indices=False,
        ceil_mode=False,
    ):
        super().__init__()
        self.kernel_size, self.padding, self.dilation = kernel_size, padding, dilation
        self.stride = kernel_size if stride is None else stride
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, x):
        return F.max_pool2d(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class AvgPool2d(Module):
    """Mean of each window of x[..., h, w]; padding counts as 0, or not at all."""

    @typed
    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        super().__init__()
        self.kernel_size, self.padding, self.ceil_mode = kernel_size, padding, ceil_mode
        self.stride = kernel_size if stride is None else stride
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, x):
        return F.avg_pool2d(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class Flatten(Module):
    """Axes start_dim..end_dim joined into one."""

    @typed
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x):
        return ops.flatten(x, self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Identity(Module):
    """x as it is; any arguments are accepted and ignored."""

    def __init__(self, *_, **__):
        super().__init__()

    def forward(self, x):
        return x
