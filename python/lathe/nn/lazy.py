"""Modules whose first call says how wide their input is.

What is lazy here is one argument of an ordinary module, its first (in_features, in_channels,
num_features). The ordinary module asks `_new_parameter` and `_new_buffer` for each tensor whose
shape depends on it, and `_shapes()` for those shapes; _Lazy gives tensors without a shape, and
asks again when the input is there. With its first call the module becomes an ordinary one.
"""

from .. import _lathe
from .._errors import typed
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers import Linear
from .norms import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from .parameter import UninitializedBuffer, UninitializedParameter, is_lazy


class LazyModuleMixin:
    """A module that is complete after its first call: a subclass defines
    initialize_parameters(*inputs), and names the class that it becomes as cls_to_become."""

    cls_to_become = None

    def has_uninitialized_params(self):
        """Whether a parameter or a buffer has no shape yet."""
        parts = (*self.parameters(recurse=False), *self.buffers(recurse=False))
        return any(map(is_lazy, parts))

    def __call__(self, *inputs, **named):
        self.initialize_parameters(*inputs, **named)
        if self.has_uninitialized_params():
            raise _lathe.ValueError(
                "some of its tensors have no shape yet", op=type(self).__name__,
                got="initialize_parameters() that left them as they were",
                expected="materialize(shape) of each", next="mend initialize_parameters()",
            )  # fmt: skip
        ordinary = self.cls_to_become
        if ordinary is None:
            return super().__call__(*inputs, **named)
        self.__class__ = ordinary
        return self(*inputs, **named)


class _WithoutFirst:
    """The signature of the ordinary module, but for its first argument."""

    def __get__(self, instance, kind):
        import inspect

        if kind.cls_to_become is None:
            return None
        whole = inspect.signature(kind.cls_to_become)
        return whole.replace(parameters=list(whole.parameters.values())[1:])


class _Lazy(LazyModuleMixin):
    _unknown = ""  # the argument that the input says
    __signature__ = _WithoutFirst()

    def __init_subclass__(cls):
        if "cls_to_become" in vars(cls):
            cls.__doc__ = f"{cls.cls_to_become.__name__} whose {cls._unknown} its first input says."

    def __init__(self, *args, **named):
        super().__init__(0, *args, **named)

    def _new_parameter(self, shape, kind):
        return UninitializedParameter(**kind)

    def _new_buffer(self, shape, kind):
        return UninitializedBuffer(**kind)

    def reset_parameters(self):
        if not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Takes the width of the input, and gives the tensors their shapes and starting values."""
        setattr(self, self._unknown, self._width(input))
        if not self.has_uninitialized_params():
            return  # load_state_dict() has filled them
        for name, shape in self._shapes().items():
            if is_lazy(tensor := getattr(self, name)):
                tensor.materialize(shape)
        self.reset_parameters()


class LazyLinear(_Lazy, Linear):
    _unknown = "in_features"
    cls_to_become = Linear

    def _width(self, input):
        return int(input.shape[-1])


class _LazyConv(_Lazy):
    _unknown = "in_channels"

    def _width(self, input):
        if input.ndim not in (self._axes + 1, self._axes + 2):
            raise _lathe.ShapeError(
                "the input has another rank", op=type(self).__name__, got=list(input.shape),
                expected=f"{self._axes} axes behind the channels", next="reshape the input",
            )  # fmt: skip
        width = int(input.shape[-1 - self._axes])
        self._require_groups(width, self.out_channels, self.groups)
        return width


class LazyConv1d(_LazyConv, Conv1d):
    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    cls_to_become = ConvTranspose3d


class _LazyNorm(_Lazy):
    _unknown = "num_features"
    __signature__ = None  # its own: PyTorch's defaults are those of batch norm for both

    @typed
    def __init__(
        self,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _width(self, input):
        self._check_input_dim(input)
        return int(input.shape[self._channel_axis(input)])


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    cls_to_become = InstanceNorm3d
