"""Modules whose first call says how wide their input is."""

from .. import _lathe, ops
from .._errors import typed
from .layers import Linear
from .parameter import Parameter


class UninitializedParameter(Parameter):
    """A parameter whose shape is not known yet; materialize(shape) gives it memory."""

    @typed
    def __new__(cls, requires_grad=True, device=None, dtype=None):
        made = _lathe._make_subclass(cls, ops.zeros(0, dtype=dtype, device=device), requires_grad)
        made.uninitialised = True
        return made

    def __init__(self, requires_grad=True, device=None, dtype=None):
        pass

    def materialize(self, shape, device=None, dtype=None):
        """Zeros of this shape, in place; from now on an ordinary parameter."""
        kind = {"dtype": dtype or self.dtype, "device": device or self.device}
        self.data = ops.zeros(tuple(shape), **kind)
        self.uninitialised = False
        self.__class__ = Parameter

    def __repr__(self):
        return "<UninitializedParameter>"


def is_lazy(value):
    """Whether it is a parameter whose shape is not known yet."""
    return isinstance(value, UninitializedParameter)


class LazyModuleMixin:
    """A module that is complete after its first call: a subclass defines
    initialize_parameters(*inputs), and names the class that it becomes as cls_to_become."""

    cls_to_become = None

    def has_uninitialized_params(self):
        """Whether a parameter has no shape yet."""
        return any(is_lazy(p) for p in self.parameters(recurse=False))

    def __call__(self, *inputs, **named):
        if self.has_uninitialized_params():
            self.initialize_parameters(*inputs, **named)
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become
        return type(self).__call__(self, *inputs, **named)


class LazyLinear(LazyModuleMixin, Linear):
    """Linear whose in_features is the width of its first input."""

    cls_to_become = Linear

    @typed
    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False, device, dtype)
        kind = {"device": device, "dtype": dtype}
        self.weight = UninitializedParameter(**kind)
        self.bias = UninitializedParameter(**kind) if bias else None
        self.out_features = out_features

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        self.in_features = int(input.shape[-1])
        self.weight.materialize((self.out_features, self.in_features))
        if self.bias is not None:
            self.bias.materialize((self.out_features,))
        Linear.reset_parameters(self)
