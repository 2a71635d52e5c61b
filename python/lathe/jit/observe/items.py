"""Tensor.item() in a capture: a number that only running the program tells.

It can be printed, given as a result and stored: the program gives the tensor, and each call makes
the number of it. What computes with it, or asks about it, is refused at the line that took it out.
"""

from ... import _lathe, ops
from ..._grad_mode import no_grad


def _kind(dtype):
    if dtype is _lathe.bool:
        return bool
    return complex if dtype.is_complex else float if dtype.is_floating_point else int


class Item:
    """tensor: 0-d, of its own; kind: bool, int, float or complex."""

    __slots__ = ("tensor", "kind", "_observer", "_problem")
    _is_data = True  # for who meets numbers that data decides

    def __init__(self, observer, tensor, problem):
        with observer.resting(), no_grad():
            self.tensor = ops.clone(tensor.detach())
        self.kind, self._observer, self._problem = _kind(tensor.dtype), observer, problem

    def refuse(self, *_):
        """Raises what item() has said."""
        if self._observer.refused is None:
            self._observer.refused = self._problem
        raise self._observer.refused

    def __getattr__(self, name):
        self.refuse()


_USES = (
    "abs add and bool ceil complex divmod eq float floor floordiv format ge gt hash index int "
    "invert le lshift lt mod mul ne neg or pos pow radd rand rdivmod repr rfloordiv rlshift rmod "
    "rmul ror round rpow rrshift rshift rsub rtruediv rxor str sub truediv trunc xor"
)
for _name in _USES.split():
    setattr(Item, f"__{_name}__", Item.refuse)
del _name


def item_of(observer, item, tensor):
    """item(), which is that method of the tensor."""
    try:
        return item()
    except _lathe.TraceError as problem:
        if _lathe._batching():
            raise
        if observer.net.refusal is problem:  # not before it is used
            observer.net.refusal = None
        return Item(observer, tensor, problem)
