"""Linear layers, and layers that only change shape."""

from .. import _lathe, ops
from .._errors import typed
from . import functional as F
from . import init
from .conv import start_weight_and_bias
from .module import Module
from .parameter import Parameter


class Linear(Module):
    """y = x @ weight.T + bias. x[..., in_features]; weight[out_features, in_features]."""

    @typed
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        kind, shapes = {"dtype": dtype, "device": device}, self._shapes()
        self.weight = self._new_parameter(shapes["weight"], kind)
        self.bias = self._new_parameter(shapes["bias"], kind) if bias else None
        self.reset_parameters()

    def _shapes(self):
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}

    def reset_parameters(self):
        start_weight_and_bias(self, self.in_features)

    def forward(self, input):
        return ops.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    """y = x1 @ weight @ x2 + bias. weight[out_features, in1_features, in2_features]."""

    @typed
    def __init__(
        self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None
    ):
        super().__init__()
        if in1_features <= 0:
            raise _lathe.ValueError(
                "an input without features",
                op="Bilinear",
                got=f"in1_features={in1_features}",
                expected="a number above 0",
                next="give the size of the last axis",
            )
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        kind = {"dtype": dtype, "device": device}
        self.weight = Parameter(ops.zeros((out_features, in1_features, in2_features), **kind))
        self.bias = Parameter(ops.zeros(out_features, **kind)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / self.in1_features**0.5
        for parameter in (self.weight, self.bias):
            if parameter is not None:
                init.uniform_(parameter, -bound, bound)

    def forward(self, input1, input2):
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Flatten(Module):
    """Axes start_dim..end_dim joined into one."""

    @typed
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return ops.flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis as several; a size may be -1."""

    @typed
    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class Identity(Module):
    """x as it is; any arguments are accepted and ignored."""

    def __init__(self, *_, **__):
        super().__init__()

    def forward(self, input):
        return input
