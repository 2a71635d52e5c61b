"""The module `logging` in a capture.

A message that no level lets through is a few reads: the loggers by name, their levels, and the
answers that each of them keeps. That is Python code, observed as any other; beside it there is the
lock of the module. Two functions may take it: one finds a logger by name, which is made for good
the first time; the other notes whether a level is enabled, and a later call asks once more instead
of noting an answer that another thread may have changed. Whatever else is done under a lock is
refused, since a program would do it without. A message that is let through is an ordered call of
the program: the record is made, and handed to what handles it, at each run.
"""

import sys
from _thread import RLock

from ... import _lathe
from ..._capturing import CAPTURE
from ..._lathe import Tensor
from .printing import frames_of, ordered
from .recording import dict_of, in_mro
from .rows import is_plain
from .texts import Text, as_key

_HELPERS = ("_acquireLock", "_releaseLock")  # up to Python 3.12, in the place of `with _lock:`


class OfLogging:
    """Of an Observer."""

    def start_logging(self):
        self.asked = {}  # by id of what a logger keeps its answers in: the logger

    def is_lock_of_logging(self, value):
        """Is it the lock of `logging`, for one of the functions that may take it?"""
        module = sys.modules.get("logging")
        if type(value) is not RLock or module is None:
            return False
        frame = _outside(sys._getframe(1))
        if frame.f_globals is not dict_of(module):
            return False
        released = frame.f_code.co_name == "_releaseLock"
        if frame.f_code.co_name in _HELPERS:
            frame = _outside(frame.f_back)
        name, known = frame.f_code.co_name, frame.f_locals
        if (
            name not in ("isEnabledFor", "getLogger")
            or frame.f_globals is not dict_of(module)
            or value is not module._lock
        ):
            return self._refuse_lock(name)
        if not released and name == "isEnabledFor":
            self._is_asked(module, known["self"])
        elif not released:
            self._is_found(module, known["self"], known["name"])
        return True

    def _refuse_lock(self, name):
        return self.refuse(
            f"{name}() takes a lock of `logging`, under which it changes loggers or handlers",
            got="what a program would do without that lock",
            next="configure logging before (logging.basicConfig), or log outside of the traced "
            "function",
        )

    def _is_asked(self, module, logger):
        if self.row_of(logger) is None:
            return
        if self.parts or _lathe._recording():
            self.refuse("a logger is asked for a level for the first time in a part that data "
                        "decides about, or that is recorded once: it keeps the answer",
                        next="ask log.isEnabledFor(level) before")  # fmt: skip
        kinds = [(logger, "getEffectiveLevel", module.Logger), (logger, "level", None)]
        above = logger.parent
        while above is not None:
            kinds.append((above, "level", None))
            above = above.parent
        for owner, name, cls in kinds:
            if id(dict_of(owner)) in self.before or id(dict_of(owner.manager)) in self.before:
                self.refuse("a logger is changed by the traced code, and asked for its level",
                            next="change it outside of the traced function")  # fmt: skip
            if _has_own(owner, name, cls):
                self.refuse(f"a logger has a {name} of its own, which would be asked once more",
                            next="ask it outside of the traced function")  # fmt: skip
        self.asked[id(logger._cache)] = logger

    def _is_found(self, module, manager, name):
        """Makes the logger, as the first call of all does, and no later one."""
        loggers = self.attribute(manager, "loggerDict")
        if isinstance(loggers.get(name), module.Logger):
            return
        row = self.row_of(loggers)
        if row is None or id(loggers) in self.before or ("key", row.n, str, name) in self.index:
            self.refuse(f"the traced code looks whether there is a logger {name!r}, and makes it",
                        next="make it outside of the traced function")  # fmt: skip
        with self.resting():
            manager.getLogger(name)

    # ── messages ────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def writes_message(function):
        """Is it what a logger calls for a message that is let through?"""
        module = sys.modules.get("logging")
        return hasattr(module, "Logger") and function is module.Logger._log

    def logged(self, logger, level, msg, args, exc_info=None, extra=None, stack_info=False,
               stacklevel=1):  # fmt: skip
        """In the place of Logger._log."""
        module = sys.modules["logging"]
        if exc_info or stack_info or _has_own(logger, "findCaller", module.Logger):
            self.refuse("a message is logged with an exception or a stack, or says itself where it "
                        "comes from", next="log a text of it")  # fmt: skip
        self.refuse_hidden_changes("a message that is logged")
        self.pin(logger, "the logger of a message")
        self.read_attribute(module, "_srcfile")
        level, name = as_key(level), self.attribute(logger, "name")
        file, line, function = self._line_of_message(module, stacklevel)
        for value in (msg, args, extra):
            self._is_exact(value)

        def run(said):
            msg, args, extra = said
            logger.handle(logger.makeRecord(name, level, file, line, msg, args, None, function,
                                            extra, None))  # fmt: skip

        values = [_Copied(self.as_value(value)) for value in (msg, tuple(args), extra)]
        with self.resting():
            return ordered(self, "message", values, run)

    def _is_exact(self, value):
        """Is it handed over as it is? A handler looks at what a message is made of."""
        kind = type(value)
        if kind in (list, tuple, dict):
            self.use(value)
            for inner in value.values() if kind is dict else value:
                self._is_exact(inner)
        elif not (is_plain(value) or kind in (Tensor, Text, _lathe.SymInt, _lathe.SymFloat)
                  or hasattr(kind, "_is_data")):  # fmt: skip
            self.refuse(f"a message that is logged has a {kind.__name__} in it",
                        next="log a text of it: str(value)")  # fmt: skip

    def _line_of_message(self, module, level):
        """(file, line, function), as Logger.findCaller() finds them."""
        found = [f for f in frames_of() if f[2] is not dict_of(module)]
        if not 1 <= level <= len(found) or not module._srcfile:
            self.refuse("a message is logged for a line that is not in the traced function",
                        got=f"stacklevel={level}", next="leave stacklevel out")  # fmt: skip
        file, line, _, name = found[level - 1]
        return file, line, _name_around(file, line) if name == "<script>" else name


class _Copied:
    """A value whose tensors stay as they are: a handler may keep a record."""

    def __init__(self, value):
        self._value, self._count = value, 0

    def tensors(self):
        found = self._value.tensors()
        self._count = len(found)
        return found

    def now(self, tensors):
        return self._value.now(iter([next(tensors).clone() for _ in range(self._count)]))


def _name_around(file, line):
    """The function that a line of a script is in."""
    import ast  # not above: a first trace waits for imports

    from .rewrite import statements_of

    around = [
        node
        for statement in statements_of(file)[0]
        for node in ast.walk(statement)
        if isinstance(node, (ast.FunctionDef, ast.Lambda))
        and node.lineno <= line <= node.end_lineno
    ]
    inner = max(around, key=lambda node: (node.lineno, node.col_offset))
    return getattr(inner, "name", "<lambda>")


def _has_own(logger, name, cls):
    """Has it anything under the name but what cls has? None: but a value of its own."""
    found = in_mro(type(logger).__mro__, name)[0]
    return found is not cls or cls is not None and name in dict_of(logger)


def _outside(frame):
    """The first frame from here that is no code of ours."""
    while frame.f_code.co_filename.startswith(CAPTURE):
        frame = frame.f_back
    return frame
