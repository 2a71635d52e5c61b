"""Normalisation layers."""

from .. import _lathe, ops
from .._errors import our_class, typed
from .._grad_mode import no_grad
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def _as_shape(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


class _Tracking(Module):
    """Weight and bias a channel, and statistics that follow those of batches."""

    _ranks = ()
    _version = 2  # 1: without num_batches_tracked

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *lists):
        key = prefix + "num_batches_tracked"
        own, version = self.num_batches_tracked, local_metadata.get("version")
        if (version is None or version < 2) and own is not None and key not in state_dict:
            state_dict[key] = own
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *lists)

    def _set(self, num_features, eps, momentum, affine, track_running_stats, bias, kind):
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        tracked, shapes = track_running_stats, self._shapes()
        for name, has in (("weight", affine), ("bias", affine and bias)):
            setattr(self, name, self._new_parameter(shapes[name], kind) if has else None)
        for name in ("running_mean", "running_var"):
            made = self._new_buffer(shapes[name], kind) if tracked else None
            self.register_buffer(name, made)
        counter = None
        if tracked:
            counter = ops.zeros((), dtype=_lathe.int64, device=kind["device"])
        self.register_buffer("num_batches_tracked", counter)
        self.reset_parameters()

    def _shapes(self):
        names = ("weight", "bias", "running_mean", "running_var")
        return dict.fromkeys(names, (self.num_features,))

    def _channel_axis(self, x):
        return 1

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, x):
        if x.ndim not in self._ranks:
            raise _lathe.ShapeError(
                "the input has another rank",
                op=our_class(self).__name__,
                got=list(x.shape),
                expected="rank " + " or ".join(map(str, self._ranks)),
                next="reshape the input, or use the layer for its rank",
            )

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Tracking):
    """Normalises each channel (axis 1) over the batch and what follows (Ioffe and Szegedy 2015).

    In training by the batch's own mean and variance, which running_mean and running_var follow by
    `momentum` (None: a plain average of all batches); in eval() by those.
    """

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
        *,
        bias=True,
    ):
        super().__init__()
        kind = {"dtype": dtype, "device": device}
        self._set(num_features, eps, momentum, affine, track_running_stats, bias, kind)

    def forward(self, input):
        self._check_input_dim(input)
        running = self.running_mean, self.running_var
        there = any(r is not None for r in running)
        learns = self.training and self.track_running_stats
        if learns and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None and there:
                return self._average(input, running)
        if self.training and not learns:  # of a module that tracked once, and shall not change
            running = None, None
        return ops.batch_norm(
            input,
            self.weight,
            self.bias,
            *running,
            self.training or not there,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _average(self, x, running):
        """The same where running is a plain average: this batch's share in it is a tensor, which a
        trace does not read."""
        found = [r.clone() for r in running]  # replaced, unless the batch is empty
        y = ops.batch_norm(x, self.weight, self.bias, *found, True, 1.0, self.eps)
        share = ops.reciprocal(self.num_batches_tracked.to(_lathe.float64))
        with no_grad():
            for r, now in zip(running, found):
                r.lerp_(now, share.to(r.dtype))
        return y


class BatchNorm1d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__.replace("(axis 1)", "of x[n, channels] or x[n, channels, length]")
    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__.replace("(axis 1)", "of x[n, channels, h, w]")
    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__.replace("(axis 1)", "of x[n, channels, d, h, w]")
    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Refused: there is one process, so there is nothing to keep in step."""

    @typed
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
    ):
        raise _lathe.UnsupportedError(
            "there are no groups of processes to keep in step",
            op="SyncBatchNorm",
            got=f"SyncBatchNorm({num_features})",
            expected="one process",
            next="use BatchNorm1d, BatchNorm2d or BatchNorm3d",
        )


class _InstanceNorm(_Tracking):
    """Normalises each channel of each image by its own mean and variance (Ulyanov et al. 2016).

    x[{axes}], or the same without n. With track_running_stats, in eval() by statistics that follow
    those of training by `momentum`.
    """

    @typed
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__()
        kind = {"dtype": dtype, "device": device}
        self._set(num_features, eps, momentum, affine, track_running_stats, bias, kind)

    def _channel_axis(self, x):
        return 1 if x.ndim == self._ranks[-1] else 0

    def forward(self, input):
        self._check_input_dim(input)
        batched = input.ndim == self._ranks[-1]
        y = F.instance_norm(
            input if batched else input.unsqueeze(0),
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return y if batched else y.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    __doc__ = _InstanceNorm.__doc__.format(axes="n, channels, length")
    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    __doc__ = _InstanceNorm.__doc__.format(axes="n, channels, h, w")
    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    __doc__ = _InstanceNorm.__doc__.format(axes="n, channels, d, h, w")
    _ranks = (4, 5)


class GroupNorm(Module):
    """Normalises each group of channels of each image by its own mean and variance (Wu and He
    2018)."""

    @typed
    def __init__(
        self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True
    ):
        super().__init__()
        if num_groups < 1 or num_channels % num_groups != 0:
            raise _lathe.ValueError(
                "groups that do not divide the channels",
                op="GroupNorm",
                got=f"{num_groups} groups of {num_channels} channels",
                expected="a divisor of how many channels there are",
                next="choose another number of groups",
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        kind = {"dtype": dtype, "device": device}
        self.weight = Parameter(ops.ones(num_channels, **kind)) if affine else None
        self.bias = Parameter(ops.zeros(num_channels, **kind)) if affine and bias else None

    def reset_parameters(self):
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


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
        self.normalized_shape, self.eps = _as_shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        kind = {"dtype": dtype, "device": device}
        affine, shape = elementwise_affine, self.normalized_shape
        self.weight = Parameter(ops.ones(shape, **kind)) if affine else None
        self.bias = Parameter(ops.zeros(shape, **kind)) if affine and bias else None

    def reset_parameters(self):
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input):
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """x / sqrt(mean(x^2) + eps) over the last axes, then weight (Zhang and Sennrich 2019)."""

    @typed
    def __init__(
        self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None
    ):
        super().__init__()
        self.normalized_shape, self.eps = _as_shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        kind = {"dtype": dtype, "device": device}
        self.weight = (
            Parameter(ops.ones(self.normalized_shape, **kind)) if elementwise_affine else None
        )

    def reset_parameters(self):
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class LocalResponseNorm(Module):
    """x / (k + alpha * mean)^beta, of the mean square of `size` neighbouring channels (Krizhevsky
    et al. 2012)."""

    @typed
    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm, of images."""

    @typed
    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__(size, alpha, beta, k)
