"""Arguments of PyTorch's that are taken at their default only."""

from . import _lathe
from ._errors import our_class, typed, wrapping


def default_only(**instead):
    """Decorates a function that takes some arguments at their default only: others are refused by
    name, with what the user can do instead."""

    def decorate(function):
        code = function.__code__
        places = code.co_varnames[: code.co_argcount]
        defaults = dict(zip(reversed(places), reversed(function.__defaults__ or ())))
        defaults |= function.__kwdefaults__ or {}

        def checked(*args, **kwargs):
            for name, value in (*zip(places, args), *kwargs.items()):
                if name in instead and not _is_default(value, defaults[name]):
                    constructor = function.__name__ == "__init__"
                    raise _lathe.UnsupportedError(
                        f"{name}={value!r} is not supported yet",
                        op=our_class(args[0]).__name__ if constructor else function.__name__,
                        got=f"{name}={value!r}",
                        expected=f"{name}={defaults[name]!r}",
                        next=instead[name] or "leave the argument out",
                    )
            return function(*args, **kwargs)

        return typed(wrapping(checked, function))

    return decorate


def _is_default(value, default):
    """None and False both ask for nothing."""
    unset = (None, False)
    if any(value is u for u in unset) and any(default is u for u in unset):
        return True
    return value is default or (isinstance(value, (int, float, str)) and value == default)
