"""Convolutions and transposed ones, over one, two and three axes."""

import math

from .. import _lathe
from .._errors import our_class, typed
from . import functional as F
from . import init
from .module import Module

_MODES = ("zeros", "reflect", "replicate", "circular")


def each_axis(value, axes):
    """One number for every axis, from one for all of them or one each."""
    return (value,) * axes if isinstance(value, int) else tuple(value)


def start_weight_and_bias(layer, fan_in):
    """Uniform in +-1/sqrt(fan_in), both (LeCun et al. 1998, as PyTorch scales it)."""
    init.kaiming_uniform_(layer.weight, a=math.sqrt(5))
    if layer.bias is not None:
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(layer.bias, -bound, bound)


def _refuse(layer, problem, got, expected, next):
    name = our_class(layer).__name__
    raise _lathe.ValueError(problem, op=name, got=got, expected=expected, next=next)


class _Conv(Module):
    _axes = 0
    _function = None
    transposed = False

    def _require_groups(self, in_channels, out_channels, groups):
        if groups < 1 or in_channels % groups != 0 or out_channels % groups != 0:
            _refuse(
                self,
                "groups that do not divide the channels",
                f"{groups} groups, {in_channels} and {out_channels} channels",
                "a divisor of both",
                "choose fewer groups, or other channel counts",
            )

    def _set(self, in_channels, out_channels, kernel_size, stride, dilation, groups, padding_mode):
        self._require_groups(in_channels, out_channels, groups)
        if padding_mode not in _MODES:
            _refuse(
                self,
                "an unknown padding_mode",
                repr(padding_mode),
                ", ".join(map(repr, _MODES)),
                "leave the argument out for zeros",
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = each_axis(kernel_size, self._axes)
        self.stride, self.dilation = each_axis(stride, self._axes), each_axis(dilation, self._axes)
        self.padding_mode = padding_mode

    def _make_weights(self, bias, kind):
        shapes = self._shapes()
        self.weight = self._new_parameter(shapes["weight"], kind)
        self.bias = self._new_parameter(shapes["bias"], kind) if bias else None
        self.reset_parameters()

    def _shapes(self):
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        weight = (first, second // self.groups, *self.kernel_size)
        return {"weight": weight, "bias": (self.out_channels,)}

    def reset_parameters(self):
        start_weight_and_bias(self, math.prod(self.weight.shape[1:]))

    def extra_repr(self):
        zeros, ones = (0,) * self._axes, (1,) * self._axes
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        text += f", stride={self.stride}"
        for name, usual in (("padding", zeros), ("dilation", ones), ("output_padding", zeros)):
            if getattr(self, name, usual) != usual:
                text += f", {name}={getattr(self, name)}"
        text += f", groups={self.groups}" if self.groups != 1 else ""
        text += ", bias=False" if self.bias is None else ""
        return text + (
            f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else ""
        )


class _Convolution(_Conv):
    """Cross-correlation of x[n, in_channels, {sizes}], plus a bias an output channel.

    weight[out_channels, in_channels / groups, {taps}]. Sizes are numbers, one for all axes or one
    each; padding may be 'same' or 'valid'. padding_mode: what stands around the input.
    """

    @typed
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
        self._set(in_channels, out_channels, kernel_size, stride, dilation, groups, padding_mode)
        named = isinstance(padding, str)
        if named and padding not in ("same", "valid"):
            _refuse(
                self,
                "an unknown padding",
                repr(padding),
                "numbers, 'same' or 'valid'",
                "give the padding as numbers",
            )
        if padding == "same" and any(s != 1 for s in self.stride):
            _refuse(
                self,
                "a padding this stride cannot have",
                f"'same', stride {self.stride}",
                "numbers, 'valid', or 'same' at stride 1",
                "give the padding as numbers",
            )
        self.padding = padding if named else each_axis(padding, self._axes)
        self._make_weights(bias, {"dtype": dtype, "device": device})

    def _border(self):
        """What F.pad takes: (before, after) of the last axis, then of the one before."""
        if self.padding == "valid":
            return [0] * (2 * self._axes)
        if self.padding == "same":
            more = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return [n for m in reversed(more) for n in (m // 2, m - m // 2)]
        return [n for p in reversed(self.padding) for n in (p, p)]

    def forward(self, input):
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._border(), self.padding_mode), 0
        settings = (self.stride, padding, self.dilation, self.groups)
        return type(self)._function(input, self.weight, self.bias, *settings)


class _TransposedConvolution(_Conv):
    """Transposed convolution of x[n, in_channels, {sizes}], plus a bias an output channel: what a
    convolution's gradient does.

    weight[in_channels, out_channels / groups, {taps}]. Of several sizes that a convolution would
    make the same, output_padding, or output_size in the call, says which.
    """

    transposed = True

    @typed
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",  # not an op: what stands outside of the image
        device=None,
        dtype=None,
    ):
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, dilation, groups, padding_mode)
        if padding_mode != "zeros":
            _refuse(
                self,
                "only zeros stand around what is transposed",
                f"padding_mode={padding_mode!r}",
                "padding_mode='zeros'",
                "leave the argument out",
            )
        self.padding = each_axis(padding, self._axes)
        self.output_padding = each_axis(output_padding, self._axes)
        self._make_weights(bias, {"dtype": dtype, "device": device})

    def _more(self, x, output_size):
        """The output padding that gives this size."""
        if output_size is None:
            return self.output_padding
        wanted, more = tuple(output_size)[-self._axes :], []
        for k, want in enumerate(wanted):
            reach = self.dilation[k] * (self.kernel_size[k] - 1) + 1
            have = x.shape[k - self._axes]
            least = (have - 1) * self.stride[k] - 2 * self.padding[k] + reach
            if not least <= want < least + self.stride[k]:
                _refuse(
                    self,
                    "no convolution makes this input from such a size",
                    f"output_size {tuple(wanted)}",
                    f"{least} to {least + self.stride[k] - 1} on axis {k}",
                    "give the size of what was convolved",
                )
            more.append(want - least)
        return more

    def forward(self, input, output_size=None):
        more = self._more(input, output_size)
        settings = (self.stride, self.padding, more, self.groups, self.dilation)
        return type(self)._function(input, self.weight, self.bias, *settings)


def _documented(base, axes):
    sizes, taps = (", ".join(words[-axes:]) for words in (("d", "h", "w"), ("kd", "kh", "kw")))
    return base.__doc__.format(sizes=sizes, taps=taps)


class Conv1d(_Convolution):
    __doc__ = _documented(_Convolution, 1)
    _axes, _function = 1, staticmethod(F.conv1d)


class Conv2d(_Convolution):
    __doc__ = _documented(_Convolution, 2)
    _axes, _function = 2, staticmethod(F.conv2d)


class Conv3d(_Convolution):
    __doc__ = _documented(_Convolution, 3)
    _axes, _function = 3, staticmethod(F.conv3d)


class ConvTranspose1d(_TransposedConvolution):
    __doc__ = _documented(_TransposedConvolution, 1)
    _axes, _function = 1, staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_TransposedConvolution):
    __doc__ = _documented(_TransposedConvolution, 2)
    _axes, _function = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_TransposedConvolution):
    __doc__ = _documented(_TransposedConvolution, 3)
    _axes, _function = 3, staticmethod(F.conv_transpose3d)
