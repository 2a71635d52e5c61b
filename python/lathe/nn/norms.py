"""Normalisation layers."""

from .. import _lathe, ops
from .._errors import typed
from .module import Module
from .parameter import Parameter


class _BatchNorm(Module):
    """Normalises each channel (axis 1) over the batch and what follows (Ioffe and Szegedy 2015).

    In training by the batch's own mean and variance, which running_mean and running_var follow by
    `momentum` (None: a plain average of all batches); in eval() by those.
    """

    _ranks = ()

    @typed
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        kind = {"dtype": dtype, "device": device}
        self.weight = Parameter(ops.ones(num_features, **kind)) if affine else None
        self.bias = Parameter(ops.zeros(num_features, **kind)) if affine else None
        tracked = track_running_stats
        self.register_buffer("running_mean", ops.zeros(num_features, **kind) if tracked else None)
        self.register_buffer("running_var", ops.ones(num_features, **kind) if tracked else None)
        counter = ops.zeros((), dtype=_lathe.int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", counter)

    def forward(self, x):
        if x.ndim not in self._ranks:
            raise _lathe.ShapeError(
                "the input has another rank",
                op=type(self).__name__,
                got=list(x.shape),
                expected="rank " + " or ".join(map(str, self._ranks)),
                next="reshape the input, or use the layer for its rank",
            )
        momentum = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked += 1
            if momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        return ops.batch_norm(
            x,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            self.training or not self.track_running_stats,
            0.0 if momentum is None else momentum,
            self.eps,
        )

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__.replace("(axis 1)", "of x[n, channels] or x[n, channels, length]")
    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__.replace("(axis 1)", "of x[n, channels, h, w]")
    _ranks = (4,)


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) over the last axes, then weight and bias (Ba et al. 2016)."""

    @typed
    def __init__(
        self,
        normalized_shape,
        eps=1e-5,
        elementwise_affine=True,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape, self.eps = tuple(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        kind = {"dtype": dtype, "device": device}
        affine, shape = elementwise_affine, self.normalized_shape
        self.weight = Parameter(ops.ones(shape, **kind)) if affine else None
        self.bias = Parameter(ops.zeros(shape, **kind)) if affine and bias else None

    def forward(self, x):
        return ops.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )
