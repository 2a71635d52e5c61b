"""Settings of the process under PyTorch's names, and what is fixed here and can be asked for."""

from . import _lathe

_DEBUG_MODES = ("default", "warn", "error")  # of nondeterministic operations
_PRECISIONS = ("highest", "high", "medium")
_warn_always = [False]


def _one_of(op, value, known):
    if value not in known:
        raise _lathe.ValueError(
            "there is no such setting", op=op, got=repr(value),
            expected=", ".join(map(repr, known)), next="name one of these",
        )  # fmt: skip


# ── threads ─────────────────────────────────────────────────────────────────────────────────────


def threads():
    """How many threads compute, and why so many: what the affinity of the process or the quota of
    its cgroup allows, or what the environment or the flag `threads` says. A text, to be printed."""
    return _lathe._threads()[1]


def get_num_threads():
    """How many threads operations use."""
    return _lathe._threads()[0]


def set_num_threads(num, /):
    """How many threads operations use; no result depends on it. ValueError for less than one."""
    if num < 1:
        raise _lathe.ValueError(
            "there is no work without a thread", op="set_num_threads", got=num,
            expected="1 or more", next="set_flag('threads', 0) takes as many as there are",
        )  # fmt: skip
    _lathe.set_flag("threads", num)


def get_num_interop_threads():
    """1: operations run one after the other."""
    return 1


def set_num_interop_threads(num, /):
    """Changes nothing: operations run one after the other."""


# ── what is the same always ─────────────────────────────────────────────────────────────────────


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Changes nothing: results are deterministic always."""


def are_deterministic_algorithms_enabled():
    """True: results are deterministic always."""
    return True


def is_deterministic_algorithms_warn_only_enabled():
    """False: there is nothing to warn of."""
    return False


def set_deterministic_debug_mode(debug_mode):
    """Changes nothing; ValueError for a mode that PyTorch has not."""
    _one_of("set_deterministic_debug_mode", debug_mode, (*_DEBUG_MODES, 0, 1, 2))


def get_deterministic_debug_mode():
    """2, PyTorch's "error": no operation is anything but deterministic."""
    return _DEBUG_MODES.index("error")


def get_float32_matmul_precision():
    """'highest': products of float32 are computed in float32."""
    return "highest"


def set_float32_matmul_precision(precision):
    """Changes nothing: a lower precision is allowed by it, not asked for. ValueError for one that
    PyTorch has not."""
    _one_of("set_float32_matmul_precision", precision, _PRECISIONS)


def set_flush_denormal(mode, /):
    """False: denormal numbers are kept, whatever is asked for."""
    return False


def get_default_device():
    """The device of tensors that are made without device=: the cpu."""
    return _lathe.device("cpu")


def set_default_device(device):
    """None or the cpu: tensors are made there unless device= is given. DeviceError for others."""
    if device is not None and _lathe.device(device) != get_default_device():
        raise _lathe.DeviceError(
            "tensors are made on the cpu unless device= says otherwise", op="set_default_device",
            got=str(device), expected="cpu", next="pass device= where tensors are made",
        )  # fmt: skip


# ── anomalies and warnings ──────────────────────────────────────────────────────────────────────


def is_anomaly_enabled():
    """Whether autograd.detect_anomaly is on, on this thread."""
    from .autograd import is_anomaly_enabled

    return is_anomaly_enabled()


is_anomaly_check_nan_enabled = is_anomaly_enabled  # there is one check: for NaN


def set_anomaly_enabled(enabled, check_nan=True):
    """Switches autograd.detect_anomaly on or off, on this thread."""
    from .autograd import set_detect_anomaly

    set_detect_anomaly(enabled, check_nan)


def set_warn_always(b, /):
    """Kept, for is_warn_always_enabled(): warnings here are Python's, whose filters decide."""
    _warn_always[0] = bool(b)


def is_warn_always_enabled():
    """What set_warn_always() was given last; False at first."""
    return _warn_always[0]


has_lapack = True  # linear algebra is always there
has_mkl = False
has_openmp = False
has_spectral = True  # so are Fourier transforms
