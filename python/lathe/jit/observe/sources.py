"""The observed code of functions, by the code objects that they have.

`observed(code)` gives the code object of a function with hooks in it, or None where there is no
source that says exactly this code. The source of a function is found by compiling the top-level
statement around it: only if that gives the very same instructions is the rewritten statement
(rewrite.py) taken. `bind` then puts an observer and the function into it.
"""

import types

OBSERVER, FUNCTION, OUTER = "\0observer", "\0function", "\0outer"  # constants that bind replaces

_observed = {}  # by id of a code object: (itself, its observed form or None)
_by_key = {}  # by what a code object says
_by_place = {}  # by where a code object with hooks stands: what it was made of, and itself


def inside(code):
    """All code objects in a code object, in a fixed order."""
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield c
            yield from inside(c)


def _key(code):
    """All that a code object says. Code objects themselves differ once one of them is warm."""
    consts = tuple(
        _key(c) if isinstance(c, types.CodeType)
        else (type(c), sorted(map(repr, c)) and str(sorted(map(repr, c))))
        if type(c) is frozenset
        else (type(c), repr(c))
        for c in code.co_consts
    )  # fmt: skip
    return (
        code.co_name, code.co_firstlineno, code.co_code, code.co_names, code.co_varnames,
        code.co_freevars, code.co_flags, code.co_linetable, consts,
    )  # fmt: skip


def _place(code):
    return code.co_filename, code.co_firstlineno, code.co_name, code.co_code, code.co_linetable


def plain(code):
    """The code that a code object with hooks was made of; None: that is not known, or not which of
    several."""
    found = [own for own, hooked in _by_place.get(_place(code), ()) if _alike(code, hooked)]
    return found[0] if len({_key(own) for own in found}) == 1 else None


def _alike(code, hooked):
    return len(code.co_consts) == len(hooked.co_consts) and all(
        a == b and type(a) is type(b)
        for a, b in zip(code.co_consts, hooked.co_consts)
        if type(b) in (int, float, complex, bytes, bool) or type(b) is str and b[:1] != "\0"
    )


def observed(code):
    """The code with hooks; None where no source says exactly this code."""
    known = _observed.get(id(code))
    if known is None:
        key = _key(code)
        if key not in _by_key:
            from .rewrite import pairs_around  # not above: a first trace waits for its imports

            for own, hooked in pairs_around(code):
                _by_key.setdefault(_key(own), hooked)
                _by_place.setdefault(_place(hooked), []).append((own, hooked))
        known = _observed[id(code)] = code, _by_key.get(key)
    return known[1]


def bind(hooked, observer, function, note, outer=True):
    """The code for one observer and function; note(code): called with it and with all inside."""

    def value(c):
        if type(c) is str and c in (OBSERVER, FUNCTION, OUTER):
            return observer if c == OBSERVER else function if c == OUTER or outer else None
        return bind(c, observer, function, note, False) if isinstance(c, types.CodeType) else c

    made = hooked.replace(co_consts=tuple(map(value, hooked.co_consts)))
    note(made)
    return made
