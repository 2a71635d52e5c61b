"""The random streams: the process's, and generators of a program's own.

A stream is two numbers, its seed and how many random calls there were, so its state is a value that
may be kept, written to a file and put back.
"""

from . import _lathe
from ._grad_mode import Block
from ._lathe import Tensor, manual_seed

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed",
    "seed",
    "set_rng_state",
]  # fmt: skip

_BYTES = 16  # of a state: seed and call, little-endian


def _as_tensor(state):
    data = b"".join(number.to_bytes(_BYTES // 2, "little") for number in state)
    return _lathe._from_bytes(data, _lathe.uint8, (_BYTES,))


def _numbers(state):
    if not isinstance(state, Tensor) or state.dtype != _lathe.uint8 or state.numel() != _BYTES:
        raise _lathe.TypeError(
            "this is no state of a random stream", op="set_rng_state",
            got=f"{state.dtype} of {state.numel()}" if isinstance(state, Tensor) else type(state),
            expected=f"a uint8 tensor of {_BYTES} bytes, as get_rng_state() gives it",
            next="keep what get_rng_state() gave",
        )  # fmt: skip
    data = _lathe._to_bytes(state)
    half = _BYTES // 2
    return int.from_bytes(data[:half], "little"), int.from_bytes(data[half:], "little")


def get_rng_state():
    """The state of the process's stream, as a uint8 tensor."""
    return _as_tensor(_lathe._random_state())


def set_rng_state(new_state):
    """Puts back what get_rng_state() gave: what is drawn next is what was drawn after that."""
    _refuse_in_trace("set_rng_state")
    _lathe._set_random_state(*_numbers(new_state))


def _refuse_in_trace(name):
    if _lathe._tracing():
        raise _lathe.TraceError(
            "the stream would be set while tracing only", op=name, got="a call inside a trace",
            expected="a call before it", next="set it before the traced function is called",
        )  # fmt: skip


def _seeded(make):
    """Calls make(a number from the system's own random source); gives the number."""
    import os

    number = int.from_bytes(os.urandom(8), "little") >> 1
    make(number)
    return number


def initial_seed():
    """The seed that the process's stream began with; 0 unless manual_seed() was called."""
    return _lathe._random_state()[0]


def seed():
    """Seeds the process's stream by the system's own random numbers; gives the seed."""
    return _seeded(manual_seed)


class Generator(_lathe._Generator):
    """A random stream of its own: what is drawn with generator=g depends on its seed, and on what
    was drawn from it before, alone."""

    def get_state(self):
        """The generator's state, as a uint8 tensor."""
        return _as_tensor(self._state())

    def set_state(self, new_state):
        """Puts back what get_state() gave."""
        self._set_state(*_numbers(new_state))
        return self

    def seed(self):
        """Seeds the stream by the system's own random numbers; gives the seed."""
        return _seeded(self.manual_seed)

    def clone_state(self):
        """A generator that goes on as this one does."""
        return _restored(*self._state())

    def __reduce__(self):
        return _restored, self._state()


def _restored(seed, call):
    made = Generator()
    made._set_state(seed, call)
    return made


class fork_rng(Block):
    """A block (or a decorated function) after which the process's stream goes on as before it."""

    def __init__(self, devices=None, enabled=True):
        self._enabled = enabled
        self._before = []

    def __enter__(self):
        self._before.append(_lathe._random_state())
        return self

    def __exit__(self, *_):
        state = self._before.pop()
        if self._enabled:
            _lathe._set_random_state(*state)


class _Default:
    """The process's stream in the form of a Generator."""

    is_default = True  # as an argument `generator` it stands for none
    device = _lathe.device("cpu")
    initial_seed = staticmethod(initial_seed)
    seed = staticmethod(seed)
    get_state = staticmethod(get_rng_state)

    def manual_seed(self, seed):
        manual_seed(seed)
        return self

    def set_state(self, new_state):
        set_rng_state(new_state)
        return self


default_generator = _Default()
