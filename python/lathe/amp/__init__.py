"""Mixed precision: products in f16 or bf16, by scope; and the scaling of losses that f16 needs.

    with lt.autocast("cpu", dtype=lt.bfloat16):
        loss = lt.nn.functional.mse_loss(model(x), y)  # products in bf16, the loss in f32
    loss.backward()

What is cast is what PyTorch casts on a CPU: products and convolutions to the scope's dtype, losses,
linear algebra, Fourier transforms and a few more to f32, joins to the widest of their operands.
Everything else takes its operands as they are; f64 and integers are never cast.
"""

from .. import _lathe
from .._grad_mode import _Mode
from .scaler import GradScaler

__all__ = [
    "GradScaler", "autocast", "custom_bwd", "custom_fwd", "get_autocast_dtype",
    "is_autocast_available", "is_autocast_enabled", "set_autocast_dtype", "set_autocast_enabled",
]  # fmt: skip

_default = [_lathe.bfloat16]  # of scopes that name no dtype
_NARROW = (_lathe.bfloat16, _lathe.float16)


def _kind(device_type):
    """ "cpu" of "cpu:0"; TypeError for anything that is no text."""
    if not isinstance(device_type, str):
        raise _lathe.TypeError(
            "the kind of device is a text", op="autocast", got=type(device_type).__name__,
            expected="'cpu'",
        )  # fmt: skip
    return device_type.partition(":")[0]


class autocast(_Mode):
    """Products inside are computed in `dtype`, as a block or as a decorator.

    device_type: "cpu"; a scope for a device that is not there warns and does nothing. dtype:
    bfloat16 (the default) or float16. enabled=False: nothing is cast inside, also within another
    scope. cache_enabled has no effect: casts of one tensor are merged in a trace, and made each
    time in eager code. ValueError for another dtype.
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        dtype = _default[0] if dtype is None else dtype
        if enabled and dtype not in _NARROW:
            raise _lathe.ValueError(
                "products are computed in f16 or bf16", op="autocast", got=str(dtype),
                expected="lathe.bfloat16 or lathe.float16",
            )  # fmt: skip
        if _kind(device_type) != "cpu":
            if enabled:
                import warnings

                words = f"there is no device {device_type!r}: this scope of autocast does nothing"
                warnings.warn(words, stacklevel=2)
            super().__init__(_lathe._autocast(), _lathe._set_autocast)
            return
        super().__init__(dtype if enabled else _lathe.float32, _lathe._set_autocast)


def is_autocast_available(device_type):
    """Whether there is such a device."""
    return _kind(device_type) == "cpu"


def is_autocast_enabled(device_type="cpu"):
    """Whether this is inside of a scope of autocast for that device."""
    return _kind(device_type) == "cpu" and _lathe._autocast() is not _lathe.float32


def get_autocast_dtype(device_type="cpu"):
    """What products are computed in inside of a scope, or would be."""
    return _lathe._autocast() if is_autocast_enabled(device_type) else _default[0]


def set_autocast_dtype(device_type, dtype):
    """What scopes that name no dtype compute products in. ValueError unless f16 or bf16."""
    autocast("cpu", dtype)  # refuses others
    if _kind(device_type) == "cpu":
        _default[0] = dtype
        if is_autocast_enabled():
            _lathe._set_autocast(dtype)


def set_autocast_enabled(device_type, enabled=None):
    """From here on as inside of a scope, or outside; autocast() as a block puts back what was."""
    if enabled is None:  # without a device: the cpu
        device_type, enabled = "cpu", device_type
    if _kind(device_type) == "cpu":
        _lathe._set_autocast(_default[0] if enabled else _lathe.float32)


def custom_fwd(fwd=None, *, device_type="cpu", cast_inputs=None):
    """Of an autograd.Function's forward: with cast_inputs its floating tensors (f64 excepted) are
    converted to that dtype and nothing is cast inside."""
    from functools import partial, wraps

    if fwd is None:
        return partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    def cast(value):
        fits = isinstance(value, _lathe.Tensor) and value.is_floating_point()
        return value.to(cast_inputs) if fits and value.dtype is not _lathe.float64 else value

    @wraps(fwd)
    def forward(ctx, *args, **kwargs):
        ctx._autocast = _lathe._autocast()
        if cast_inputs is None or not is_autocast_enabled(device_type):
            return fwd(ctx, *args, **kwargs)
        ctx._autocast = _lathe.float32
        with autocast("cpu", enabled=False):
            return fwd(ctx, *map(cast, args), **{k: cast(v) for k, v in kwargs.items()})

    return forward


def custom_bwd(bwd=None, *, device_type="cpu"):
    """Of an autograd.Function's backward: it runs as custom_fwd's forward did."""
    from functools import partial, wraps

    if bwd is None:
        return partial(custom_bwd, device_type=device_type)

    @wraps(bwd)
    def backward(ctx, *args, **kwargs):
        before = _lathe._set_autocast(ctx._autocast)
        try:
            return bwd(ctx, *args, **kwargs)
        finally:
            _lathe._set_autocast(before)

    return backward
