"""Parts of a structure: functions that a capture runs once, whatever a later call does with them.

What such a part did to Python's objects would happen another number of times than in eager code,
so it may change none that was there when it began. The hooks note all that is written to; which
objects are older than a part is asked of the garbage collector, which does not collect in a
capture: its youngest generation is what the capture has made.
"""

import gc
from _thread import get_ident

from ... import _lathe
from ..._capturing import observers
from ..trace import same_grad


def part(op, function):
    """The function as a part of this op: what it gives, or where it is recorded and changes an
    object, a TraceError."""
    depth = _lathe._recording()

    def run(*args):
        observer = observers.get(get_ident())
        if observer is None:
            return function(*args)
        if _lathe._recording() <= depth:
            return observer.call(function)(*args)
        watch = _Part(observer)
        observer.parts += 1
        try:
            result = observer.call(function)(*args)
        finally:
            observer.parts -= 1
        changed = watch.changed()
        if changed:
            raise _lathe.TraceError(
                "a part that is recorded once changes a Python object", op=op, got=changed,
                expected="functions that change tensors alone",
                next="give back what changes, or carry it",
            )  # fmt: skip
        return result

    return run


class _Part:
    def __init__(self, observer):
        self._observer = observer
        self._old = {id(o): o for o in gc.get_objects(generation=0)}
        self._begun = len(observer.mutated), len(observer.rebound), len(observer.fresh)
        self._grads = {id(t): (t, t.grad) for _, t, _ in observer.leaf_tensors()}

    def changed(self):
        """In words what it was; "" if it was nothing."""
        mutated, rebound, made = self._begun
        fresh = {id(d) for d in self._observer.fresh[made:]}
        for name in self._observer.rebound[rebound:]:
            return f"the variable {name!r} of a function around it"
        for obj in self._observer.mutated[mutated:]:
            if id(obj) not in fresh and (id(obj) in self._old or self._observer.was_there(obj)):
                return f"a {type(obj).__name__}"
        for _, t, before in self._observer.leaf_tensors():
            before = self._grads.get(id(t), (t, before))[1]
            if not same_grad(t.grad, before):
                return "the .grad of a tensor"
        return ""
