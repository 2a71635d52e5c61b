"""The parametrizations that there are: weight norm, spectral norm, orthogonal matrices."""

from ... import _lathe, ops
from ..._errors import typed
from ..module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def norm_except(weight, dim):
    """The norm of each slice of weight along dim, shaped to divide it; None: of all of it."""
    if dim is None:
        return ops.norm(weight)
    axes = [k for k in range(weight.ndim) if k != dim % weight.ndim]
    return ops.sqrt(ops.sum(weight * weight, axes, True))


def unit(vector, eps):
    """A vector divided by its length, or by eps if that is more."""
    return vector / ops.clamp_min(ops.norm(vector), eps)


class _WeightNorm(Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight):
        return norm_except(weight, self.dim), weight


@typed
def weight_norm(module, name="weight", dim=0):
    """A weight as a length for each slice along dim, and a direction (Salimans and Kingma 2016)."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if n_power_iterations < 1:
            raise _lathe.ValueError(
                "a power iteration has one round at least", op="spectral_norm",
                got=n_power_iterations, expected="1 or more", next="leave it out for 1",
            )  # fmt: skip
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.n_power_iterations, self.eps = n_power_iterations, eps
        if weight.ndim > 1:
            matrix = self._as_matrix(weight.detach())
            rows, columns = matrix.shape
            kind = {"dtype": weight.dtype, "device": weight.device}
            self.register_buffer("_u", unit(ops.randn(rows, **kind), eps))
            self.register_buffer("_v", unit(ops.randn(columns, **kind), eps))
            self._iterate(matrix, 15)

    def _as_matrix(self, weight):
        if self.dim != 0:
            order = [self.dim, *(k for k in range(weight.ndim) if k != self.dim)]
            weight = ops.permute(weight, order)
        return ops.flatten(weight, 1)

    def _iterate(self, matrix, rounds):
        before = _lathe._set_grad_enabled(False)
        try:
            for _ in range(rounds):
                self._u.copy_(unit(ops.matmul(matrix, self._v), self.eps))
                self._v.copy_(unit(ops.matmul(matrix.T, self._u), self.eps))
        finally:
            _lathe._set_grad_enabled(before)

    def forward(self, weight):
        if weight.ndim == 1:
            return unit(weight, self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # a later round writes to them
        return weight / ops.sum(u * ops.matmul(matrix, v))

    def right_inverse(self, value):
        return value


@typed
def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """A weight divided by its largest singular value, which a power iteration follows in training
    (Miyato et al. 2018)."""
    weight = getattr(module, name)
    if dim is None:
        dim = 1 if "Transpose" in type(module).__name__ else 0
    return register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps)
    )


class _Orthogonal(Module):
    """Columns (or rows, of a wide matrix) that are orthonormal, by the Cayley map of a skew
    matrix."""

    def __init__(self, weight):
        super().__init__()
        rows, columns = weight.shape[-2:]
        self.wide = rows < columns
        self.register_buffer("base", self._closest(weight.detach()))

    def _closest(self, weight):
        """An orthogonal start, by Newton and Schulz' iteration on the scaled matrix."""
        x = ops.transpose(weight, -2, -1) if self.wide else weight
        x = x / ops.sqrt(ops.sum(x * x, [-2, -1], True))
        for _ in range(60):
            x = 1.5 * x - 0.5 * ops.matmul(x, ops.matmul(ops.transpose(x, -2, -1), x))
        return x

    def forward(self, weight):
        x = ops.transpose(weight, -2, -1) if self.wide else weight
        n, k = int(x.shape[-2]), int(x.shape[-1])
        lower = ops.tril(x, -1)
        if n != k:
            lower = ops.cat([lower, ops.zeros((*x.shape[:-1], n - k), dtype=x.dtype)], -1)
        skew = lower - ops.transpose(lower, -2, -1)
        eye = ops.eye(n, dtype=x.dtype, device=x.device)
        q = _lathe_linalg().solve(eye + 0.5 * skew, eye - 0.5 * skew)
        q = ops.matmul(q, self.base)
        return ops.transpose(q, -2, -1) if self.wide else q

    def right_inverse(self, value):
        self.base.copy_(self._closest(value))
        return ops.zeros_like(value)


def _lathe_linalg():
    from ... import linalg

    return linalg


@typed
def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """A weight whose columns (rows, where there are fewer) are orthonormal. All maps of PyTorch's
    reach them; this one is the Cayley map, around the closest orthogonal matrix to the weight."""
    weight = getattr(module, name)
    if weight.ndim < 2:
        raise _lathe.ShapeError(
            "only matrices can be orthogonal", op="orthogonal", got=list(weight.shape),
            expected="two axes or more", next="choose another parameter",
        )  # fmt: skip
    return register_parametrization(module, name, _Orthogonal(weight), unsafe=True)
