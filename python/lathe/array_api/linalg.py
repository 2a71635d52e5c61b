"""The standard's extension `linalg`."""

from collections import namedtuple

import lathe as lt

from ._dtypes import together
from ._elementwise import named
from ._reductions import axes_of, wide
from ._search import matmul, tensordot, vecdot
from ._shape import matrix_transpose

__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul",
           "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
           "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot",
           "vector_norm"]  # fmt: skip

Eigh = namedtuple("EighResult", "eigenvalues eigenvectors")
QR = namedtuple("QRResult", "Q R")
Slogdet = namedtuple("SlogdetResult", "sign logabsdet")
SVD = namedtuple("SVDResult", "U S Vh")


def of_a_matrix(name):
    return named(name, lambda x, /: getattr(lt.linalg, name)(x))


det = of_a_matrix("det")
eigvalsh = of_a_matrix("eigvalsh")
inv = of_a_matrix("inv")
svdvals = of_a_matrix("svdvals")


def cholesky(x, /, *, upper=False):
    return lt.linalg.cholesky(x, upper=upper)


def cross(x1, x2, /, *, axis=-1):
    return lt.linalg.cross(*together(x1, x2), dim=axis)


def diagonal(x, /, *, offset=0):
    return lt.diagonal(x, offset, -2, -1)


def eigh(x, /):
    return Eigh(*lt.linalg.eigh(x))


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return lt.linalg.matrix_norm(x, ord, keepdim=keepdims)


def matrix_power(x, n, /):
    return lt.linalg.matrix_power(x, n)


def matrix_rank(x, /, *, rtol=None):
    return lt.linalg.matrix_rank(x, rtol=rtol)


def outer(x1, x2, /):
    return lt.outer(*together(x1, x2))


def pinv(x, /, *, rtol=None):
    return lt.linalg.pinv(x, rtol=rtol)


def qr(x, /, *, mode="reduced"):
    return QR(*lt.linalg.qr(x, mode))


def slogdet(x, /):
    return Slogdet(*lt.linalg.slogdet(x))


def solve(x1, x2, /):
    x1, x2 = together(x1, x2)
    if x2.ndim == 1:  # one vector for all matrices; anything else is matrices
        return lt.linalg.solve(x1, x2.unsqueeze(-1)).squeeze(-1)
    return lt.linalg.solve(x1, x2)


def svd(x, /, *, full_matrices=True):
    return SVD(*lt.linalg.svd(x, full_matrices))


def trace(x, /, *, offset=0, dtype=None):
    on_it = wide(lt.diagonal(x, offset, -2, -1), dtype)
    return on_it.sum(dim=-1, dtype=on_it.dtype)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    if axis == ():
        return x.abs()
    return lt.linalg.vector_norm(x, ord, axes_of(x, axis), keepdims)
