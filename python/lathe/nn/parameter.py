"""Tensors that belong to a module: those that it trains, and its buffers."""

from .. import _lathe, ops
from .._errors import typed
from .._tensor import deep_copied


class Parameter(_lathe.Tensor):
    """A leaf tensor that modules list among their parameters.

    Parameter(data, requires_grad=True) shares data's memory and leaves its history behind. Without
    data it is empty.
    """

    @typed
    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = []
        if not isinstance(data, _lathe.Tensor):
            data = _lathe.tensor(data)
        return _lathe._make_subclass(cls, data, requires_grad)

    def __init__(self, data=None, requires_grad=True):
        pass

    def __deepcopy__(self, memo):
        """As in PyTorch in memory of its own, and without .grad: the copy of a module begins its
        own training."""
        return deep_copied(self, memo, alone=True)

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


class Buffer(_lathe.Tensor):
    """A tensor that belongs to a module's state without being trained: set as an attribute, it is
    what register_buffer() makes of it.

    Buffer(data, persistent=True) shares data's memory and leaves its history behind. Without data
    it is empty. persistent=False keeps it out of the state_dict.
    """

    persistent = True

    @typed
    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = ops.empty(0)
        made = _lathe._make_subclass(cls, data, data.requires_grad)
        made.persistent = persistent
        return made

    def __init__(self, data=None, *, persistent=True):
        pass


class _Uninitialised:
    """A tensor whose shape is not known yet; materialize(shape) gives it memory."""

    uninitialised = True
    cls_to_become = None

    def materialize(self, shape, device=None, dtype=None):
        """Zeros of this shape, in place; from now on an ordinary tensor of its kind. In a capture:
        the call runs as it is, and later ones find the tensor there."""
        if _lathe._tracing():
            from ..jit.observe.recording import Built

            raise Built
        kind = {"dtype": dtype or self.dtype, "device": device or self.device}
        self.data = ops.zeros(tuple(shape), **kind)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        """Not known: a ShapeError."""
        raise _lathe.ShapeError(
            "the shape is not known yet", op=type(self).__name__, got="its shape asked for",
            expected="materialize(shape), or the first call of its module, before that",
            next="call the lazy module once, with an input of the right width",
        )  # fmt: skip

    def __deepcopy__(self, memo):
        memo[id(self)] = copy = self._again(type(self), self.requires_grad, self.device, self.dtype)
        return copy

    def __reduce_ex__(self, protocol):
        settings = type(self), self.requires_grad, str(self.device), self.dtype.name
        return self._again, settings

    @staticmethod
    def _again(kind, requires_grad, device, dtype):
        return kind(requires_grad=requires_grad, device=device, dtype=dtype)

    def __repr__(self):
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Uninitialised, Parameter):
    """A parameter whose shape is not known yet; materialize(shape) gives it memory."""

    cls_to_become = Parameter

    @typed
    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _lathe._make_subclass(cls, ops.zeros(0, dtype=dtype, device=device), requires_grad)

    def __init__(self, requires_grad=True, device=None, dtype=None):
        pass


class UninitializedBuffer(_Uninitialised, Buffer):
    """A buffer whose shape is not known yet; materialize(shape) gives it memory."""

    cls_to_become = Buffer

    @typed
    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        made = _lathe._make_subclass(cls, ops.zeros(0, dtype=dtype, device=device), requires_grad)
        made.persistent = persistent
        return made

    def __init__(self, requires_grad=False, device=None, dtype=None, persistent=True):
        pass


def is_lazy(value):
    """Whether it is a parameter or a buffer whose shape is not known yet."""
    return getattr(value, "uninitialised", False)
