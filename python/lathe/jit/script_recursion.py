"""Functions of a script that call themselves where data decides: each a function of the graph.

A call that has the arguments of one under way, in a part that data decides about, would be read
over and over. Then the capture begins anew and records the function once (Recursion), as a loop's
body is: what differs between the calls is taken apart into tensors and handed on, what is the same
(self, tables, settings) stays itself. Where the function calls itself again stands a call node.

What such a call gives is not known at first. The body is recorded as far as it goes without, which
gives what the function returns where it does not call itself; then again, with that.
"""

from .. import _lathe
from .._lathe import SymFloat, SymInt, Tensor
from .observe.recording import Restart
from .observe.texts import Text
from .script_heap import said_of
from .script_join import Again, FirstRound, Joiner, Known, Raised
from .script_lists import DataList
from .script_optional import Maybe, is_record
from .script_values import Number
from .trace import same_grad

_DEEPEST = 100
_ATTEMPTS = 16
_PART = "a function that calls itself where data decides"
_RESULT, _FAILED = " result", " failed"
_PLAIN = (bool, int, float, complex, str, bytes)
_CAN_VARY = (Tensor, Number, Maybe, Text, SymInt, SymFloat, type(None), *_PLAIN)


class Once(BaseException):
    """The function is to be recorded again, knowing more."""

    def __init__(self, recursion):
        self.recursion = recursion


def result_of(interpreter):
    """What a call gives: read now, or a call node where the function is recorded."""
    session, i = interpreter.session, interpreter
    i.given, i.level = dict(i.env), session.recording
    for r in reversed(session.recursions):
        if r.i.who is i.who and (out := r.call(i)) is not None:
            return out[0]
    if i.node in session.observer.recorded and (out := Recursion(i).record()) is not None:
        return out[0]
    notice(i)
    return i.run_body()


def notice(i):
    """Is this call one under way over again? Then it is recorded, in a capture from the start."""
    session = i.session
    deep = session.depth >= _DEEPEST
    own = not str(i.globals.get("__name__")).startswith("lathe.")
    for j in session.live if own and i.node not in session.observer.recorded else ():
        again = j.who is i.who and j.level < session.recording
        if again and any(type(v) is DataList for v in i.given.values()):
            i.refuse(i.node, f"{i.said()} calls itself as data decides, with a list whose length "
                     "data decides", next="keep what is to be done in a list, and write a while "
                     "loop")  # fmt: skip
        if again and (deep or alike(list(j.given.values()), list(i.given.values()))):
            session.observer.recorded.add(i.node)
            session.observer.again = True
            raise Restart
    if deep:
        i.refuse(i.node, f"{i.said()} is called too deep: its recursion never ends",
                 got=f"{_DEEPEST} calls inside each other",
                 next="end the recursion, or write a while loop")  # fmt: skip


def same(a, b):
    """The same object, or a plain value that is equal?"""
    if a is b:
        return True
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return _lathe._same_tensor(a, b)
    return _of_one_kind(a, b, same)


def alike(a, b):
    """Would the capture do with b what it has done with a?"""
    if same(a, b):
        return True
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return (a.dtype is b.dtype and a.ndim == b.ndim and a.device == b.device
                and all(map(_lathe._proven_equal, a.shape, b.shape)))  # fmt: skip
    if isinstance(a, Number) and isinstance(b, Number):
        return a.kind is b.kind
    return _of_one_kind(a, b, alike)


def _of_one_kind(a, b, compared):
    if type(a) is not type(b):
        return False
    if type(a) is SymInt:
        return _lathe._proven_equal(a, b)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(compared, a, b))
    if type(a) is dict:
        return list(a) == list(b) and all(map(compared, a.values(), b.values()))
    if type(a) is Maybe:
        return compared(a.value, b.value)
    return type(a) in _PLAIN and repr(a) == repr(b)


def can_vary(value):
    if type(value) is dict:
        return all(map(can_vary, value.values()))
    if isinstance(value, (tuple, list)):
        return all(map(can_vary, value))
    return isinstance(value, _CAN_VARY) or is_record(value)


def _carried(value):
    """A size that differs between the calls is a number that data decides."""
    return Number.of(value) if type(value) is SymInt else value


def _mode():
    return _lathe.is_grad_enabled(), str(_lathe._autocast())


