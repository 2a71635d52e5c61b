"""Factorisations by SciPy's LAPACK, in f64, where signs and pivots are part of the result."""

import numpy as np
from scipy import linalg
from scipy.linalg import lapack


def batched(function):
    """A function of matrices, of each of a batch of them; all operands have the batch's axes."""

    def over(x, *rest, **named):
        if x.ndim == 2:
            return function(x, *rest, **named)
        found = [function(*each, **named) for each in zip(x, *rest)]
        if isinstance(found[0], tuple):
            return tuple(np.stack(part) for part in zip(*found))
        return np.stack(found)

    return over


@batched
def lu_factor(a):
    lu, pivots, _ = lapack.dgetrf(a)
    return lu, pivots + 1


@batched
def lu_factor_ex(a):
    return *lu_factor(a), np.int32(0)


def lu_solve(lu, pivots, b, left=True, adjoint=False):
    """pivots name the rows from 1, and 0 none."""
    if lu.ndim > 2:
        return np.stack([lu_solve(*each, left, adjoint) for each in zip(lu, pivots, b)])
    n = len(lu)
    p = np.eye(n)
    for i, at in enumerate(pivots):
        if at > 0:
            p[[i, at - 1]] = p[[at - 1, i]]
    a = p.T @ (np.tril(lu, -1) + np.eye(n)) @ np.triu(lu)
    a = a.T if adjoint else a
    return np.linalg.solve(a, b) if left else np.linalg.solve(a.T, b.T).T


def lu_unpack(lu, pivots):
    rows, columns = lu.shape
    k = min(rows, columns)
    return np.eye(rows), np.tril(lu, -1)[:, :k] + np.eye(rows, k), np.triu(lu)[:k]


@batched
def ldl_factor(a):
    ld, pivots, _ = lapack.dsytrf(a, lower=1)
    return np.tril(ld), pivots


def ldl_factor_ex(a):
    return *ldl_factor(a), np.int32(0)


def ldl_solve(ld, pivots, b, hermitian=False):
    low = np.tril(ld, -1) + np.eye(len(ld))
    return np.linalg.solve(low @ np.diag(np.diag(ld)) @ low.T, b)


@batched
def householder(a, tau):
    m, n = a.shape
    q = np.eye(m)
    for i, t in enumerate(tau):
        v = np.concatenate([np.zeros(i), [1.0], a[i + 1 :, i]])
        q = q @ (np.eye(m) - t * np.outer(v, v))
    return q[:, :n]


def reflected(a, tau, other, left=True, transpose=False):
    m = len(a)
    q = householder(np.pad(a, ((0, 0), (0, m - a.shape[1]))), tau)
    q = q.T if transpose else q
    return q @ other if left else other @ q


def qr(a, mode="reduced"):
    return tuple(np.linalg.qr(a, mode))


def lined(parts):
    """What the driver does not give is empty, for all of a batch."""
    return np.stack(parts) if parts[0].size else parts[0]


def least_squares(a, b, rcond=None, driver="gelsy"):
    if a.ndim > 2:
        b = np.broadcast_to(b, (*a.shape[:-2], *b.shape[-2:]))
        x, residuals, rank, values = zip(
            *(least_squares(*each, rcond, driver) for each in zip(a, b))
        )
        return np.stack(x), lined(residuals), lined(rank), lined(values)
    x, _, rank, values = np.linalg.lstsq(a, b, rcond)
    tall, with_values = len(a) > a.shape[1], driver in ("gelsd", "gelss")
    residuals = ((b - a @ x) ** 2).sum(0) if tall and driver != "gelsy" else np.zeros(0)
    ranked = driver != "gels"
    return (
        x,
        residuals,
        np.array(rank) if ranked else np.zeros(0, np.int64),
        values if with_values else np.zeros(0),
    )


def triangular_solve(b, a, upper=True, transpose=False):
    half = np.triu(a) if upper else np.tril(a)
    return np.linalg.solve(half.T if transpose else half, b), a


REFERENCES = {
    "linalg_lu_factor_ex": lu_factor_ex, "linalg_lu_factor": lu_factor, "lu": lu_factor,
    "lu.infos": lambda a, pivot, infos: lu_factor_ex(a),
    "lu_unpack": lu_unpack, "linalg_lu_solve": lu_solve,
    "lu_solve": lambda b, lu, pivots: lu_solve(lu, pivots, b),
    "linalg_ldl_factor_ex": ldl_factor_ex, "linalg_ldl_factor": ldl_factor,
    "linalg_ldl_solve_matrices": ldl_solve, "linalg_ldl_solve": ldl_solve,
    "linalg_cholesky_ex": lambda a: (np.linalg.cholesky(a), np.int32(0)),
    "linalg_qr": qr, "qr": qr, "geqrf": lambda a: lapack.dgeqrf(a)[:2],
    "linalg_householder_product": householder, "orgqr": householder,
    "linalg_reflect": reflected, "ormqr": reflected,
    "linalg_least_squares": least_squares, "linalg_lstsq": least_squares,
    "linalg_pinv_of": lambda a, value: value,
    "linalg_pinv.rcond": lambda a, rcond: np.linalg.pinv(a, rcond),
    "linalg_matrix_rank.tol": lambda a, tol: np.linalg.matrix_rank(a, tol),
    "linalg_off_singular": lambda a: a,
    "linalg_solve_matrices": lambda a, b, check_errors: (
        np.linalg.solve(a, b), np.zeros(len(a), np.int32)
    ),
    "triangular_solve": triangular_solve, "linalg_phase_free": lambda x, turn: x,
    "linalg_svd_parts": lambda a, full: tuple(np.linalg.svd(a, full)),
    "linalg_svd": lambda a, full_matrices: tuple(np.linalg.svd(a, full_matrices)),
    "svd": lambda a: (lambda u, s, v: (u, s, v.T))(*np.linalg.svd(a, False)),
    "linalg_eigh": lambda a: tuple(np.linalg.eigh(a)),
    "linalg_eig": lambda a: tuple(np.linalg.eig(a)),
    "linalg_eigvals": linalg.eigvals,
}  # fmt: skip
