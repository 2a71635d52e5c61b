"""Starting values, written over a tensor in place; each gives the tensor back.

generator: the stream that random ones are drawn from; None is the process's.
"""

import math

from .. import _lathe, ops
from .._errors import typed
from .._grad_mode import no_grad


def _init(function):
    return typed(no_grad()(function))


def _refuse(op, problem, got, expected, next):
    raise _lathe.ValueError(problem, op=op, got=got, expected=expected, next=next)


def _require_rank(op, tensor, least, most):
    if not least <= tensor.ndim <= most:
        raise _lathe.ShapeError(
            "the tensor has another rank", op=op, got=list(tensor.shape),
            expected=f"rank {least}" if least == most else f"rank {least} to {most}",
            next="reshape it first: a view is written through",
        )  # fmt: skip


@_init
def constant_(tensor, val):
    """val everywhere."""
    return tensor.fill_(val)


def zeros_(tensor):
    """0 everywhere."""
    return constant_(tensor, 0)


def ones_(tensor):
    """1 everywhere."""
    return constant_(tensor, 1)


@_init
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform in [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@_init
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal."""
    return tensor.normal_(mean, std, generator=generator)


@_init
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal, given that it lies in [a, b]. a and b are values, not multiples of std.

    ValueError if a > b or std is 0. Where [a, b] is far from the mean, few values are possible.
    """
    if a > b:
        _refuse("trunc_normal_", "the interval is empty", f"a={a}, b={b}", "a <= b", "swap them")
    scale = std * math.sqrt(2)
    low, high = (
        ops.erf(_lathe.tensor((end - mean) / scale, dtype=_lathe.float64)) for end in (a, b)
    )
    share = tensor.uniform_(generator=generator) * (high - low) + low
    return tensor.copy_(ops.clamp(ops.erfinv(share) * scale + mean, a, b))


@_init
def eye_(tensor):
    """The identity matrix. ShapeError unless the tensor has two axes."""
    _require_rank("eye_", tensor, 2, 2)
    return tensor.copy_(ops.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@_init
def dirac_(tensor, groups=1):
    """The weight[out, in, ...] of a convolution that hands its channels on, in each group.

    ShapeError unless the tensor has 3 to 5 axes; ValueError if groups do not divide its first.
    """
    _require_rank("dirac_", tensor, 3, 5)
    if groups < 1 or tensor.shape[0] % groups != 0:
        _refuse("dirac_", "groups that do not divide the channels",
                f"{groups} groups of {tensor.shape[0]} channels", "a divisor of the first size",
                "choose another number of groups")  # fmt: skip
    tensor.fill_(0)
    outputs = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    for channel in range(min(outputs, tensor.shape[1])):
        tensor[(slice(channel, None, outputs), channel, *middle)] = 1
    return tensor


@_init
def orthogonal_(tensor, gain=1, generator=None):
    """gain times a matrix whose rows, or whose columns if they are fewer, are orthonormal (Saxe et
    al. 2013); the axes after the first count as one. ShapeError for fewer than two axes."""
    if tensor.ndim < 2:
        _require_rank("orthogonal_", tensor, 2, math.inf)
    if tensor.numel() == 0:
        return tensor
    from .. import linalg

    drawn = ops.empty_like(tensor).normal_(generator=generator).flatten(1)
    wide = drawn.shape[0] < drawn.shape[1]
    q, r = linalg.qr(drawn.mT if wide else drawn)
    # The signs make it one draw from all orthogonal matrices, each as likely (Mezzadri 2007).
    q = q * ops.sgn(ops.diagonal(r))
    return tensor.copy_((q.mT if wide else q).reshape(tensor.shape) * gain)


@_init
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal, but for a share `sparsity` of each column that is 0 (Martens 2010). ShapeError unless
    the tensor has two axes."""
    _require_rank("sparse_", tensor, 2, 2)
    zeros = math.ceil(sparsity * tensor.shape[0])
    tensor.normal_(0, std, generator=generator)
    lots = ops.rand(tensor.shape, device=tensor.device, generator=generator)
    return tensor.masked_fill_(ops.argsort(ops.argsort(lots, 0), 0) < zeros, 0)


def _calculate_fan_in_and_fan_out(tensor):
    """(fan_in, fan_out): how many inputs a result depends on, and the other way round."""
    if tensor.ndim < 2:
        raise _lathe.ShapeError(
            "the tensor has too few axes for a fan",
            op="init",
            got=list(tensor.shape),
            expected="two",
            next="give the weight of a layer",
        )
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps a signal's variance through a nonlinearity."""
    same = "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d sigmoid"
    gains = dict.fromkeys(same.split(), 1.0)
    gains["selu"] = 3 / 4  # not an op: what follows the layer
    gains["tanh"] = 5 / 3  # not an op: what follows the layer
    gains["relu"] = math.sqrt(2)  # not an op: what follows the layer
    if nonlinearity == "leaky_relu":  # not an op: what follows the layer
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in gains:
        raise _lathe.ValueError(
            "an unknown nonlinearity",
            op="calculate_gain",
            got=nonlinearity,
            expected=", ".join(sorted(gains)),
            next="give the gain itself where an init function takes one",
        )
    return gains[nonlinearity]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform with variance gain^2 * 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    bound = gain * math.sqrt(6 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with variance gain^2 * 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    std = gain * math.sqrt(2 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        _refuse("kaiming", "an unknown mode", repr(mode), "'fan_in' or 'fan_out'",
                "name the side whose variance is kept")  # fmt: skip
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def _kaiming_std(tensor, a, mode, nonlinearity):
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fan, 1))


_LEAKY = "leaky_relu"  # not an op: what follows the layer


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity=_LEAKY, generator=None):
    """Uniform with variance gain^2 / fan (He et al. 2015); a: slope of the leaky relu after it."""
    bound = math.sqrt(3) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity=_LEAKY, generator=None):
    """Normal with variance gain^2 / fan (He et al. 2015)."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _deprecated(function):
    """The function under its older name, without the underscore."""
    from warnings import warn

    from .._errors import wrapping

    name = function.__name__

    def old(*args, **kwargs):
        warn(f"nn.init.{name[:-1]} is now nn.init.{name}", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    wrapping(old, function)
    old.__name__ = old.__qualname__ = name[:-1]
    old.__doc__ = f"The older name of {name}."
    return old


for _function in (
    uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_, kaiming_uniform_,
    kaiming_normal_, orthogonal_, sparse_,
):  # fmt: skip
    globals()[_function.__name__[:-1]] = _deprecated(_function)
