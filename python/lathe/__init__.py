"""Lathe: an eager tensor library with tape autodiff, graph mode and an LLVM JIT.

    import lathe as lt

    x = lt.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    x.grad                              # tensor([2., 4.])

Ops are functions of this module, methods of lathe.Tensor and entries of lathe.nn.functional under
PyTorch's names and signatures; `help(lt.matmul)` prints them. Sizes may be given as one tuple or
one by one. Errors are children of lathe.Error and of the built-in exception for that fault.
"""

from . import _lathe

# Before anything can ask for the user's line: frames of this folder are not the user's.
_lathe._install(__file__[: -len("__init__.py")])

from . import (  # noqa: E402, F401
    _errors,
    _functions,
    _grad_mode,
    _import_paths,
    _tensor,
    ops,  # noqa: E402
)
from ._lathe import *  # noqa: E402, F403
from ._names import *  # noqa: E402, F403

globals().update(_functions.exported())
globals().update(_grad_mode.exported())

__version__ = "0.1.0"
# For CMAKE_PREFIX_PATH: CMake's find_package(lathe) then finds the wheel's library and headers.
cmake_prefix_path = __file__[: -len("/__init__.py")]

# Parts that a program may do without are loaded when they are first named.
_PARTS = (
    "amp", "array_api", "autograd", "backends", "compat", "cuda", "distributions", "fft", "func",
    "jit", "library", "linalg", "masked", "mps", "nn", "optim", "profiler", "return_types",
    "serialization", "signal", "special", "testing", "utils", "xpu",
    "random",  # not an op: a module
)  # fmt: skip
_FROM = {"save": "_files", "load": "_files"}
_FROM |= dict.fromkeys(
    ("trace", "script", "freeze", "run", "debug", "draw", "rewrite", "rewrites", "InputSpec"), "jit"
)
_FROM |= dict.fromkeys(
    (
        "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor",
        "HalfTensor", "IntTensor", "LongTensor", "ShortTensor", "can_cast", "finfo", "iinfo",
        "result_type", "set_default_tensor_type",
    ),
    "_dtypes",
)  # fmt: skip
_FROM |= dict.fromkeys(
    ("Generator", "default_generator", "get_rng_state", "initial_seed", "seed", "set_rng_state"),
    "random",  # not an op: a name
)
_FROM |= dict.fromkeys(
    (
        "are_deterministic_algorithms_enabled", "get_default_device",
        "get_deterministic_debug_mode", "get_float32_matmul_precision", "get_num_interop_threads",
        "get_num_threads", "has_lapack", "has_mkl", "has_openmp", "has_spectral",
        "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
        "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
        "set_anomaly_enabled", "set_default_device", "set_deterministic_debug_mode",
        "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
        "set_num_threads", "set_warn_always", "threads", "use_deterministic_algorithms",
    ),
    "_settings",
)  # fmt: skip
_SIZES = (
    "mark_bounds mark_static sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum"
)
_FROM |= dict.fromkeys(_SIZES.split(), "_sizes")
_FROM |= dict.fromkeys(("TypedStorage", "UntypedStorage"), "_storages")
_RECURRENT = "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell"
_FROM |= dict.fromkeys(_RECURRENT.split(), "nn.recurrent_functions")
_FORMS = "asarray broadcast_shapes einsum frombuffer is_same_size tensordot"
_FROM |= dict.fromkeys(_FORMS.split(), "_forms")
_FROM |= dict.fromkeys(
    ("autocast", "get_autocast_dtype", "is_autocast_available", "is_autocast_enabled",
     "set_autocast_dtype", "set_autocast_enabled", "GradScaler"),
    "amp",
)  # fmt: skip
_FROM |= {"callback": "_callbacks"}
_STRUCTURES = "associative_scan cond fori_loop map reduce scan while_loop"
_FROM |= dict.fromkeys(_STRUCTURES.split(), "_loops")
_FROM |= {"GradientTape": "autograd", "Tensor": "_lathe", "vmap": "func"}


def _part(name):
    """The submodule of this name, imported now; importlib takes longer than many a module."""
    import sys

    __import__(f"{__name__}.{name}")
    return sys.modules[f"{__name__}.{name}"]


def __getattr__(name):
    if name in _PARTS:
        return _part(name)
    if name in _FROM:
        value = getattr(_part(_FROM[name]), name)
    elif (value := _lathe._find(name, "function")) is not None:
        pass  # made now: the import does not grow with the number of definitions
    elif name == "__all__":  # what a star brings: nothing that hides a builtin
        import builtins

        return [n for n in __dir__() if not n.startswith("_") and not hasattr(builtins, n)]
    else:
        raise _errors.no_such_name(name, __dir__)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_PARTS, *_FROM, *_lathe._names("function")})
