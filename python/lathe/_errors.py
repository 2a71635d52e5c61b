"""Lathe's errors raised from Python: the same text, parts and user's line as those from C++."""

import os

from . import _lathe


def _init(self, problem="", *more, op=None, got="", expected="", next="", excerpt=""):
    """Error(text), or Error(problem, op=...) with the other parts to be laid out below it.
    excerpt: of the source, which is shown below the user's line."""
    if op is None:
        self.args = (problem, *more)
        return
    parts = {"op": op, "problem": problem, "got": got, "expected": expected, "next": next}
    # What it got may be a path or a name that is no text to UTF-8.
    parts = {n: str(p).encode("utf-8", "backslashreplace").decode() for n, p in parts.items()}
    text, site = _lathe._error_text(**parts)
    if excerpt and (at := f"\n  at:       {site}") in text:
        text = text.replace(at, at + "".join(f"\n            {x}" for x in excerpt.split("\n")), 1)
    self.args = (text,)
    self.__dict__.update(parts, site=site)


_lathe.Error.__init__ = _init


class _NotFound(_lathe.FileError, FileNotFoundError):
    """A FileError for what is not there."""


_NotFound.__name__ = _NotFound.__qualname__ = "FileNotFoundError"
_NotFound.__module__ = _lathe.Error.__module__


class NoSuchKey(_lathe.IndexError, KeyError):
    """An IndexError for a key that is not there."""

    __str__ = Exception.__str__  # a KeyError's is the text in quotes


NoSuchKey.__name__ = NoSuchKey.__qualname__ = "IndexError"
NoSuchKey.__module__ = _lathe.Error.__module__


class NameTaken(_lathe.ValueError, KeyError):
    """A ValueError for a name that cannot be given, since it has another meaning or is none."""

    __str__ = Exception.__str__


NameTaken.__name__ = NameTaken.__qualname__ = "ValueError"
NameTaken.__module__ = _lathe.Error.__module__

# What Python says of arguments that a function cannot use, and what Lathe says.
_OWN = {
    KeyError: (NoSuchKey, "something that is needed is missing: "),
    IndexError: (_lathe.IndexError, "there are fewer axes or items than are asked for: "),
    ZeroDivisionError: (_lathe.ValueError, "an argument is 0 that must not be: "),
    RecursionError: (_lathe.ValueError, "an argument is nested too deep, or contains itself: "),
    OverflowError: (_lathe.OverflowError, "a number is too large: "),
    ValueError: (_lathe.ValueError, "an argument is out of its domain: "),
    AttributeError: (_lathe.TypeError, "an argument is of the wrong type: "),
    TypeError: (_lathe.TypeError, "an argument is of the wrong type: "),
}


def typed(function):
    """The function, with errors of Lathe's own where Python finds that the arguments do not do.

    For functions written in Python whose arguments need no check but that the code below runs. An
    error that comes from the user's code (an __index__, a callback) passes as it is.
    """

    def checked(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except tuple(_OWN) as error:
            if isinstance(error, _lathe.Error) or not _is_ours(error.__traceback__):
                raise
            raised = _of_arguments(function, error, args, kwargs)
        raise raised

    return wrapping(checked, function)


def wrapping(wrapper, function):
    """The wrapper, under the function's name: as by functools.wraps, whose import would be a third
    of Lathe's."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(wrapper, name, getattr(function, name))
    wrapper.__dict__.update(function.__dict__, __wrapped__=function)
    return wrapper


_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep


def _is_ours(traceback):
    """Was it raised by the package's own code, or by what Python's library does for it?"""
    ours = True
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file.startswith(_HERE):
            ours = True
        elif not file.startswith((_PYTHON, "<frozen")) or "site-packages" in file:
            ours = False
        traceback = traceback.tb_next
    return ours


def _of_arguments(function, error, args, kwargs):
    import inspect

    kind, meaning = next(_OWN[c] for c in type(error).__mro__ if c in _OWN)
    signature, name, text = inspect.signature(function), function.__qualname__, str(error)
    if isinstance(error, RecursionError):
        text = (
            "maximum recursion depth exceeded"  # where it ended depends on the caller's own depth
        )
    if text.startswith(f"{name}() "):  # the call has not the function's form
        meaning, text = "", _misfit(signature, args, kwargs) or text
    if function.__name__ in ("__init__", "__new__") and args:
        made, args = our_class(args[0]), args[1:]
        name, signature = made.__name__, inspect.signature(made)
    given = (*args, *kwargs.values())
    return kind(
        f"{meaning}{text}",
        op=name,
        got=", ".join(type(value).__name__ for value in given) or "nothing",
        expected=f"{name.rpartition('.')[2]}{signature}",
        next="give it arguments of the kinds and sizes that its documentation names",
    )


def our_class(made):
    """The class of this package that the user knows an object, or its class, by."""
    kind = made if isinstance(made, type) else type(made)
    return next(c for c in kind.__mro__ if c.__module__.startswith("lathe"))


def _misfit(signature, args, kwargs):
    """Why a signature cannot take these arguments, without the function's own name."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)


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


def near_names(name, names):
    import difflib

    return difflib.get_close_matches(name, names, 3)


_LOOK = "look through dir(lathe)"


_ELSEWHERE = {
    "compile": "lathe.trace(f) makes programs; lathe.compat.torch has PyTorch's compile",
}


class _NoSuchName(_lathe.NameError):
    """The error of lathe.<name>. hasattr() makes one only to drop it, so the names that look like
    it are searched for when somebody reads it."""

    def __init__(self, name, names):
        super().__init__(
            "there is nothing of this name",
            op="lathe", got=name, expected="a name that dir(lathe) lists", next=_LOOK,
        )  # fmt: skip
        self._names = names

    def __str__(self):
        names = self.__dict__.pop("_names", None)
        if names is None:
            return self.args[0]
        near = near_names(self.got, names())
        if advice := _ELSEWHERE.get(self.got) or near and f"did you mean {', '.join(near)}?":
            self.__dict__["next"] = advice
            self.args = (self.args[0].replace(_LOOK, self.next),)
        return self.args[0]

    @property
    def next(self):
        str(self)
        return self.__dict__["next"]

    def __reduce__(self):
        return _lathe.NameError, (str(self),), self.__dict__


_NoSuchName.__name__ = _NoSuchName.__qualname__ = "NameError"
_NoSuchName.__module__ = _lathe.Error.__module__


def no_such_name(name, names):
    """The error for lathe.<name>; names(): all there are."""
    if name.startswith("__"):  # Python's own questions
        return AttributeError(f"module 'lathe' has no attribute '{name}'")
    return _NoSuchName(name, names)
