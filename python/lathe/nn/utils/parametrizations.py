"""The parametrizations that there are: weight norm, spectral norm, orthogonal matrices."""

from ... import _lathe, ops
from ..._dtypes import finfo
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


_EXPONENTIAL = "matrix_exp"  # not an op: the name of a map
_MAPS = (_EXPONENTIAL, "cayley", "householder")


class _Orthogonal(Module):
    """Columns (rows, of a wide matrix) that are orthonormal, by one of _MAPS of the matrix below
    its diagonal. With a base the map's result turns the base, so that training begins there. What
    is kept, and what it means, is as in PyTorch: its files hold the same weights here."""

    def __init__(self, weight, name, use_trivialization):
        super().__init__()
        self.shape, self.name = tuple(weight.shape), name
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, weight):
        wide = weight.shape[-2] < weight.shape[-1]
        x = weight.mT if wide else weight
        q = _by_reflections(x) if self.name == "householder" else _by_skew_matrix(x, self.name)
        if hasattr(self, "base"):
            q = ops.matmul(self.base, q)
        return q.mT if wide else q

    def right_inverse(self, value):
        if tuple(value.shape) != self.shape:
            raise _lathe.ShapeError(
                "a weight of another shape is assigned", op="orthogonal", got=list(value.shape),
                expected=list(self.shape), next="assign one of the shape that it had",
            )  # fmt: skip
        wide = value.shape[-2] < value.shape[-1]
        q = value.mT if wide else value
        if not hasattr(self, "base"):
            found = self._before_the_map(q)
            return found.mT if wide else found
        n, k = q.shape[-2:]
        if n != k:
            more = ops.randn(*q.shape[:-1], n - k, dtype=q.dtype, device=q.device)
            q = ops.cat([q, more], -1)
        self.base = q.clone() if n == k and _is_orthogonal(q) else _nearby_orthogonal(q)
        start = ops.zeros_like(value)  # of which each map makes the unit matrix
        start.diagonal(0, -2, -1).fill_(-1)
        return start

    def _before_the_map(self, q):
        if self.name != "householder":
            raise _lathe.UnsupportedError(
                "a weight cannot be assigned: nothing says what the map would make it of",
                op="orthogonal", got=f"orthogonal_map={self.name!r}, use_trivialization=False",
                expected="use_trivialization=True, or orthogonal_map='householder'",
                next="assign to parametrizations.weight.original, which the map reads",
            )  # fmt: skip
        a, tau = ops.geqrf(q)
        diagonal = a.diagonal(0, -2, -1)
        signs = ops.sgn(diagonal)
        diagonal.copy_(ops.where(tau == 0, -signs, signs))
        return a


def _by_skew_matrix(x, name):
    n, k = x.shape[-2:]
    x = ops.tril(x)
    if n != k:
        zeros = ops.zeros(*x.shape[:-1], n - k, dtype=x.dtype, device=x.device)
        x = ops.cat([x, zeros], -1)
    skew = x - x.mH
    if name == _EXPONENTIAL:
        q = ops.linalg_matrix_exp(skew)
    else:
        unit_matrix = ops.eye(n, dtype=x.dtype, device=x.device)
        q = ops.linalg_solve(unit_matrix - 0.5 * skew, unit_matrix + 0.5 * skew)
    return q if n == k else q[..., :k]


def _by_reflections(x):
    lower = ops.tril(x, -1)
    tau = 2 / (1 + ops.sum(lower * lower, -2))
    q = ops.linalg_householder_product(lower, tau)
    return q * ops.unsqueeze(ops.trunc(x.diagonal(0, -2, -1)), -2)


def _is_orthogonal(q):
    n = q.shape[-1]
    off = ops.matmul(q.mH, q) - ops.eye(n, dtype=q.dtype, device=q.device)
    return bool(ops.all(ops.abs(off) <= 10 * n * finfo(q.dtype).eps))


def _nearby_orthogonal(a):
    x, tau = ops.geqrf(a)
    return ops.linalg_householder_product(x, tau) * ops.unsqueeze(
        ops.sgn(x.diagonal(0, -2, -1)), -2
    )


@typed
def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """A weight whose columns (rows, where there are fewer) are orthonormal.

    orthogonal_map: "matrix_exp", "cayley" or "householder"; the default is matrix_exp for square
    and complex matrices, else householder. use_trivialization: train from the orthogonal matrix
    next to the weight, which is kept beside it as a buffer.
    """
    weight = getattr(module, name)
    if weight.ndim < 2:
        raise _lathe.ShapeError(
            "only matrices can be orthogonal", op="orthogonal", got=list(weight.shape),
            expected="two axes or more", next="choose another parameter",
        )  # fmt: skip
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = _EXPONENTIAL if square or weight.dtype.is_complex else "householder"
    if orthogonal_map not in _MAPS or orthogonal_map == "householder" and weight.dtype.is_complex:
        raise _lathe.ValueError(
            "there is no such map", op="orthogonal", got=repr(orthogonal_map),
            expected=f"one of {', '.join(_MAPS)}; of complex matrices one of the first two",
            next="leave it out for the one that fits",
        )  # fmt: skip
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
