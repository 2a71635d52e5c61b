"""Transforms of numbers to triangular and positive-definite matrices."""

import math

from .. import _lathe, ops
from .._dtypes import finfo
from . import constraints
from .transforms import _Plain, add_up


def _diagonal(matrix):
    return ops.diagonal(matrix, 0, -2, -1)


class LowerCholeskyTransform(_Plain):
    """Any matrix as a lower triangular one with a positive diagonal."""

    event_dim = 2
    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return ops.tril(x, -1) + ops.diag_embed(ops.exp(_diagonal(x)))

    def _inverse(self, y):
        return ops.tril(y, -1) + ops.diag_embed(ops.log(_diagonal(y)))


class PositiveDefiniteTransform(_Plain):
    """Any matrix as a positive-definite one."""

    event_dim = 2
    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x):
        lower = LowerCholeskyTransform()(x)
        return ops.matmul(lower, ops.transpose(lower, -1, -2))

    def _inverse(self, y):
        from .. import linalg

        return LowerCholeskyTransform().inv(linalg.cholesky(y))


def _shifted(left):
    """1 before all but the last of each row."""
    return ops.cat([ops.ones_like(left[..., :1]), left[..., :-1]], -1)


def _below(matrix, first=1):
    """What is below the diagonal, or further below, row after row."""
    return ops.cat([matrix[..., i, : i - first + 1] for i in range(first, matrix.shape[-1])], -1)


class CorrCholeskyTransform(_Plain):
    """n * (n - 1) / 2 numbers as the triangular root of a correlation matrix of n rows: each row
    breaks a stick of length 1, with signs."""

    bijective = True
    event_dim = 1
    _out_dim = 2
    domain, codomain = constraints.real_vector, constraints.corr_cholesky

    def _rows(self, count):
        rows = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if rows * (rows - 1) // 2 != count:
            raise _lathe.ShapeError(
                "so many numbers do not fill the rows below a diagonal",
                op="CorrCholeskyTransform", got=count, expected="1, 3, 6, 10, ... numbers",
                next="give n * (n - 1) / 2 numbers for n rows",
            )  # fmt: skip
        return rows

    def _call(self, x):
        limit = 1 - finfo(x.dtype).eps
        x = ops.clamp(ops.tanh(x), -limit, limit)
        n = self._rows(int(x.shape[-1]))
        zeros = ops.zeros((*x.shape[:-1], n), dtype=x.dtype, device=x.device)
        starts = [i * (i - 1) // 2 for i in range(n)]
        rows = [ops.cat([x[..., s : s + i], zeros[..., i:]], -1) for i, s in enumerate(starts)]
        inside = ops.stack(rows, -2)
        left = ops.cumprod(ops.sqrt(1 - ops.square(inside)), -1)
        eye = ops.eye(n, dtype=x.dtype, device=x.device)
        return (inside + eye) * _shifted(left)

    def _inverse(self, y):
        left = 1 - ops.cumsum(ops.square(y), -1)
        return ops.atanh(_below(y) / ops.sqrt(_below(_shifted(left))))

    def log_abs_det_jacobian(self, x, y):
        """Of the numbers below the diagonal by x."""
        tanh = 2 * (math.log(2.0) - x - ops.softplus(-2 * x))
        found = add_up(tanh, 1)
        if int(y.shape[-1]) > 2:
            left = 1 - ops.cumsum(ops.square(y), -1)
            found = found + 0.5 * add_up(ops.log(_below(left, 2)), 1)
        return found

    def forward_shape(self, shape):
        rows = self._rows(int(shape[-1]))
        return (*shape[:-1], rows, rows)

    def inverse_shape(self, shape):
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)
