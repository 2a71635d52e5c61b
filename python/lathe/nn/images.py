"""Layers that put a border around images, or give them another size or layout."""

from .._errors import typed
from . import functional as F
from .conv import each_axis
from .module import Module


class _Pad(Module):
    """A border around the last axes: one width, or (before, after) from the last axis on."""

    _axes = 0
    _mode = "constant"  # not an op: how F.pad makes a border
    value = None

    @typed
    def __init__(self, padding):
        super().__init__()
        self.padding = each_axis(padding, 2 * self._axes)

    def forward(self, input):
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPad(_Pad):
    @typed
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """A border of one value, around the last axis."""

    _axes = 1


class ConstantPad2d(_ConstantPad):
    """A border of one value, around the last two axes."""

    _axes = 2


class ConstantPad3d(_ConstantPad):
    """A border of one value, around the last three axes."""

    _axes = 3


class ZeroPad1d(_Pad):
    """A border of zeros, around the last axis."""

    _axes = 1
    value = 0.0


class ZeroPad2d(_Pad):
    """A border of zeros, around the last two axes."""

    _axes = 2
    value = 0.0


class ZeroPad3d(_Pad):
    """A border of zeros, around the last three axes."""

    _axes = 3
    value = 0.0


class ReflectionPad1d(_Pad):
    """A border of the input mirrored at its ends, around the last axis."""

    _axes = 1
    _mode = "reflect"  # not an op: how F.pad makes a border


class ReflectionPad2d(_Pad):
    """A border of the input mirrored at its ends, around the last two axes."""

    _axes = 2
    _mode = "reflect"  # not an op: how F.pad makes a border


class ReflectionPad3d(_Pad):
    """A border of the input mirrored at its ends, around the last three axes."""

    _axes = 3
    _mode = "reflect"  # not an op: how F.pad makes a border


class ReplicationPad1d(_Pad):
    """A border of the input's ends repeated, around the last axis."""

    _axes = 1
    _mode = "replicate"  # not an op: how F.pad makes a border


class ReplicationPad2d(_Pad):
    """A border of the input's ends repeated, around the last two axes."""

    _axes = 2
    _mode = "replicate"  # not an op: how F.pad makes a border


class ReplicationPad3d(_Pad):
    """A border of the input's ends repeated, around the last three axes."""

    _axes = 3
    _mode = "replicate"  # not an op: how F.pad makes a border


class CircularPad1d(_Pad):
    """A border of the input's other end, around the last axis."""

    _axes = 1
    _mode = "circular"  # not an op: how F.pad makes a border


class CircularPad2d(_Pad):
    """A border of the input's other end, around the last two axes."""

    _axes = 2
    _mode = "circular"  # not an op: how F.pad makes a border


class CircularPad3d(_Pad):
    """A border of the input's other end, around the last three axes."""

    _axes = 3
    _mode = "circular"  # not an op: how F.pad makes a border


class Upsample(Module):
    """x[n, channels, ...] at another size, or scaled; see interpolate."""

    @typed
    def __init__(
        self,
        size=None,
        scale_factor=None,
        mode="nearest",  # not an op: how elements between others are made
        align_corners=None,
        recompute_scale_factor=None,
    ):
        super().__init__()
        if isinstance(scale_factor, (tuple, list)):
            scale_factor = tuple(float(factor) for factor in scale_factor)
        elif scale_factor:
            scale_factor = float(scale_factor)
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, input):
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self):
        asked = "size" if self.scale_factor is None else "scale_factor"
        return f"{asked}={getattr(self, asked)}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample with mode='nearest'."""

    @typed
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample with mode='bilinear' and align_corners=True."""

    @typed
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """x[n, c * r^2, h, w] as [n, c, h * r, w * r], r = upscale_factor (Shi et al. 2016)."""

    @typed
    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """The reverse of PixelShuffle."""

    @typed
    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels of several groups, taken from each in turn (Zhang et al. 2018)."""

    @typed
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"


class _Columns(Module):
    _shown = ("kernel_size", "dilation", "padding", "stride")

    def _set(self, *settings):
        for name, value in zip(self._shown[-4:], settings):
            setattr(self, name, value)

    def extra_repr(self):
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)


class Unfold(_Columns):
    """Windows of x[n, c, h, w] as columns: [n, c * window, places]."""

    @typed
    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self._set(kernel_size, dilation, padding, stride)

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(_Columns):
    """Columns as Unfold makes them, added where they came from."""

    _shown = ("output_size", *_Columns._shown)

    @typed
    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size = output_size
        self._set(kernel_size, dilation, padding, stride)

    def forward(self, input):
        settings = (self.kernel_size, self.dilation, self.padding, self.stride)
        return F.fold(input, self.output_size, *settings)
