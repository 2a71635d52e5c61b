"""What all of the package knows of captures: the one under way on each thread, for what C calls in
the middle of it, and what a capture is made of, for who looks for modules."""

from _thread import get_ident

observers = {}  # by thread


def observed(function):
    """A function of the user's that is about to be called: in a capture it runs observed."""
    observer = observers.get(get_ident())
    return function if observer is None else observer.call(function)


class Captured:
    """What lathe.trace and lathe.script give: `_function` is what they were given."""
