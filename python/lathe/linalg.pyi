"""The names of linalg. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

from . import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

class _linalg_inv_ex(tuple[Tensor, ...]):
    @property
    def inverse(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_slogdet(tuple[Tensor, ...]):
    @property
    def sign(self) -> Tensor: ...
    @property
    def logabsdet(self) -> Tensor: ...

class _linalg_solve_ex(tuple[Tensor, ...]):
    @property
    def result(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_lu_factor_ex(tuple[Tensor, ...]):
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_lu_factor(tuple[Tensor, ...]):
    @property
    def LU(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...

class _linalg_lu(tuple[Tensor, ...]):
    @property
    def P(self) -> Tensor: ...
    @property
    def L(self) -> Tensor: ...
    @property
    def U(self) -> Tensor: ...

class _linalg_ldl_factor_ex(tuple[Tensor, ...]):
    @property
    def LD(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_ldl_factor(tuple[Tensor, ...]):
    @property
    def LD(self) -> Tensor: ...
    @property
    def pivots(self) -> Tensor: ...

class _linalg_cholesky_ex(tuple[Tensor, ...]):
    @property
    def L(self) -> Tensor: ...
    @property
    def info(self) -> Tensor: ...

class _linalg_qr(tuple[Tensor, ...]):
    @property
    def Q(self) -> Tensor: ...
    @property
    def R(self) -> Tensor: ...

class _linalg_lstsq(tuple[Tensor, ...]):
    @property
    def solution(self) -> Tensor: ...
    @property
    def residuals(self) -> Tensor: ...
    @property
    def rank(self) -> Tensor: ...
    @property
    def singular_values(self) -> Tensor: ...

class _linalg_svd(tuple[Tensor, ...]):
    @property
    def U(self) -> Tensor: ...
    @property
    def S(self) -> Tensor: ...
    @property
    def Vh(self) -> Tensor: ...

class _linalg_eigh(tuple[Tensor, ...]):
    @property
    def eigenvalues(self) -> Tensor: ...
    @property
    def eigenvectors(self) -> Tensor: ...

class _linalg_eig(tuple[Tensor, ...]):
    @property
    def eigenvalues(self) -> Tensor: ...
    @property
    def eigenvectors(self) -> Tensor: ...

def cholesky(input: Tensor, *, upper: bool = False, out: Any = None) -> Tensor:
    """L of A = L L^H (U of U^H U if upper); a LinAlgError if a matrix is not positive-
    definite. Only that triangle is read.
    """

def cholesky_ex(
    input: Tensor, *, upper: bool = False, check_errors: bool = False, out: Any = None
) -> _linalg_cholesky_ex:
    """L of A = L L^H (U of U^H U if upper) of a Hermitian positive-definite matrix, of
    which only that triangle is read; and 0, or the order of the leading minor that is not
    positive. The derivative is that of a Hermitian matrix.
    """

@overload
def cond(input: Tensor, p: Number | None = None, *, out: Any = None) -> Tensor:
    """|A| |A^-1| in this norm of matrices; None: the largest singular value by the least."""

@overload
def cond(input: Tensor, p: str, *, out: Any = None) -> Tensor:
    """|A| |A^-1| in this norm of matrices; None: the largest singular value by the least."""

def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """The vector at right angles to both, along dim."""

def det(A: Tensor, *, out: Any = None) -> Tensor:
    """The determinant of each matrix."""

def diagonal(
    A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1, out: Any = None
) -> Tensor:
    """The diagonal of the last two axes as a new last axis; a view."""

def eig(input: Tensor, *, out: Any = None) -> _linalg_eig:
    """Eigenvalues and eigenvectors, as columns of length 1, of a square matrix; complex, in
    no order.
    """

def eigh(input: Tensor, UPLO: str = "L", *, out: Any = None) -> _linalg_eigh:
    """Ascending eigenvalues and eigenvectors, as columns, of a Hermitian matrix, of which
    only the lower ('U': upper) triangle is read. The derivative is that of a Hermitian
    matrix.
    """

def eigvals(input: Tensor, *, out: Any = None) -> Tensor:
    """Eigenvalues of a square matrix; complex, in no order."""

def eigvalsh(input: Tensor, UPLO: str = "L", *, out: Any = None) -> Tensor:
    """Ascending eigenvalues of a Hermitian matrix; see linalg.eigh."""

def householder_product(input: Tensor, tau: Tensor, *, out: Any = None) -> Tensor:
    """The first columns of the product of reflections that geqrf() gives."""

def inv(A: Tensor, *, out: Any = None) -> Tensor:
    """The inverse of each matrix; a LinAlgError if one has none."""

def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> _linalg_inv_ex:
    """The inverse of each matrix, and 0, or which pivot was 0; that inverse is NaN."""

def ldl_factor(input: Tensor, *, hermitian: bool = False, out: Any = None) -> _linalg_ldl_factor:
    """L and D in one matrix of A = L D L^T (L^H if hermitian), and pivots."""

def ldl_factor_ex(
    input: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Any = None
) -> _linalg_ldl_factor_ex:
    """L and D in one matrix of A = L D L^T (L^H if hermitian), of which only the lower
    triangle is read; LAPACK's pivots, and 0, or which element of D is 0.
    """

def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Any = None
) -> Tensor:
    """X of A X = B, of A's ldl_factor()."""

def lstsq(
    input: Tensor,
    b: Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
    out: Any = None,
) -> _linalg_lstsq:
    """X that makes |A X - B| least. Drivers: 'gelsy' (the default), 'gels' for full rank,
    'gelsd' and 'gelss' by singular values. Empty: what the driver does not give; residuals
    are those of more rows than columns, and by singular values of full rank in all
    matrices.
    """

def lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> _linalg_lu:
    """P, L and U of A = P L U, by swapping rows for the largest pivot."""

def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> _linalg_lu_factor:
    """L (below the diagonal, which is 1) and U in one matrix, and the pivots."""

def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Any = None
) -> _linalg_lu_factor_ex:
    """L (below the diagonal, which is 1) and U in one matrix, the row that each row was
    swapped with, from 1, and 0, or which pivot was 0. The derivative takes the pivots as
    fixed.
    """

def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Any = None,
) -> Tensor:
    """X of A X = B (X A = B if not left; A^H for A if adjoint), of A's lu_factor()."""

def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Matrix product; a 1-d operand is a row on the left and a column on the right."""

def matrix_exp(input: Tensor, *, out: Any = None) -> Tensor:
    """The exponential of each matrix, by scaling and squaring."""

@overload
def matrix_norm(
    input: Tensor,
    ord: str = "fro",
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """'fro': of the elements as a vector; 'nuc': the sum of the singular values; 2, -2: the
    largest, the least of them; 1, -1: of the columns' sums of moduli; inf, -inf: of the
    rows'.
    """

@overload
def matrix_norm(
    input: Tensor,
    ord: Number,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """'fro': of the elements as a vector; 'nuc': the sum of the singular values; 2, -2: the
    largest, the least of them; 1, -1: of the columns' sums of moduli; inf, -inf: of the
    rows'.
    """

def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Tensor:
    """The product of n factors A; of the inverse for a negative n."""

@overload
def matrix_rank(
    input: Tensor,
    *,
    atol: Tensor | Number | None = None,
    rtol: Tensor | Number | None = None,
    hermitian: bool = False,
    out: Any = None,
) -> Tensor:
    """How many singular values (hermitian: eigenvalues) are larger than atol and rtol times
    the largest. rtol: eps max(m, n), or 0 where atol is positive.
    """

@overload
def matrix_rank(
    input: Tensor, tol: Tensor | Number, hermitian: bool = False, *, out: Any = None
) -> Tensor:
    """How many singular values (hermitian: eigenvalues) are larger than atol and rtol times
    the largest. rtol: eps max(m, n), or 0 where atol is positive.
    """

def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The product of all, in the order that takes the fewest multiplications."""

@overload
def norm(
    input: Tensor,
    ord: Number | None = None,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """linalg.matrix_norm of the two axes dim, linalg.vector_norm of one; without ord the
    norm of the elements over dim, or over everything, as a vector.
    """

@overload
def norm(
    input: Tensor,
    ord: str,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """linalg.matrix_norm of the two axes dim, linalg.vector_norm of one; without ord the
    norm of the elements over dim, or over everything, as a vector.
    """

@overload
def pinv(
    input: Tensor,
    *,
    atol: Tensor | Number | None = None,
    rtol: Tensor | Number | None = None,
    hermitian: bool = False,
    out: Any = None,
) -> Tensor:
    """The pseudoinverse, by the singular values (hermitian: eigenvalues) that are larger
    than atol and rtol times the largest. rtol: eps max(m, n), or 0 where atol is positive.
    """

@overload
def pinv(
    input: Tensor, rcond: Tensor | Number, hermitian: bool = False, *, out: Any = None
) -> Tensor:
    """The pseudoinverse, by the singular values (hermitian: eigenvalues) that are larger
    than atol and rtol times the largest. rtol: eps max(m, n), or 0 where atol is positive.
    """

def qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> _linalg_qr:
    """Q and R of A = Q R. Mode 'reduced': min(m, n) columns of Q; 'complete': all; 'r':
    only R.
    """

def slogdet(A: Tensor, *, out: Any = None) -> _linalg_slogdet:
    """The sign of the determinant (of a complex one, a number of modulus 1), and the
    logarithm of its modulus.
    """

def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Any = None) -> Tensor:
    """X of A X = B (X A = B if not left); a LinAlgError if an A is singular."""

def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Any = None
) -> _linalg_solve_ex:
    """X of A X = B (X A = B if not left), and 0, or which pivot was 0; that X is NaN."""

def solve_triangular(
    input: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Any = None,
) -> Tensor:
    """X of A X = B (X A = B if not left), of A only the upper (lower) triangle; with
    unitriangular its diagonal counts as 1. A singular A gives infinities.
    """

def svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Any = None
) -> _linalg_svd:
    """U, S and Vh of A = U diag(S) Vh, the singular values descending. full_matrices: all
    columns of U and rows of Vh, which the derivative takes as having no use.
    """

def svdvals(A: Tensor, *, driver: str | None = None, out: Any = None) -> Tensor:
    """The singular values of each matrix, descending."""

def tensorinv(input: Tensor, ind: int = 2, *, out: Any = None) -> Tensor:
    """The inverse of the map that tensordot(A, x, ind) is."""

def tensorsolve(input: Tensor, other: Tensor, *dims: Ints, out: Any = None) -> Tensor:
    """X of tensordot(A, X) = B over all axes of X; dims: axes of A to be put last."""

def vander(x: Tensor, *, N: int | None = None, out: Any = None) -> Tensor:
    """Powers of each element as a row, from 1 on."""

def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Any = None) -> Tensor:
    """Sums along dim of the products of x, conjugated if it is complex, and y."""

def vector_norm(
    input: Tensor,
    ord: Number = 2,
    *dim: Ints,
    keepdim: bool = False,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Tensor:
    """(sum |x|^ord)^(1/ord) over dim, or over everything; the limits for inf and -inf, for
    0 how many elements are not 0.
    """
