"""Which optimizers have a schedule and have not stepped yet: a schedule that moves on before them
warns.

Kept beside the optimizers: a step in a trace runs once, and what it noted in one of them would be
Python state that the traced function changes. Such steps are told by what they write. Weak
references have no callbacks here: one that ran in the middle of a capture would be refused.
"""

from weakref import ref

from .. import _lathe

waiting = {}  # by id: how often the parameters had been written when it had a schedule
_known = {}  # by id: a weak reference to each that has had a schedule


def _writes(optimizer):
    return sum(p._version for group in optimizer.param_groups for p in group["params"])


def _forget_dead():
    for key in [key for key, of in _known.items() if of() is None]:
        del _known[key]
        waiting.pop(key, None)


def await_step(optimizer):
    """The optimizer has a schedule now."""
    from .optimizer import Optimizer

    if _lathe._tracing() or not isinstance(optimizer, Optimizer):
        return
    _forget_dead()
    key = id(optimizer)
    if key not in _known:
        _known[key], waiting[key] = ref(optimizer), _writes(optimizer)


def note_step(optimizer):
    """Gives what is known of an optimizer that waited; None: it did not."""
    of = _known.get(id(optimizer))
    if of is None or of() is not optimizer:
        return None
    return waiting.pop(id(optimizer), None)


def is_first(optimizer):
    """Does a schedule move on before the optimizer's first step? Asked once."""
    return note_step(optimizer) == _writes(optimizer)
