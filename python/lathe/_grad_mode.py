"""Switching the recording of operations on and off, as a block or as a decorator."""

from . import _lathe

_set = _lathe._set_grad_enabled
_GENERATOR = 0x20  # of the flags of code objects: CO_GENERATOR


class Block:
    """What `with block:` does, as a decorator; a block may be entered again inside itself."""

    def __call__(self, function):
        from functools import wraps

        @wraps(function)
        def wrapper(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return wrapper


class _Mode:
    """`with mode():` and `@mode()`; one object may be entered again inside itself.

    set(on) switches, and gives what was before.
    """

    def __init__(self, on, set=_set):
        self._on, self._set = on, set
        self._before = []

    def __enter__(self):
        self._before.append(self._set(self._on))
        return self

    def __exit__(self, *_):
        self._set(self._before.pop())

    def __call__(self, function):
        from functools import partial, wraps

        run = partial(_run, self._set, self._on)
        if _is_generator_function(function):
            return _at_each_step(function, run)

        @wraps(function)
        def wrapper(*args, **kwargs):
            return run(function, *args, **kwargs)

        return wrapper


def _is_generator_function(function):
    """As `inspect` says, which takes longer to import than all of lathe.nn."""
    from _functools import partial

    while hasattr(function, "__func__") or isinstance(function, partial):
        function = function.func if isinstance(function, partial) else function.__func__
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & _GENERATOR)


def _run(set, on, function, *args, **kwargs):
    before = set(on)
    try:
        return function(*args, **kwargs)
    finally:
        set(before)


def _at_each_step(function, run):
    """The generator function with the mode set whenever it runs, and its caller's in between."""
    from functools import partial, wraps

    @wraps(function)
    def wrapper(*args, **kwargs):
        steps = function(*args, **kwargs)
        step = partial(next, steps)
        while True:
            try:
                value = run(step)
            except StopIteration as end:
                return end.value
            try:
                step = partial(steps.send, (yield value))
            except GeneratorExit:
                run(steps.close)
                raise
            except BaseException as problem:
                step = partial(steps.throw, problem)

    return wrapper


class _Plain(_Mode):
    """A mode that takes no arguments: parentheses may be left out where it decorates."""

    def __new__(cls, function=None):
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode.__init__()
        return mode(function)


class no_grad(_Plain):
    """Nothing is recorded inside: results do not require grad, and leaves may be written to."""

    def __init__(self, function=None):
        super().__init__(False)


class enable_grad(_Plain):
    """Records operations inside, also within no_grad."""

    def __init__(self, function=None):
        super().__init__(True)


class set_grad_enabled(_Mode):
    """Switches at once; as a block it switches back at the end."""

    def __init__(self, mode):
        super().__init__(bool(mode))
        self._outer = _set(self._on)

    def __enter__(self):
        self._before.append(self._outer)
        return self

    def __call__(self, function):
        _set(self._outer)
        return super().__call__(function)


class inference_mode(_Mode):
    """no_grad under another name; inference_mode(False) records."""

    def __new__(cls, mode=True):
        made = super().__new__(cls)
        if isinstance(mode, bool):
            return made
        made.__init__()
        return made(mode)  # @inference_mode without parentheses

    def __init__(self, mode=True):
        super().__init__(not mode)


def is_inference_mode_enabled() -> bool:
    """Whether nothing is recorded, on this thread."""
    return not _lathe.is_grad_enabled()


def exported():
    return {"no_grad": no_grad, "enable_grad": enable_grad, "inference_mode": inference_mode,
            "is_inference_mode_enabled": is_inference_mode_enabled,
            "set_grad_enabled": set_grad_enabled}  # fmt: skip
