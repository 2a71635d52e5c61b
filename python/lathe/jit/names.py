"""What the code of a function names: read from its instructions."""

import sys
import types
from opcode import EXTENDED_ARG, opmap, opname

_CALLS = ("PRECALL", "CALL", "CALL_FUNCTION")  # 3.11, later, earlier

# Instructions that name what they act on; in some the lowest bit of the argument means another
# thing.
_BY_NAME = {
    opmap[word]: (word, shift)
    for word, shift in {
        "LOAD_GLOBAL": sys.version_info >= (3, 11), "LOAD_NAME": 0, "STORE_GLOBAL": 0,
        "DELETE_GLOBAL": 0, "IMPORT_NAME": 0, "LOAD_METHOD": 0,
        "LOAD_ATTR": sys.version_info >= (3, 12),
    }.items()
    if word in opmap
}  # fmt: skip


def named_by(code):
    """(offset, instruction, name, line) of each that acts on a global or an attribute, as dis has
    them, which takes longer to import than this whole package."""
    starts = {start: line for start, _, line in code.co_lines() if line is not None}
    text, names, line, more = code.co_code, code.co_names, code.co_firstlineno, 0
    for at in range(0, len(text), 2):
        line = starts.get(at, line)
        argument = text[at + 1] | more
        more = argument << 8 if text[at] == EXTENDED_ARG else 0
        if text[at] in _BY_NAME:
            word, shift = _BY_NAME[text[at]]
            yield at, word, names[argument >> shift], line


def _asks_about_self(code, at):
    """Is `type`, which is loaded at `at`, called with the object whose method this is?"""
    if code.co_varnames[:1] not in (("self",), ("cls",)):
        return False
    text, after = code.co_code, []
    for i in range(at + 2, len(text), 2):
        if opname[text[i]] != "CACHE":
            after += opname[text[i]], text[i + 1]
        if len(after) == 4:
            load, variable, call, count = after
            return load.startswith("LOAD_FAST") and call in _CALLS and (variable, count) == (0, 1)
    return False


class Reads:
    """The names a code object (and those nested in it) reads, worked out once.

    asks: the line where it names `type`, but for `type(self)`; texts: constants, as getattr() takes
    them.
    """

    __slots__ = ("code", "globals", "attributes", "lines", "stores", "asks", "texts")
    _known = {}

    def __init__(self, code):
        self.code = code
        self.globals, self.attributes, self.lines, self.stores = [], set(), {}, None
        self.asks, self.texts = None, {c for c in code.co_consts if type(c) is str}
        for at, word, name, line in named_by(code):
            if word in ("LOAD_ATTR", "LOAD_METHOD"):
                self.attributes.add(name)
            elif word in ("DELETE_GLOBAL", "IMPORT_NAME"):
                self.stores = self.stores or (word, name, line)
            else:  # STORE_GLOBAL too: it is allowed if all is as before in the end
                if name == "type" and not _asks_about_self(code, at):
                    self.asks = self.asks or line
                if name not in self.lines:
                    self.globals.append(name)
                    self.lines[name] = line
        for c in code.co_consts:
            if isinstance(c, types.CodeType):
                inner = Reads.of(c)
                for name in inner.globals:
                    if name not in self.lines:
                        self.globals.append(name)
                        self.lines[name] = inner.lines[name]
                self.attributes |= inner.attributes
                self.texts |= inner.texts
                self.asks = self.asks or inner.asks
                self.stores = self.stores or inner.stores

    @classmethod
    def of(cls, code):
        found = cls._known.get(code)
        if found is None:
            found = cls._known[code] = cls(code)
        return found
