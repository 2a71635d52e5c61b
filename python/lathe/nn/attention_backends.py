"""Which of PyTorch's kernels for attention a program allows.

Attention is one definition here, with one result: the table of kernels picks what runs. What is
allowed is kept, as programs set it and ask for it, and no result depends on it.
"""

from enum import IntEnum

from .. import _lathe
from .._grad_mode import Block


class SDPBackend(IntEnum):
    """PyTorch's ways to compute scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_CHOICES = tuple(backend for backend in SDPBackend if backend is not SDPBackend.ERROR)
_allowed = list(_CHOICES)  # in the order of preference


def allowed():
    """What is allowed now, the preferred first."""
    return list(_allowed)


def allow(backend, on):
    """Allows one of them, or no longer."""
    if not on and backend in _allowed:
        _allowed.remove(backend)
    elif on and backend not in _allowed:
        _allowed.append(backend)


class sdpa_kernel(Block):
    """A block, or a decorated function, in which these backends are allowed, and no others.

    backends: an SDPBackend or a list of them, the preferred first. No result depends on it.
    TypeError for anything else, ValueError for an empty list.
    """

    def __init__(self, backends, set_priority=False):
        chosen = [backends] if isinstance(backends, SDPBackend) else backends
        if not isinstance(chosen, list) or not all(isinstance(b, SDPBackend) for b in chosen):
            raise _lathe.TypeError(
                "these are no backends", op="sdpa_kernel", got=repr(backends),
                expected="an SDPBackend, or a list of them", next="give SDPBackend.MATH",
            )  # fmt: skip
        if not chosen:
            raise _lathe.ValueError(
                "nothing would be allowed", op="sdpa_kernel", got="[]",
                expected="one backend or more", next="give SDPBackend.MATH",
            )  # fmt: skip
        self._chosen, self._before = list(dict.fromkeys(chosen)), []

    def __enter__(self):
        self._before.append(allowed())
        _allowed[:] = self._chosen
        return {}

    def __exit__(self, *_):
        _allowed[:] = self._before.pop()
