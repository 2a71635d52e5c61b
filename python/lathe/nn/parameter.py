"""Tensors that a module trains."""

from .. import _lathe
from .._errors import typed


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

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()
