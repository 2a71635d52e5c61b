"""What all of the package knows of captures: the one under way on each thread, for what C calls in
the middle of it, what a capture is made of, for who looks for modules, and where code is that is
not the user's."""

import os
from _thread import get_ident
from types import FunctionType

PACKAGE = __file__[: -len("_capturing.py")]
CAPTURE = PACKAGE + "jit" + os.sep
STANDARD = os.path.dirname(os.__file__) + os.sep

observers = {}  # by thread


def observed(function):
    """A function of the user's that is about to be called: in a capture it runs observed."""
    observer = observers.get(get_ident())
    return function if observer is None else observer.call(function)


def unobserved(function):
    """A copy of the function that runs in a capture as it is: nothing that it reads is a guard. Its
    code counts as part of what captures are made of; the function itself is observed as any."""
    code = function.__code__
    code = code.replace(co_filename=CAPTURE + os.path.basename(code.co_filename))
    parts = function.__name__, function.__defaults__, function.__closure__
    made = FunctionType(code, function.__globals__, *parts)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


class Captured:
    """What lathe.trace and lathe.script give: `_function` is what they were given."""


def is_standard(file):
    """A file of Python's own."""
    return file.startswith((STANDARD, "<frozen")) and "site-packages" not in file
