"""Starting values, written over a tensor in place; each gives the tensor back."""

import math

from .. import _lathe, ops
from .._grad_mode import no_grad


@no_grad()
def constant_(tensor, val):
    """val everywhere."""
    return tensor.fill_(val)


def zeros_(tensor):
    return constant_(tensor, 0)


def ones_(tensor):
    return constant_(tensor, 1)


@no_grad()
def uniform_(tensor, a=0.0, b=1.0):
    """Uniform in [a, b)."""
    return tensor.uniform_(a, b)


@no_grad()
def normal_(tensor, mean=0.0, std=1.0):
    """Normal."""
    return tensor.normal_(mean, std)


@no_grad()
def eye_(tensor):
    """The identity matrix."""
    return tensor.copy_(ops.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def _fans(tensor):
    """(fan_in, fan_out): how many inputs a result depends on, and the other way round."""
    if tensor.ndim < 2:
        raise _lathe.ShapeError(
            "the tensor has too few axes for a fan",
            op="init",
            got=list(tensor.shape),
            expected="two",
        )
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps a signal's variance through a nonlinearity."""
    same = "linear conv2d sigmoid"
    gains = dict.fromkeys(same.split(), 1.0)
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
        )
    return gains[nonlinearity]


def xavier_uniform_(tensor, gain=1.0):
    """Uniform with variance gain^2 * 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    bound = gain * math.sqrt(6 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    """Normal with variance gain^2 * 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(_fans(tensor))))


def _kaiming_std(tensor, a, mode, nonlinearity):
    fans = dict(zip(("fan_in", "fan_out"), _fans(tensor)))
    if mode not in fans:
        raise _lathe.ValueError(
            "an unknown mode", op="kaiming", got=repr(mode), expected="'fan_in' or 'fan_out'"
        )
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fans[mode], 1))


_LEAKY = "leaky_relu"  # not an op: what follows the layer


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity=_LEAKY):
    """Uniform with variance gain^2 / fan (He et al. 2015); a: slope of the leaky relu after it."""
    bound = math.sqrt(3) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity=_LEAKY):
    """Normal with variance gain^2 / fan (He et al. 2015)."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity))
