"""cuDNN, of which there is none. Settings are kept, and change nothing: results are deterministic
always."""

from .._grad_mode import Block

enabled = False
deterministic = True
benchmark = False
benchmark_limit = 10
allow_tf32 = False


def is_available():
    """False."""
    return False


def is_acceptable(tensor):
    """False: no tensor lies where cuDNN could work on it."""
    return False


def version():
    """None: there is no cuDNN."""


class flags(Block):
    """A block in which these settings are kept, as they were, behind it."""

    def __init__(
        self, enabled=False, benchmark=False, benchmark_limit=10, deterministic=False,
        allow_tf32=True,
    ):  # fmt: skip
        self._inside = {
            "enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit,
            "deterministic": deterministic, "allow_tf32": allow_tf32,
        }  # fmt: skip
        self._before = []

    def __enter__(self):
        self._before.append({name: globals()[name] for name in self._inside})
        globals().update(self._inside)

    def __exit__(self, *_):
        globals().update(self._before.pop())
