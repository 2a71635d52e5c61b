"""Tensors that a module trains."""

from .. import _lathe


class Parameter(_lathe.Tensor):
    """A leaf tensor that modules list among their parameters.

    Parameter(data, requires_grad=True) shares data's memory and leaves its history behind.
    """

    def __new__(cls, data, requires_grad=True):
        if not isinstance(data, _lathe.Tensor):
            data = _lathe.tensor(data)
        return _lathe._make_subclass(cls, data, requires_grad)

    def __init__(self, data, requires_grad=True):
        pass

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()
