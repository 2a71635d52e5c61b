"""Activations as modules."""

from .. import ops
from .._arguments import default_only
from .._errors import typed
from . import functional as F
from .module import Module


def _activation(name, op):
    """A module without settings around an op."""

    def forward(self, x):
        return op(x)

    parts = {"forward": forward, "__doc__": op.__doc__, "__module__": __name__}
    return type(name, (Module,), parts)


Tanh = _activation("Tanh", ops.tanh)
Sigmoid = _activation("Sigmoid", ops.sigmoid)


class Softplus(Module):
    """log(1 + exp(x)), without overflow."""

    @default_only(
        beta="write F.softplus(beta * x) / beta",
        threshold="leave it out: nothing overflows without it",
    )
    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, x):
        return F.softplus(x)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class _Inplace(Module):
    _function = None

    @typed
    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, x):
        return type(self)._function(x, self.inplace)

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class ReLU(_Inplace):
    """max(x, 0)."""

    _function = staticmethod(F.relu)


class SiLU(_Inplace):
    """x * sigmoid(x)."""

    _function = staticmethod(F.silu)


class LeakyReLU(Module):
    """x where positive, else negative_slope * x."""

    @typed
    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, x):
        return F.leaky_relu(x, self.negative_slope, self.inplace)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}" + _also_inplace(self)


def _also_inplace(module):
    return ", inplace=True" if module.inplace else ""


class GELU(Module):
    """Gaussian error linear unit, exact by erf ('none') or by the 'tanh' approximation."""

    @typed
    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, x):
        return F.gelu(x, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class _Along(Module):
    @typed
    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmax(_Along):
    """exp(x) / sum(exp(x)) along dim; None: axis 0 of 0, 1 or 3 axes, else axis 1."""

    def forward(self, x):
        return F.softmax(x, self.dim)


class LogSoftmax(_Along):
    """log(softmax(x)) along dim; None: axis 0 of 0, 1 or 3 axes, else axis 1."""

    def forward(self, x):
        return F.log_softmax(x, self.dim)


class Hardtanh(Module):
    """x limited to [min_val, max_val]."""

    @default_only(min_value="its name is min_val", max_value="its name is max_val")
    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, x):
        clamp = x.clamp_ if self.inplace else x.clamp
        return clamp(self.min_val, self.max_val)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}" + _also_inplace(self)
