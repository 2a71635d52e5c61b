"""Which optimizers have a schedule and have not stepped yet: a schedule that moves on before them
warns.

Kept beside the optimizers: a step in a trace runs once, and what it noted in one of them would be
Python state that the traced function changes. Such steps are told by what they write.
"""

from weakref import WeakKeyDictionary, WeakSet

from .. import _lathe

waiting = WeakKeyDictionary()  # how often the parameters had been written when it had a schedule
_done = WeakSet()  # those that were among them


def _writes(optimizer):
    return sum(p._version for group in optimizer.param_groups for p in group["params"])


def await_step(optimizer):
    """The optimizer has a schedule now."""
    from .optimizer import Optimizer

    if not _lathe._tracing() and isinstance(optimizer, Optimizer) and optimizer not in _done:
        waiting[optimizer] = _writes(optimizer)


def note_step(optimizer):
    """Gives what is known of an optimizer that waited; None: it did not."""
    before = waiting.pop(optimizer, None)
    if before is not None:
        _done.add(optimizer)
    return before


def is_first(optimizer):
    """Does a schedule move on before the optimizer's first step? Asked once."""
    return note_step(optimizer) == _writes(optimizer)
