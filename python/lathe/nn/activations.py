"""Activations and dropout as modules: each names its function and keeps its settings.

`_Function` is what they have in common: the settings are attributes, handed to the function in
the order of its parameters, and printed by name.
"""

from .. import _lathe, ops
from .._arguments import default_only
from .._errors import typed
from . import functional as F
from .module import Module
from .parameter import Parameter

__all__ = [
    "AlphaDropout", "CELU", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "ELU",
    "FeatureAlphaDropout", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
    "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU",
    "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign",
    "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


class _Function(Module):
    _function = None
    _settings = ()

    def _keep(self, **settings):
        """Makes the settings attributes; to be called first by a constructor."""
        super().__init__()
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, input):
        return type(self)._function(input, *[getattr(self, name) for name in self._settings])

    def extra_repr(self):
        shown = [n for n in self._settings if n != "inplace" or self.inplace]
        return ", ".join(f"{n}={getattr(self, n)!r}" for n in shown)


class _Plain(_Function):
    """A function without settings."""

    @typed
    def __init__(self):
        super().__init__()


class _Inplace(_Function):
    _settings = ("inplace",)

    @typed
    def __init__(self, inplace=False):
        self._keep(inplace=inplace)


def _module(base, name, function, doc):
    parts = {"_function": staticmethod(function), "__doc__": doc, "__module__": __name__}
    return type(name, (base,), parts)


Tanh = _module(_Plain, "Tanh", ops.tanh, "Hyperbolic tangent.")
Sigmoid = _module(_Plain, "Sigmoid", ops.sigmoid, "1 / (1 + exp(-x)).")
LogSigmoid = _module(_Plain, "LogSigmoid", F.logsigmoid, "log(sigmoid(x)), without overflow.")
Softsign = _module(_Plain, "Softsign", F.softsign, "x / (1 + |x|).")
Tanhshrink = _module(_Plain, "Tanhshrink", F.tanhshrink, "x - tanh(x).")
ReLU = _module(_Inplace, "ReLU", F.relu, "max(x, 0).")
ReLU6 = _module(_Inplace, "ReLU6", F.relu6, "x limited to [0, 6].")
SiLU = _module(_Inplace, "SiLU", F.silu, "x * sigmoid(x).")
SELU = _module(_Inplace, "SELU", F.selu, "elu that keeps mean 0 and variance 1.")
Mish = _module(_Inplace, "Mish", F.mish, "x tanh(log(1 + exp(x))).")
Hardsigmoid = _module(_Inplace, "Hardsigmoid", F.hardsigmoid, "(x + 3) / 6 limited to [0, 1].")
Hardswish = _module(_Inplace, "Hardswish", F.hardswish, "x times (x + 3) / 6 limited to [0, 1].")


class Softplus(_Function):
    """log(1 + exp(beta x)) / beta, without overflow; x where beta x is above threshold."""

    _function = staticmethod(F.softplus)
    _settings = ("beta", "threshold")  # not an op: a setting

    @typed
    def __init__(self, beta=1.0, threshold=20.0):
        self._keep(beta=beta, threshold=threshold)


class LeakyReLU(_Function):
    """x where positive, else negative_slope * x."""

    _function = staticmethod(F.leaky_relu)
    _settings = ("negative_slope", "inplace")

    @typed
    def __init__(self, negative_slope=0.01, inplace=False):
        self._keep(negative_slope=negative_slope, inplace=inplace)


class _Exponential(_Function):
    _settings = ("alpha", "inplace")

    @typed
    def __init__(self, alpha=1.0, inplace=False):
        self._keep(alpha=alpha, inplace=inplace)


ELU = _module(_Exponential, "ELU", F.elu, "x above 0, alpha (exp(x) - 1) below.")
CELU = _module(_Exponential, "CELU", F.celu, "x above 0, alpha (exp(x / alpha) - 1) below.")


class _Shrinking(_Function):
    _settings = ("lambd",)

    @typed
    def __init__(self, lambd=0.5):
        self._keep(lambd=lambd)

    def extra_repr(self):
        return str(self.lambd)


