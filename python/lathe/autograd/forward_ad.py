"""Forward mode as a block: tensors that carry a tangent, and results that are asked for theirs.

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, tangent)
        value, derivative = forward_ad.unpack_dual(f(dual))

A level is a list of such tensors. Inside of it everything is recorded, and the tangent of a result
is the derivative of the record between those tensors and it, as func.jvp takes it
(recorded.Linear). So a block of no_grad() inside of a level has no tangents; no_grad() around the
level only says that nothing of it is to be differentiated further.
"""

from collections import namedtuple

from .. import _lathe
from .._errors import typed
from .._grad_mode import Block
from .._lathe import Tensor

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip


class UnpackedDualTensor(namedtuple("UnpackedDualTensor", ("primal", "tangent"))):
    """A tensor, and its derivative in the direction of the tangents of its level; None if it
    depends on none of them."""

    __slots__ = ()


class _Level:
    def __init__(self):
        self.primals, self.tangents = [], []
        self.wanted = _lathe._set_grad_enabled(True)


_levels = []  # none or one


def _refuse(op, problem, got, expected, advice, kind=_lathe.AutogradError):
    raise kind(problem, op=op, got=got, expected=expected, next=advice)


def _current(op, level):
    """The level that is meant; None: there is none."""
    if level not in (None, len(_levels) - 1):
        _refuse(op, "there is no such level", f"level={level}",
                f"level={len(_levels) - 1}, or none" if _levels else "none: no level is open",
                "leave level out")  # fmt: skip
    return _levels[-1] if _levels else None


def enter_dual_level():
    """Opens a level; gives its number. AutogradError inside of another."""
    if _levels:
        _refuse("enter_dual_level", "a level is open already", "a level inside of a level",
                "one level at a time", "nest lathe.func.jvp for higher derivatives")  # fmt: skip
    _levels.append(_Level())
    return len(_levels) - 1


def exit_dual_level(*, level=None):
    """Closes the level: its tensors have no tangents any more. AutogradError if none is open."""
    if _current("exit_dual_level", level) is None:
        _refuse("exit_dual_level", "no level is open", "exit_dual_level()", "an open level",
                "call enter_dual_level() first")  # fmt: skip
    _lathe._set_grad_enabled(_levels.pop().wanted)


class dual_level(Block):
    """A block that is a level; gives its number."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *_):
        exit_dual_level()


@typed
def make_dual(tensor, tangent, *, level=None):
    """A copy of tensor that carries tangent, of the same shape and dtype, in the open level.

    AutogradError where none is open; ShapeError, DTypeError where tangent does not fit, or the
    dtype has no derivative.
    """
    current = _current("make_dual", level)
    if current is None:
        _refuse("make_dual", "no level is open", "make_dual()", "an open level",
                "write `with dual_level():` around it")  # fmt: skip
    if tangent.shape != tensor.shape or tangent.dtype != tensor.dtype:
        _refuse("make_dual", "the tangent does not fit the tensor",
                f"{tangent.dtype}{list(tangent.shape)}", f"{tensor.dtype}{list(tensor.shape)}",
                "give it the shape and dtype of the tensor",
                _lathe.ShapeError if tangent.shape != tensor.shape else _lathe.DTypeError,
                )  # fmt: skip
    from ..func.recorded import of_its_own

    primal = of_its_own("make_dual", tensor)
    current.primals.append(primal)
    current.tangents.append(tangent)
    return primal.clone()  # which may be written to; the record still begins at primal


@typed
def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a tensor that was computed in the open level: its elements, and their
    derivative in the direction of all tangents there, or None if it depends on none."""
    current = _current("unpack_dual", level)
    if not isinstance(tensor, Tensor):
        _refuse("unpack_dual", "only a tensor has a tangent", type(tensor).__name__, "a tensor",
                "unpack the tensors in it", _lathe.TypeError)  # fmt: skip
    if current is None or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    from ..func.recorded import Linear, Record

    record = Record(current.primals, [tensor], current.wanted)
    linear = Linear(record)
    if not linear.depends:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(record.handed_out(tensor), linear.pushed(current.tangents)[0])
