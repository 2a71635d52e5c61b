"""Functions without source: what is typed at a prompt, or made by exec().

Nothing can be observed in them, so one is captured only where all that it can read is known from
its instructions: arguments that are tensors and plain values, plain globals, the library and its
ops, and builtins that are functions of their arguments.
"""

import builtins
import types

from ... import _lathe
from ..._lathe import Tensor
from .calls import PURE, note_re
from .names import instructions
from .rows import is_plain

_OPS = (_lathe.Op, type(Tensor.relu))
_STATEFUL = frozenset({"grad", "data", "is_leaf", "grad_fn", "_version", "retains_grad"})
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_EFFECTS = (
    "STORE_GLOBAL",
    "STORE_ATTR",
    "STORE_SUBSCR",
    "STORE_DEREF",
    "STORE_NAME",
    "IMPORT_NAME",
)


def _is_simple(value):
    waiting, seen = [value], {}
    while waiting:
        value = waiting.pop()
        if type(value) in (list, tuple, dict):
            if id(value) not in seen:
                seen[id(value)] = value
                waiting.extend(value.values() if type(value) is dict else value)
        elif type(value) is not Tensor and not is_plain(value):
            return False
    return True


def _is_library(value):
    return isinstance(value, types.ModuleType) and value.__name__.split(".")[0] == "lathe"


def reads(function, args, kwargs):
    """[(module of the library, name)] of what a function can read beside its globals; None: more
    than can be known."""
    found, modules, names = [], [], set()
    if function.__closure__ or not _is_simple(args) or not _is_simple(kwargs):
        return None
    waiting = [function.__code__]
    for code in waiting:
        waiting += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for name, arg in instructions(code):
            if name.startswith("DELETE") or name in _EFFECTS:
                return None
            if name in _ATTRIBUTES:
                names.add(arg)
            elif name in _LOADS:
                value = function.__globals__.get(arg, vars(builtins).get(arg))
                if _is_library(value):
                    modules.append(value)
                elif not (is_plain(value) or isinstance(value, _OPS) or _is_pure(value)):
                    return None
    if names & _STATEFUL:
        return None
    for module in modules:
        for name in names:
            value = getattr(module, name, None)
            if value is None:
                continue
            if not isinstance(value, (*_OPS, _lathe.dtype)) and not is_plain(value):
                return None
            found.append((module, name))
    return found


def _is_pure(value):
    note_re()
    try:
        return value in PURE
    except TypeError:
        return False