Hardshrink = _module(_Shrinking, "Hardshrink", F.hardshrink, "x, or 0 where |x| <= lambd.")
Softshrink = _module(_Shrinking, "Softshrink", F.softshrink, "x moved towards 0 by lambd.")


class GELU(_Function):
    """Gaussian error linear unit, exact by erf ('none') or by the 'tanh' approximation."""

    @typed
    def __init__(self, approximate="none"):
        self._keep(approximate=approximate)

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class _Along(_Function):
    _settings = ("dim",)

    @typed
    def __init__(self, dim=None):
        self._keep(dim=dim)


_AXIS = " along dim; None: axis 0 of 0, 1 or 3 axes, else axis 1."
Softmax = _module(_Along, "Softmax", F.softmax, "exp(x) / sum(exp(x))" + _AXIS)
Softmin = _module(_Along, "Softmin", F.softmin, "softmax(-x)" + _AXIS)
LogSoftmax = _module(_Along, "LogSoftmax", F.log_softmax, "log(softmax(x))" + _AXIS)


class GLU(_Along):
    """The first half along dim times sigmoid of the second."""

    _function = staticmethod(F.glu)

    @typed
    def __init__(self, dim=-1):
        self._keep(dim=dim)


class Softmax2d(_Plain):
    """softmax over the channels of [channels, h, w] or a batch of such."""

    def forward(self, input):
        if input.ndim not in (3, 4):
            raise _lathe.ShapeError(
                "the input is no image",
                op="Softmax2d",
                got=tuple(input.shape),
                expected="[channels, h, w], or a batch of such",
                next="Softmax(dim) takes any axis",
            )
        return F.softmax(input, -3)


class Hardtanh(_Function):
    """x limited to [min_val, max_val]."""

    _function = staticmethod(F.hardtanh)
    _settings = ("min_val", "max_val", "inplace")

    @default_only(min_value="its name is min_val", max_value="its name is max_val")
    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        self._keep(min_val=min_val, max_val=max_val, inplace=inplace)


class Threshold(_Function):
    """x above threshold, else value."""

    _function = staticmethod(F.threshold)
    _settings = ("threshold", "value", "inplace")  # not an op: a setting

    @typed
    def __init__(self, threshold, value, inplace=False):
        self._keep(threshold=threshold, value=value, inplace=inplace)


class PReLU(Module):
    """x above 0, else weight * x, with one weight to learn or one a channel."""

    @typed
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(ops.full((num_parameters,), init, dtype=dtype, device=device))

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class RReLU(_Function):
    """x above 0, else x times a slope: drawn from [lower, upper] in training, else their mean."""

    _settings = ("lower", "upper", "inplace")

    @typed
    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        self._keep(lower=lower, upper=upper, inplace=inplace)

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class _Dropping(_Function):
    _settings = ("p", "inplace")

    @typed
    def __init__(self, p=0.5, inplace=False):
        if not 0 <= p <= 1:
            raise _lathe.ValueError(
                "a probability outside [0, 1]",
                op=type(self).__name__,
                got=p,
                expected="0 to 1",
                next="p is a probability in [0, 1], not a percentage",
            )
        self._keep(p=p, inplace=inplace)

    def forward(self, input):
        return type(self)._function(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


_CHANNELS = "In training, zeros whole channels with probability p and scales the rest."
Dropout = _module(
    _Dropping, "Dropout", F.dropout,
    "In training, zeros with probability p and the rest scaled by 1 / (1 - p).",
)  # fmt: skip
Dropout1d = _module(_Dropping, "Dropout1d", F.dropout1d, _CHANNELS)
Dropout2d = _module(_Dropping, "Dropout2d", F.dropout2d, _CHANNELS)
Dropout3d = _module(_Dropping, "Dropout3d", F.dropout3d, _CHANNELS)
AlphaDropout = _module(
    _Dropping, "AlphaDropout", F.alpha_dropout,
    "Dropout to the limit of selu, which keeps mean and variance.",
)  # fmt: skip
FeatureAlphaDropout = _module(
    _Dropping, "FeatureAlphaDropout", F.feature_alpha_dropout, "AlphaDropout of whole channels."
)
