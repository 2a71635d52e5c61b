"""The instructions of a code object, without `dis`: a first trace waits for its imports."""

import sys
from opcode import opname

_EXTENDED = opname.index("EXTENDED_ARG")
_NEW = sys.version_info >= (3, 11)  # a global's number is shifted: its lowest bit says how to push
_NEWER = sys.version_info >= (3, 12)  # and an attribute's
_NAMED = {"LOAD_GLOBAL": _NEW, "LOAD_ATTR": _NEWER, "LOAD_METHOD": False, "LOAD_NAME": False}


def instructions(code):
    """(name, argument) of each; of those that load by a name, that name."""
    raw, names, high = code.co_code, code.co_names, 0
    for at in range(0, len(raw), 2):
        op, arg = raw[at], raw[at + 1] | high
        high = arg << 8 if op == _EXTENDED else 0
        name = opname[op]
        if name in _NAMED:
            arg = names[arg >> _NAMED[name]]
        if name not in ("CACHE", "EXTENDED_ARG"):
            yield name, arg
