"""checkpoint: a part of a network that does not keep what its derivatives read, and computes it
again in backward().

It stands on the packer of saved tensors (autograd.graph.saved_tensors_hooks): what the part saves
is replaced by its number, and the first that is asked for runs the part once more, which saves the
same tensors in the same order.
"""

from .. import _lathe
from .._errors import typed

__all__ = ["checkpoint", "checkpoint_sequential"]


class _Part:
    """One call of a part: what it was called with, and, in backward(), what it saves."""

    def __init__(self, function, args, named, keep_stream):
        self._function, self._args, self._named = function, args, named
        self._stream = _lathe._random_state() if keep_stream else None
        self._count, self._values = 0, {}

    def run(self):
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
        now, before = _lathe._random_state(), _lathe._set_grad_enabled(True)
        try:
            if self._stream is not None:
                _lathe._set_random_state(*self._stream)
            self._packed(found.append)
        finally:
            _lathe._set_grad_enabled(before)
            if self._stream is not None:
                _lathe._set_random_state(*now)
        if len(found) != self._count:
            raise _lathe.AutogradError(
                "the part computes something else when it runs again", op="checkpoint",
                got=f"{len(found)} tensors saved", expected=f"{self._count}, as at first",
                next="let it depend on its arguments and parameters alone",
            )  # fmt: skip
        self._values = dict(enumerate(found))


@typed
def checkpoint(
    function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False,
    early_stop=True, **kwargs,
):  # fmt: skip
    """function(*args, **kwargs), whose intermediate results are not kept but computed again in
    backward(), with the same random numbers unless preserve_rng_state=False is given.

    use_reentrant and the other arguments change nothing. In a trace it is a plain call.
    """
    keep = kwargs.pop("preserve_rng_state", True)
    if not _lathe.is_grad_enabled() or _lathe._tracing():
        return function(*args, **kwargs)
    return _Part(function, args, kwargs, keep).run()


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
