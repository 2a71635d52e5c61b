"""Tracebacks of what a capture raises: the user's lines, without the capture's own."""

from types import TracebackType

from .. import _lathe
from .._capturing import CAPTURE

_PACKAGE = __name__.rpartition(".")[0]
FLAG = "whole_tracebacks"
_STAND_IN = "<script>"  # what runs in the place of a statement of a script


def without_own_lines(problem):
    """The exception, whose traceback names no line of the capture from here on inwards: the line
    that the refusal is about comes last. Of what may be a defect of the capture, and with the flag
    whole_tracebacks, all lines stay."""
    if _lathe.get_flag(FLAG) == "1":
        return problem
    seen = set()
    each = problem
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        entries = list(_entries(each.__traceback__))
        refusal = isinstance(each, _lathe.Error) and not isinstance(each, _lathe.InternalError)
        if refusal or entries and not _is_own(entries[-1]):
            each.__traceback__ = _joined(_users(entries))
        before = each.__context__
        if before is not None and type(before).__module__.startswith(_PACKAGE):
            each.__suppress_context__ = True  # how the capture found out
        each = each.__cause__
    return problem


def _entries(where):
    while where is not None:
        yield where
        where = where.tb_next


def _is_own(entry):
    return entry.tb_frame.f_code.co_filename.startswith((CAPTURE, "?"))


def _users(entries):
    """Each part of a statement of a script is an entry: one is enough."""
    kept = [e for e in entries if not _is_own(e)]
    for entry, inner in zip(kept, [*kept[1:], None]):
        code = entry.tb_frame.f_code
        again = inner is not None and code.co_name == _STAND_IN and _line(entry) == _line(inner)
        if not again:
            yield entry


def _line(entry):
    return entry.tb_frame.f_code.co_filename, entry.tb_lineno


def _joined(entries):
    joined = None
    for e in reversed(list(entries)):
        joined = TracebackType(joined, e.tb_frame, e.tb_lasti, e.tb_lineno)
    return joined
