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


class _NotFound(_lathe.FileError, FileNotFoundError):
    """A FileError for what is not there."""


_NotFound.__name__ = _NotFound.__qualname__ = "FileNotFoundError"
_NotFound.__module__ = _lathe.Error.__module__


class system_errors:
    """Makes the system's refusals (no such file, disk full) Lathe's, with the user's line."""

    def __init__(self, op, path, doing, instead):
        self._op, self._path, self._doing, self._instead = op, path, doing, instead

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if not isinstance(error, OSError) or isinstance(error, _lathe.Error):
            return
        kind = _NotFound if isinstance(error, FileNotFoundError) else _lathe.FileError
        raised = kind(
            f"the file cannot be {self._doing}: {error.strerror or error}",
            op=self._op,
            got=str(self._path),
            expected="a path that may be " + self._doing,
            next=self._instead,
        )
        raised.errno = error.errno  # with a filename, str() would be the system's text again
        raise raised from None


def no_such_name(name, names):
    """The error for lathe.<name>, with the names that look like it."""
    if name.startswith("__"):  # Python's own questions
        return AttributeError(f"module 'lathe' has no attribute '{name}'")
    import difflib

    near = difflib.get_close_matches(name, names, 3)
    return _lathe.NameError(
        "there is nothing of this name",
        op="lathe",
        got=name,
        expected="a name that dir(lathe) lists",
        next=f"did you mean {', '.join(near)}?" if near else "look through dir(lathe)",
    )
