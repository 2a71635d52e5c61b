"""The module `logging` in a capture.

A message that no level lets through is a few reads: the loggers by name, their levels, and the
answers that each of them keeps. That is Python code, observed as any other; beside it there is the
lock of the module. Two functions may take it: one finds a logger by name, which is made for good
the first time; the other notes whether a level is enabled, and a later call asks once more instead
of noting an answer that another thread may have changed. Whatever else is done under a lock is
refused, since a program would do it without.
"""

import sys
from _thread import RLock

from ..._capturing import CAPTURE
from .recording import dict_of, in_mro

_HELPERS = ("_acquireLock", "_releaseLock")  # up to Python 3.12, in the place of `with _lock:`


def ask_again(logger, level):
    """What has a logger note whether a level is enabled."""
    sys.modules["logging"].Logger.isEnabledFor(logger, level)


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
            next="do it outside of the traced function",
        )

    def _is_asked(self, module, logger):
        if self.row_of(logger) is None:
            return
        kinds = [(logger, "getEffectiveLevel", module.Logger), (logger, "level", None)]
        above = logger.parent
        while above is not None:
            kinds.append((above, "level", None))
            above = above.parent
        for owner, name, cls in kinds:
            if id(dict_of(owner)) in self.before or id(dict_of(owner.manager)) in self.before:
                self.refuse("a logger is changed by the traced code, and asked for its level",
                            next="change it outside of the traced function")  # fmt: skip
            if in_mro(type(owner).__mro__, name)[0] is not cls or cls and name in dict_of(owner):
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


def _outside(frame):
    """The first frame from here that is no code of ours."""
    while frame.f_code.co_filename.startswith(CAPTURE):
        frame = frame.f_back
    return frame
