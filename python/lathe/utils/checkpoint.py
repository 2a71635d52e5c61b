"""checkpoint: a part of a network that does not keep what its derivatives read, and computes it
again in backward().

It stands on the packer of saved tensors (autograd.graph.saved_tensors_hooks): what the part saves
is replaced by its number, and the first that is asked for runs the part once more, which saves the
same tensors in the same order.
"""

from .. import _lathe
from .._errors import typed
from .._grad_mode import Block

__all__ = [
    "CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn",
    "set_checkpoint_early_stop",
]  # fmt: skip

_early_stop = [None]  # what set_checkpoint_early_stop says; the innermost last


class CheckpointError(_lathe.AutogradError):
    """A part that computes something else when it runs again."""


CheckpointError.__module__ = _lathe.Error.__module__


class set_checkpoint_early_stop(Block):
    """A block in which this says, in place of checkpoint's early_stop, whether a part that runs
    again ends where the last tensor that a derivative reads is there."""

    def __init__(self, enable):
        self._enable = enable

    def __enter__(self):
        _early_stop.append(self._enable)

    def __exit__(self, *_):
        _early_stop.pop()


def noop_context_fn():
    """Two blocks that do nothing: for the first run of a part, and for the second."""
    from contextlib import nullcontext

    return nullcontext(), nullcontext()


class _Enough(Exception):
    """All tensors that the part saved are there again."""


class _Part:
    """One call of a part: what it was called with, and, in backward(), what it saves."""

    def __init__(self, function, args, named, keep_stream, context_fn, early_stop):
        self._function, self._args, self._named = function, args, named
        self._first, self._second = context_fn()
        self._stops = early_stop if _early_stop[-1] is None else _early_stop[-1]
        self._stream = _lathe._random_state() if keep_stream else None
        self._count, self._values = 0, {}

    def run(self):
        with self._first:
            return self._packed(self._number)

    def _packed(self, pack):
        _lathe._push_packer(pack, self._value)
        try:
            return self._function(*self._args, **self._named)
        finally:
            _lathe._pop_packer()

    def _number(self, tensor):
        self._count += 1
        return self._count - 1

    def _value(self, number):
        if number not in self._values:
            self._run_again()
        return self._values.pop(number)

    def _run_again(self):
        found = []

        def keep(tensor):
            found.append(tensor)
            if self._stops and len(found) == self._count:
                raise _Enough

        now, before = _lathe._random_state(), _lathe._set_grad_enabled(True)
        try:
            if self._stream is not None:
                _lathe._set_random_state(*self._stream)
            with self._second:
                self._packed(keep)
        except _Enough:
            pass
        finally:
            _lathe._set_grad_enabled(before)
            if self._stream is not None:
                _lathe._set_random_state(*now)
        if len(found) != self._count:
            raise CheckpointError(
                "the part computes something else when it runs again", op="checkpoint",
                got=f"{len(found)} tensors saved", expected=f"{self._count}, as at first",
                next="let it depend on its arguments and parameters alone",
            )  # fmt: skip
        self._values = dict(enumerate(found))


@typed
def checkpoint(
    function, *args, use_reentrant=None, context_fn=noop_context_fn,
    determinism_check="default", debug=False, early_stop=True, **kwargs,
):  # fmt: skip
    """function(*args, **kwargs), whose intermediate results are not kept but computed again in
    backward(), with the same random numbers unless preserve_rng_state=False is given.

    context_fn gives two blocks, one around the first run, one around the second. early_stop: the
    second run ends where the last tensor that is read is there. CheckpointError, in backward(), if
    it saves other tensors than the first. use_reentrant, determinism_check and debug change
    nothing. In a trace it is a plain call.
    """
    keep = kwargs.pop("preserve_rng_state", True)
    if not _lathe.is_grad_enabled() or _lathe._tracing():
        return function(*args, **kwargs)
    return _Part(function, args, kwargs, keep, context_fn, early_stop).run()


@typed
def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """A sequence of modules in so many segments, each but the last a checkpoint."""
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size, end = len(functions) // segments, 0

    def run(start, end):
        def segment(x):
            for function in functions[start:end]:
                x = function(x)
            return x

        return segment

    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(run(start, end), input, **kwargs)
    return run(end, len(functions))(input)
