"""What the trap programs import: run.py sets `capture` before it runs one."""


def capture(function):
    """The function itself, lathe.trace or lathe.script of it."""
    return function


def attempt(function, *args, **kwargs):
    """The result, or the name of the exception; refusals of a capture pass."""
    import lathe as lt

    try:
        return function(*args, **kwargs)
    except (lt.TraceError, lt.ScriptError):
        raise
    except BaseException as e:
        return type(e).__name__
