"""Functions that need no hooks.

Hooks see what code reads and does beside computing with tensors. Where a function's instructions
say all of that by themselves, since they call the library's ops alone, on tensors and plain numbers
and in loops of a known length, it is captured as it is: its source is not asked for, and most of
this folder is not imported. Whatever else comes up there, an error among it, has the capture begin
anew, with hooks.
"""

import builtins
import types

from ... import _lathe
from ..._lathe import Tensor
from .core import Core
from .names import instructions

_PLAIN = (int, float, complex, bool, str, type(None))
_VALUES = (*_PLAIN, _lathe.dtype, _lathe.device)  # of modules, beside ops
_METHOD = type(Tensor.relu)
_RANGE = range  # whatever that name means later
_STEPS = frozenset({
    "RESUME", "NOP", "PRECALL", "CALL", "CALL_KW", "KW_NAMES", "PUSH_NULL", "SWAP", "COPY",
    "LOAD_CONST", "LOAD_FAST", "STORE_FAST", "LOAD_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST",
    "STORE_FAST_LOAD_FAST", "LOAD_FAST_CHECK", "UNARY_NEGATIVE", "BINARY_OP", "COMPARE_OP",
    "BUILD_TUPLE", "BUILD_LIST", "UNPACK_SEQUENCE", "BINARY_SUBSCR", "BUILD_SLICE", "GET_ITER",
    "FOR_ITER", "JUMP_BACKWARD", "END_FOR", "POP_TOP", "RETURN_VALUE", "RETURN_CONST",
})  # fmt: skip
_MODULO = (6, 19)  # arguments of BINARY_OP: % writes texts as well
_SPECIAL = 0x04 | 0x08 | 0x20 | 0x80 | 0x200  # *args, **kwargs, generators, coroutines: of co_flags


class _NeedsHooks(Exception):
    """The instructions do not say all."""


class Reads:
    """What a function reads beside its arguments, globals and defaults. modules: (module, name);
    methods: names of methods of tensors."""

    def __init__(self, function):
        self._names = function.__globals__
        self.modules, self.methods = [], []
        self._steps = instructions(function.__code__)
        self._step = next(self._steps, None)
        while self._step is not None:
            name, arg = self._step
            self._next()
            if name == "LOAD_GLOBAL":
                self._global(arg)
            elif name in ("LOAD_METHOD", "LOAD_ATTR"):
                self._method(arg)
            elif name not in _STEPS or name == "BINARY_OP" and arg in _MODULO:
                raise _NeedsHooks

    def _next(self):
        self._step = next(self._steps, None)

    def _global(self, name):
        value = self._names.get(name, getattr(builtins, name, None))
        if value is _RANGE:
            while self._step[0] == "LOAD_CONST":
                self._next()
            if self._step[0] not in ("PRECALL", "CALL"):
                raise _NeedsHooks
        while _is_library(value):
            step, attribute = self._step
            if step not in ("LOAD_ATTR", "LOAD_METHOD"):
                raise _NeedsHooks
            self.modules.append((value, attribute))
            value = getattr(value, attribute, None)
            self._next()
        if value is not _RANGE and type(value) not in (*_VALUES, _lathe.Op, _METHOD):
            raise _NeedsHooks

    def _method(self, name):
        """Of a tensor, or an error: no other value that such a function has knows that name."""
        if type(Tensor.__dict__.get(name)) is not _METHOD:
            raise _NeedsHooks
        if any(hasattr(kind, name) for kind in (*_VALUES, tuple, list, range, slice)):
            raise _NeedsHooks
        self.methods.append(name)


def _is_library(value):
    return type(value) is types.ModuleType and value.__name__.partition(".")[0] == "lathe"


def reads(function, args, kwargs):
    """What a function reads; None where it needs hooks."""
    if type(function) is not types.FunctionType:
        return None
    code = function.__code__
    if code.co_flags & _SPECIAL or code.co_freevars or code.co_cellvars or function.__kwdefaults__:
        return None
    for value in (*args, *kwargs.values(), *(function.__defaults__ or ())):
        if type(value) not in _PLAIN and (type(value) is not Tensor or _lathe._hooks(value)):
            return None
    try:
        return Reads(function)
    except _NeedsHooks:
        return None


class Unhooked(Core):
    """The capture of a function that reads no more than `found`."""

    def __init__(self, function, found):
        super().__init__()
        self._function, self._found = function, found

    def begin(self):
        """All is read before the function runs: the net makes whatever runs slow."""
        self._live = True
        self._note(self._function.__code__)
        self.enter(self._function)
        for module, name in self._found.modules:
            self.read_of_library(module, name)
        self.prepare(Tensor)
        for name in self._found.methods:
            self.look_up(Tensor, Tensor.__mro__, name)
        super().begin()

    def call(self, function):
        return function

    def swap_later(self, function, cls):
        """Nothing here calls such a function."""

    def note_numpy(self):
        """No NumPy is met."""

    def changes(self):
        """None: there is no store."""
        return []

    def guard_what_stays(self):
        """There is nothing that was written."""

    def undo(self):
        """There is nothing to undo."""

    def refuse_shared_gradients(self, changed):
        if changed:
            self.refuse("a gradient changes")