class Recursion:
    """One function that is recorded, begun by a call of it."""

    def __init__(self, i):
        self.i, self.session = i, i.session
        self.state = i.given  # what a call of it is given, which its caller sees too
        self.varying = set()  # names of the arguments that differ between the calls
        self.known = Known()
        self.fails = False  # may data decide an exception in it?
        self.mode = _mode()

    def record(self):
        """(what the call gives,), or None where the body does not call itself."""
        for _ in range(_ATTEMPTS):
            try:
                return self.once()
            except FirstRound:
                raise
            except Again:
                continue
            except Once as again:
                if again.recursion is not self:
                    raise
        return self.refuse("what a function is called with, where it calls itself, does not settle")

    def once(self):
        i, session = self.i, self.session
        i.env = dict(i.given)
        heap = i.heap()
        self.joiner = Joiner(i, i.node, self.known, heap, _lathe._symbol_count(), _PART)
        self.result = None  # how what it gives is made of tensors, once that is known
        start = {n: _carried(v) for n, v in i.given.items() if n in self.varying}
        tensors = self.joiner.carry(start)
        self.which = len(session.recursions)
        session.recursions.append(self)
        try:
            results = _lathe._record_recursion(i.said()[:-2].strip("<>"), self.body, tensors)
        finally:
            session.recursions.pop()
            i.env = dict(i.given)
        return None if results is None else self.given_back(results)

    def given_back(self, results):
        out = self.result.carried(results)
        if self.fails:
            checks = self.session.checks
            checks["failed"] = out[_FAILED] + checks["failed"]
        return (out[_RESULT],)

    def body(self, values):
        """What one call does, whatever it is called with."""
        i, session = self.i, self.session
        self.state = {**i.given, **self.joiner.carried(values)}
        i.env = dict(self.state)
        here, session.here = session.here, []
        failed, session.checks["failed"] = session.checks["failed"], 0
        heap, grads = i.heap(), session.grads()
        session.recording += 1
        try:
            value = i.run_body()
            self.unchanged(heap, grads)
            return self.tensors_of(value, session.checks["failed"])
        except Raised:
            if not _lathe._sizes_fit(self.which):  # an end that asks about sizes is another one now
                return []
            self.refuse(
                f"{i.said()} calls itself on every path, or raises an exception: its "
                "recursion never ends",
                next="return a value where it is to end",
            )
        finally:
            session.recording -= 1
            session.here, session.checks["failed"] = here, failed
            session.put_grads(grads)
            heap.put_back(heap.changes())

    def tensors_of(self, value, failed):
        if self.fails is False and isinstance(failed, Number):
            self.fails = True
            raise Again
        given = {_RESULT: _carried(value), **({_FAILED: failed} if self.fails else {})}
        if self.result is not None:
            return self.result.next(given)
        self.result = Joiner(self.i, self.i.node, self.known, self.joiner.heap,
                             self.joiner.symbols, _PART)  # fmt: skip
        return self.result.carry(given)

    def unchanged(self, heap, grads):
        session = self.session
        if not all(map(same_grad, session.all_grads(grads), session.grads())):
            self.refuse(
                f"gradients are set inside {_PART}", next="take the gradient after the call"
            )
        session.checks["failed"], failed = 0, session.checks["failed"]
        changes = heap.changes()
        session.checks["failed"] = failed
        for key, now in changes.items():
            box = heap.boxes[key]
            self.refuse(f"{box.said()} is changed inside {_PART}",
                        f"{said_of(box.then)} before, {said_of(now)} after",
                        "return what changes, and hand it on as an argument")  # fmt: skip
        if heap.slots_changed():
            self.refuse(f"a class, or __slots__, is changed inside {_PART}",
                        next="return what changes, and hand it on as an argument")  # fmt: skip

    def call(self, i):
        """(what it gives,) where the function calls itself; None: this call is another's."""
        was, now = self.i.given, i.given
        if list(was) != list(now):
            return None
        changed = {n for n in now if n not in self.varying and not same(was[n], now[n])}
        if not all(can_vary(was[n]) and can_vary(now[n]) for n in changed):
            return None
        if changed:
            self.varying |= changed
            raise Once(self)
        if _mode() != self.mode:
            self.refuse(f"{i.said()} calls itself where gradients or autocast are switched "
                        "otherwise than where it was called", next="switch them inside of it, or "
                        "around the first call")  # fmt: skip
        try:
            tensors = self.joiner.next({n: _carried(now[n]) for n in self.joiner.plan})
        except Again:
            raise Once(self) from None
        results = _lathe._record_recursive_call(self.which, tensors)
        if results is None:
            raise Raised
        return self.given_back(results)

    def refuse(self, problem, got="", next=""):
        self.i.refuse(self.i.node, problem, got, next)


__all__ = ["Once", "Recursion", "result_of"]
