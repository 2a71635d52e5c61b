"""checkpoint: a part of a network that does not keep what its derivatives read, and computes it
again in backward().

It stands on the packer of saved tensors (autograd.graph.saved_tensors_hooks): what the part saves
is replaced by its number, and the first that is asked for runs the part once more, which saves the
same tensors in the same order. Composites run there as they did at first, as programs or op by op,
since the two save different tensors.
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

    def __init__(self, function, args, named, keep_stream, context_fn, early_stop, check):
        self._function, self._args, self._named = function, args, named
        self._first, self._second = context_fn()
        self._stops = early_stop if _early_stop[-1] is None else _early_stop[-1]
        self._stream = _lathe._random_state() if keep_stream else None
        self._autocast = _lathe._autocast()  # backward() may be called in another mode
        self._check, self._saved, self._values = check, [], {}
        self._choices = _lathe._CompositeChoices()

    def run(self):
        with self._first:
            return self._packed(self._number, False)

    def _packed(self, pack, again):
        _lathe._push_packer(pack, self._value)
        _lathe._push_choices(self._choices, again)
        try:
            return self._function(*self._args, **self._named)
        finally:
            _lathe._pop_choices()
            _lathe._pop_packer()

    def _number(self, tensor):
        self._saved.append((tensor.shape, tensor.dtype))
        return len(self._saved) - 1

    def _value(self, number):
        if number not in self._values:
            self._run_again()
        return self._values.pop(number)

    def _run_again(self):
        found = []

        def keep(tensor):
            found.append(tensor)
            if self._stops and len(found) == len(self._saved):
                raise _Enough

        now, before = _lathe._random_state(), _lathe._set_grad_enabled(True)
        cast = _lathe._set_autocast(self._autocast)
        try:
            if self._stream is not None:
                _lathe._set_random_state(*self._stream)
            with self._second:
                self._packed(keep, True)
        except _Enough:
            pass
        finally:
            _lathe._set_grad_enabled(before)
            _lathe._set_autocast(cast)
            if self._stream is not None:
                _lathe._set_random_state(*now)
        self._compare(found)
        self._values = dict(enumerate(found))

    def _compare(self, found):
        got, expected = f"{len(found)} tensors saved", f"{len(self._saved)}, as at first"
        if len(found) == len(self._saved):
            pairs = enumerate(zip(found, self._saved)) if self._check else ()
            other = [k for k, (t, saved) in pairs if (t.shape, t.dtype) != saved]
            if not other:
                return
            k = other[0]
            got = f"{tuple(found[k].shape)} of {found[k].dtype} as saved tensor {k}"
            expected = f"{tuple(self._saved[k][0])} of {self._saved[k][1]}, as at first"
        raise CheckpointError(
            "the part computes something else when it runs again", op="checkpoint",
            got=got, expected=expected, next="let it depend on its arguments and parameters alone",
        )  # fmt: skip


@typed
def checkpoint(
    function, *args, use_reentrant=None, context_fn=noop_context_fn,
    determinism_check="default", debug=False, early_stop=True, **kwargs,
):  # fmt: skip
    """function(*args, **kwargs), whose intermediate results are not kept but computed again in
    backward(), with the same random numbers unless preserve_rng_state=False is given.

    context_fn gives two blocks, one around the first run, one around the second. early_stop: the
    second run ends where the last tensor that is read is there. CheckpointError, in backward(), if
    it saves other tensors than the first: fewer, more or, unless determinism_check is "none", of
    other sizes or dtypes. use_reentrant and debug change nothing. In a trace it is a plain call.
    """
    keep = kwargs.pop("preserve_rng_state", True)
    if not _lathe.is_grad_enabled() or _lathe._tracing():
        return function(*args, **kwargs)
    if determinism_check not in ("default", "none"):
        raise _lathe.ValueError(
            "no such check", op="checkpoint", got=repr(determinism_check),
            expected="'default' or 'none'", next="leave it out to compare sizes and dtypes",
        )  # fmt: skip
    check = determinism_check == "default"
    return _Part(function, args, kwargs, keep, context_fn, early_stop, check).run()


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
