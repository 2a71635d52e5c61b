"""Lathe's errors raised from Python: the same text, parts and user's line as those from C++."""

from . import _lathe


def _init(self, problem="", *more, op=None, got="", expected="", next=""):
    """Error(text), or Error(problem, op=...) with the other parts to be laid out below it."""
    if op is None:
        self.args = (problem, *more)
        return
    parts = {"op": op, "problem": problem, "got": got, "expected": expected, "next": next}
    parts = {name: str(part) for name, part in parts.items()}
    text, site = _lathe._error_text(**parts)
    self.args = (text,)
    self.__dict__.update(parts, site=site)


_lathe.Error.__init__ = _init
