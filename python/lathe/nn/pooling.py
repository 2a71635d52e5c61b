"""Poolings: of windows of one size, of as many windows as are asked for, and the way back."""

from .._errors import typed
from . import functional as F
from .conv import each_axis
from .module import Module


class _Pool(Module):
    """A module whose settings are the arguments of a function behind the input."""

    _axes = 0
    _function = None
    _settings = ()  # attributes, in the function's order
    _shown = ()

    def forward(self, input):
        return type(self)._function(input, *(getattr(self, name) for name in self._settings))

    def extra_repr(self):
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)


class _MaxPool(_Pool):
    """Largest element of each window over the last axes."""

    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
    _settings = (*_shown, "return_indices")

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


class MaxPool1d(_MaxPool):
    _axes, _function = 1, staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    _axes, _function = 2, staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    _axes, _function = 3, staticmethod(F.max_pool3d)


class _MaxUnpool(_Pool):
    """The largest elements back where a pooling found them, zeros elsewhere."""

    _shown = ("kernel_size", "stride", "padding")

    @typed
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = each_axis(kernel_size, self._axes)
        self.stride = self.kernel_size if stride is None else each_axis(stride, self._axes)
        self.padding = each_axis(padding, self._axes)

    def forward(self, input, indices, output_size=None):
        settings = (self.kernel_size, self.stride, self.padding)
        return type(self)._function(input, indices, *settings, output_size)


class MaxUnpool1d(_MaxUnpool):
    _axes, _function = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    _axes, _function = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    _axes, _function = 3, staticmethod(F.max_unpool3d)


class AvgPool1d(_Pool):
    """Mean of each window over the last axis; padding counts as 0, or not at all."""

    _shown = ("kernel_size", "stride", "padding")
    _settings = (*_shown, "ceil_mode", "count_include_pad")
    _axes, _function = 1, staticmethod(F.avg_pool1d)

    @typed
    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        super().__init__()
        self.kernel_size = each_axis(kernel_size, 1)
        self.stride = self.kernel_size if stride is None else each_axis(stride, 1)
        self.padding = each_axis(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad


class _AvgPool(_Pool):
    """Mean of each window over the last axes; padding counts as 0, or not at all."""

    _shown = ("kernel_size", "stride", "padding")
    _settings = (*_shown, "ceil_mode", "count_include_pad", "divisor_override")

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


class AvgPool2d(_AvgPool):
    _axes, _function = 2, staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    _axes, _function = 3, staticmethod(F.avg_pool3d)


class _LPPool(_Pool):
    """(sum x^p)^(1/p) of each window over the last axes, p = norm_type."""

    _shown = ("norm_type", "kernel_size", "stride", "ceil_mode")
    _settings = _shown

    @typed
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode


class LPPool1d(_LPPool):
    _axes, _function = 1, staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    _axes, _function = 2, staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    _axes, _function = 3, staticmethod(F.lp_pool3d)


class _AdaptiveAvgPool(_Pool):
    """Means of as many windows as output_size says, which cover the last axes evenly."""

    _shown = ("output_size",)
    _settings = _shown

    @typed
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    _axes, _function = 1, staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    _axes, _function = 2, staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    _axes, _function = 3, staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPool(_Pool):
    """The largest elements of as many windows as output_size says, which cover the last axes
    evenly."""

    _shown = ("output_size",)
    _settings = (*_shown, "return_indices")

    @typed
    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    _axes, _function = 1, staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    _axes, _function = 2, staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    _axes, _function = 3, staticmethod(F.adaptive_max_pool3d)


class _FractionalMaxPool(_Pool):
    """The largest elements of windows that begin at random places (Graham 2014)."""

    _settings = ("kernel_size", "output_size", "output_ratio", "return_indices", "_random_samples")

    @typed
    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        super().__init__()
        self.kernel_size = each_axis(kernel_size, self._axes)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = (
            output_size if output_size is None else each_axis(output_size, self._axes)
        )
        if isinstance(output_ratio, float):
            output_ratio = (output_ratio,) * self._axes
        self.output_ratio = output_ratio


class FractionalMaxPool2d(_FractionalMaxPool):
    _axes, _function = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    _axes, _function = 3, staticmethod(F.fractional_max_pool3d)
