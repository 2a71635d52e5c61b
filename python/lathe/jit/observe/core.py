"""What a capture is made of, whether code has hooks (observer.py) or needs none (unhooked.py)."""

import gc
import sys
from _thread import RLock, get_ident

from ... import _lathe
from ..._capturing import CAPTURE, PACKAGE, is_standard, observers
from .names import Names
from .recording import Recording, dict_of


class Core(Recording, Names):
    """One capture. begin() and end() enclose the run of the code. While functions have other code
    than their own, no other thread may begin: who captures holds `lock`."""

    lock = RLock()
    # Also when all else is forgotten: functions that outlive the capture ask, and other threads
    # that are in code with hooks.
    _live, _busy, _thread, alike = False, 0, None, ()

    def __init__(self, varying=frozenset(), concrete=(), inputs=True):
        super().__init__(varying, set(concrete), inputs)
        self.traced, self.given_to = None, ((), {})
        self.mode_line = None  # where a mode was set last
        self.where = "an unknown line"  # of the traced function
        self.refused = None  # the error of the first refusal: code may swallow it
        self.again = False  # a Restart was raised
        self.recorded = set()  # syntax trees that a script records (script_recursion, script_lists)
        self.net = _lathe._Net(CAPTURE)
        self._thread, self._live, self._busy = get_ident(), False, 0
        self._entered, self._prepared, self._swapped = set(), set(), []
        self._originals = {}  # by id of a function: its own code
        self._waiting = {}  # by id of one that is observed once it is called: (itself, its class)
        self._codes = []  # kept alive, since the net knows them by address
        self._cells = {}  # of a function: by name of a free variable, its row

    # ── around a capture ────────────────────────────────────────────────────────────────────────

    def begin(self):
        self._live = True
        self._outer = observers.get(self._thread)
        observers[self._thread] = self
        self._profile = sys.getprofile()
        self._collects = gc.isenabled()
        gc.disable()  # a collection calls finalizers and callbacks, which are no part of the code
        self.net.begin()

    def end(self):
        """Puts all code back. Nothing is observed from now on."""
        self.net.end()
        if self._collects:
            gc.enable()
        if self._profile is not None:
            sys.setprofile(self._profile)
        self._live = False
        observers.pop(self._thread, None)
        if self._outer is not None:
            observers[self._thread] = self._outer
        for function, code in reversed(self._swapped):
            function.__code__ = code
        # No collector looks into the net and into code: see let_go().
        self.refused, self.net.refusal = self.refused or self.net.refusal, None
        self._swapped, self._codes = [], []
        self.ages = None

    def let_go(self):
        """The error of the first refusal, which has frames of observed code: that has the observer
        among its constants, where no collector looks, so that neither would ever go."""
        refused, self.refused = self.refused, None
        return refused

    @staticmethod
    def active():
        """That of the capture under way on this thread."""
        return observers[get_ident()]

    def code_of(self, function):
        """A function's own code, also while it has another."""
        return self._originals.get(id(function), function.__code__)

    def cell_row(self, function, name):
        return self._cells.get(id(function), {}).get(name)

    def on(self):
        return self._live and not self._busy and self.is_own_thread()

    def is_own_thread(self):
        return get_ident() == self._thread

    def resting(self):
        """While it is entered, code runs as it is: the observer's own, or what may be trusted."""
        return _Rest(self)

    def finish(self):
        """No hook does anything from now on."""
        self._live = False

    def refuse(self, what, next=None, got=None):
        """Raises a TraceError that names the user's line; code that swallows it does not help."""
        if self.refused is None:
            self.refused = _lathe.TraceError(
                f"trace: {what}\n  got:      {got or 'a read that no later call could repeat'}\n"
                f"  expected: code whose reads and writes can be seen and repeated\n"
                f"  at:       {self.line()}\n"
                f"  next:     {next or 'do it outside of the traced function'}"
            )
        raise self.refused

    def line(self):
        """Where the user's code is: "file:line"."""
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if code.co_name == "<script>" or self.net.has(code):
                file = code.co_filename
                if not file.startswith(PACKAGE) and not is_standard(file):
                    return f"{file}:{frame.f_lineno}"
            frame = frame.f_back
        return self.where

    def check_net(self):
        """Refuses what the net has seen."""
        self.note_unseen()
        if self.refused is not None:
            raise self.refused

    def note_unseen(self):
        code = self.net.unseen
        if code is not None and self.refused is None:
            self.refused = _lathe.TraceError(
                f"trace: Python code runs whose reads cannot be seen: there is no source that says "
                f"what it does\n  got:      {code.co_name}()\n"
                f"  expected: functions whose source can be read\n"
                f"  at:       {code.co_filename}:{code.co_firstlineno}\n"
                "  next:     keep it in a file, or call it outside of the traced function"
            )
        self.refused = self.refused or self.net.refusal  # raised by an op: code may swallow it

    # ── modules ─────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def has_lazily(module, name):
        """Does a module make what it has under a name when it is asked for it?"""
        space = dict_of(module)
        known = name in space or type(module).__dict__.get(name) is not None
        return not known and "__getattr__" in space

    def read_of_library(self, module, name):
        """What a module of the library has under a name."""
        self.constant(module)
        if self.has_lazily(module, name):
            with self.resting():  # it finds or imports what it will keep
                value = getattr(module, name)
            if name in dict_of(module):
                self.read_key(dict_of(module), name, owner=module)
            return value
        row = self.read_key(dict_of(module), name, owner=module)
        return self.given(row, getattr(module, name))


class _Rest:
    def __init__(self, observer):
        self._observer = observer

    def __enter__(self):
        self._observer._busy += 1
        self._observer.net.resting += 1

    def __exit__(self, *_):
        self._observer._busy -= 1
        self._observer.net.resting -= 1
