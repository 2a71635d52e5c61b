"""Normal vectors of a covariance of low rank, and random matrices: covariances and correlations."""

import math

from .. import _lathe, ops
from .._dtypes import finfo
from .._grad_mode import no_grad
from . import constraints
from .combined import _below
from .distribution import LOG_2PI, Distribution, ExponentialFamily, broadcast, require
from .gammas import Beta, standard_gamma


def _diagonal_sum(matrix):
    return ops.sum(ops.diagonal(matrix, 0, -2, -1), [-1])


def _transposed(matrix):
    return ops.transpose(matrix, -1, -2)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of covariance cov_factor @ cov_factor.T + diag(cov_diag). What is inverted has
    as many rows as cov_factor has columns."""

    has_rsample = True
    support = constraints.real_vector
    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    _expanded = ("loc", "cov_factor", "cov_diag", "_inner")

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        fits = loc.ndim >= 1 and cov_factor.ndim >= 2 and cov_diag.ndim >= 1
        if not fits or not loc.shape[-1] == cov_factor.shape[-2] == cov_diag.shape[-1]:
            raise _lathe.ValueError(
                "the parameters are of different sizes", op="LowRankMultivariateNormal",
                got=f"{list(loc.shape)}, {list(cov_factor.shape)} and {list(cov_diag.shape)}",
                expected="[..., n], [..., n, m] and [..., n]", next="check the shapes",
            )  # fmt: skip
        batch = (loc[..., 0] + cov_factor[..., 0, 0] + cov_diag[..., 0]).shape
        n, rank = cov_factor.shape[-2:]
        self.loc = ops.expand(loc, [*batch, n])
        self.cov_factor = ops.expand(cov_factor, [*batch, n, rank])
        self.cov_diag = ops.expand(cov_diag, [*batch, n])
        from .. import linalg

        eye = ops.eye(int(rank), dtype=cov_factor.dtype, device=cov_factor.device)
        inner = eye + ops.matmul(self._scaled(), self.cov_factor)
        self._inner = linalg.cholesky(inner)
        super().__init__(batch, (n,), validate_args)

    def _scaled(self):
        """cov_factor.T over cov_diag."""
        return _transposed(self.cov_factor) / ops.unsqueeze(self.cov_diag, -2)

    def rsample(self, sample_shape=()):
        kind = {"dtype": self.loc.dtype, "device": self.loc.device}
        sizes = self._shaped(sample_shape)
        few = ops.randn([*sizes[:-1], self.cov_factor.shape[-1], 1], **kind)
        own = ops.randn(sizes, **kind)
        common = ops.squeeze(ops.matmul(self.cov_factor, few), [-1])
        return self.loc + common + ops.sqrt(self.cov_diag) * own

    def _half_log_det(self):
        inner = ops.sum(ops.log(ops.diagonal(self._inner, 0, -2, -1)), [-1])
        return inner + 0.5 * ops.sum(ops.log(self.cov_diag), [-1])

    def _distance(self, x, rows=False):
        """x^T C^-1 x of the covariance C (Woodbury 1950); rows: of each row of x."""
        scaled, diag, inner = self._scaled(), self.cov_diag, self._inner
        if rows:
            scaled, diag, inner = _apart(scaled, 2), _apart(diag, 1), _apart(inner, 2)
        along = ops.squeeze(ops.matmul(scaled, ops.unsqueeze(x, -1)), [-1])
        less = ops.sum(ops.square(_below(inner, along)), [-1])
        return ops.sum(ops.square(x) / diag, [-1]) - less

    def _root(self):
        """A matrix R with R @ R.T the covariance."""
        return ops.cat([self.cov_factor, ops.diag_embed(ops.sqrt(self.cov_diag))], -1)

    def _log_prob(self, value):
        n = int(self.event_shape[0])
        return -0.5 * (n * LOG_2PI + self._distance(value - self.loc)) - self._half_log_det()

    def entropy(self):
        return 0.5 * int(self.event_shape[0]) * (1 + LOG_2PI) + self._half_log_det()

    mean = property(lambda self: self.loc)  # not an op: a name
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        return ops.sum(ops.square(self.cov_factor), [-1]) + self.cov_diag

    @property
    def covariance_matrix(self):
        common = ops.matmul(self.cov_factor, _transposed(self.cov_factor))
        return common + ops.diag_embed(self.cov_diag)

    @property
    def precision_matrix(self):
        part = _transposed(_below(_apart(self._inner, 2), _transposed(self._scaled())))
        return ops.diag_embed(1 / self.cov_diag) - ops.matmul(_transposed(part), part)

    @property
    def scale_tril(self):
        from .. import linalg

        root = ops.unsqueeze(ops.sqrt(self.cov_diag), -1)
        inside = self.cov_factor / root
        n = int(self.event_shape[0])
        eye = ops.eye(n, dtype=inside.dtype, device=inside.device)
        return root * linalg.cholesky(ops.matmul(inside, _transposed(inside)) + eye)


def _apart(parameter, axes):
    """A parameter of values with so many axes, for several values of each distribution."""
    return ops.unsqueeze(parameter, -1 - axes)


class Wishart(ExponentialFamily):
    """Random covariances: the sum of df products x @ x.T of normal vectors, where df is whole."""

    has_rsample = True
    support = constraints.positive_definite
    arg_constraints = {"scale_tril": constraints.lower_cholesky}
    _expanded = ("df", "scale_tril")

    def __init__(
        self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None,
        validate_args=None,
    ):  # fmt: skip
        three = {
            "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }  # fmt: skip
        given = {n: m for n, m in three.items() if m is not None}
        if len(given) != 1 or next(iter(given.values())).ndim < 2:
            raise _lathe.ValueError(
                "a Wishart distribution needs one matrix", op="Wishart",
                got=f"{len(given)} matrices", next="give one of them",
                expected="covariance_matrix, precision_matrix or scale_tril of 2 axes or more",
            )  # fmt: skip
        ((self._given, matrix),) = given.items()
        if self._given != "scale_tril":
            from .. import linalg

            if self._given == "precision_matrix":
                matrix = linalg.inv(matrix)
            matrix = linalg.cholesky(matrix)
        df, _ = broadcast(df, matrix[..., 0, 0])
        self.df, n = df, int(matrix.shape[-1])
        self.scale_tril = ops.expand(matrix, [*df.shape, n, n])
        require("Wishart", "df", df > n - 1, f"df > {n - 1}, one less than there are rows")
        super().__init__(df.shape, (n, n), validate_args)

    def _names(self):
        return ["df", self._given]

    @property
    def covariance_matrix(self):
        return ops.matmul(self.scale_tril, _transposed(self.scale_tril))

    @property
    def precision_matrix(self):
        from .. import linalg

        return linalg.inv(self.covariance_matrix)

    def _less(self):
        """df, one less for each row."""
        n = int(self.event_shape[0])
        rows = ops.arange(n, dtype=self.df.dtype, device=self.df.device)
        return ops.unsqueeze(self.df, -1) - rows

    def rsample(self, sample_shape=()):
        """By a triangular root of chi and normal numbers (Bartlett 1933)."""
        sizes = self._shaped(sample_shape)
        chi2 = 2 * standard_gamma(ops.expand(self._less() / 2, sizes[:-1]))
        noise = ops.tril(ops.randn(sizes, dtype=self.df.dtype, device=self.df.device), -1)
        root = ops.matmul(self.scale_tril, noise + ops.diag_embed(ops.sqrt(chi2)))
        return ops.matmul(root, _transposed(root))

    def _half_log_det(self):
        n = int(self.event_shape[0])
        logs = ops.sum(ops.log(ops.diagonal(self.scale_tril, 0, -2, -1)), [-1])
        return n * math.log(2) / 2 + logs

    def _log_prob(self, value):
        df, n = self.df, int(self.event_shape[0])
        log_det = ops.slogdet(value)[1]
        lower = _apart(self.scale_tril, 2)
        inside = _below(lower, _transposed(_below(lower, value)))
        norm = df * self._half_log_det() + ops.mvlgamma(df / 2, n)
        return (df - n - 1) / 2 * log_det - 0.5 * _diagonal_sum(inside) - norm

    def entropy(self):
        df, n = self.df, int(self.event_shape[0])
        spread = ops.sum(ops.digamma(self._less() / 2), [-1])
        found = (n + 1) * self._half_log_det() + ops.mvlgamma(df / 2, n)
        return found - (df - n - 1) / 2 * spread + df * n / 2

    def _times(self, factor):
        return ops.unsqueeze(ops.unsqueeze(factor, -1), -1)

    @property
    def mean(self):
        return self._times(self.df) * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - int(self.event_shape[0]) - 1
        factor = ops.where(factor > 0, factor, ops.full_like(factor, math.nan))
        return self._times(factor) * self.covariance_matrix

    @property
    def variance(self):
        covariance = self.covariance_matrix
        diag = ops.diagonal(covariance, 0, -2, -1)
        both = ops.unsqueeze(diag, -1) * ops.unsqueeze(diag, -2)
        return self._times(self.df) * (ops.square(covariance) + both)


class LKJCholesky(Distribution):
    """Triangular roots L of correlation matrices L @ L.T, whose density is the determinant of these
    to the power of concentration - 1 (Lewandowski, Kurowicka and Joe 2009)."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _expanded = ("concentration",)

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise _lathe.ValueError(
                "a correlation is of two numbers or more", op="LKJCholesky", got=f"dim={dim}",
                expected="dim of 2 or more", next="give the number of rows",
            )  # fmt: skip
        self.dim = dim
        (self.concentration,) = broadcast(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def sample(self, sample_shape=()):
        """Row after row: a direction, and how much of the row is not on the diagonal."""
        with no_grad():
            kind = {"dtype": self.concentration.dtype, "device": self.concentration.device}
            before = 0.5 * ops.clamp_min(ops.arange(self.dim, **kind) - 1, 0)
            wide = ops.unsqueeze(self.concentration + 0.5 * (self.dim - 2), -1)
            shares = Beta(before + 0.5, wide - before, False).sample(sample_shape)
            noise = ops.tril(ops.randn(self._shaped(sample_shape), **kind), -1)
            length = ops.sqrt(ops.sum(ops.square(noise), [-1], True))
            length = ops.where(ops.eq(length, 0), ops.ones_like(length), length)
            rows = ops.sqrt(ops.unsqueeze(shares, -1)) * noise / length
            left = 1 - ops.sum(ops.square(rows), [-1])
            return rows + ops.diag_embed(ops.sqrt(ops.clamp_min(left, finfo(left.dtype).tiny)))

    def _log_prob(self, value):
        n, c = self.dim, self.concentration
        numbers = ops.arange(2, n + 1, dtype=c.dtype, device=c.device)
        order = ops.unsqueeze(2 * (c - 1), -1) + n - numbers
        logs = ops.log(ops.diagonal(value, 0, -2, -1)[..., 1:])
        wide = c + 0.5 * (n - 1)
        norm = 0.5 * (n - 1) * math.log(math.pi) + ops.mvlgamma(wide - 0.5, n - 1)
        return ops.sum(order * logs, [-1]) - norm + (n - 1) * ops.lgamma(wide)
