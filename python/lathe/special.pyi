"""The names of special. Printed by python/stubs/print_stubs.py."""

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

from . import Tensor

Number: TypeAlias = float | int | bool | complex
Ints: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = Any

DeviceLike: TypeAlias = Any

def airy_ai(x: Tensor, *, out: Any = None) -> Tensor:
    """Airy's function Ai."""

def bessel_j0(input: Tensor, *, out: Any = None) -> Tensor:
    """Bessel function of the first kind, order 0."""

def bessel_j1(input: Tensor, *, out: Any = None) -> Tensor:
    """Bessel function of the first kind, order 1."""

def bessel_y0(input: Tensor, *, out: Any = None) -> Tensor:
    """Bessel function of the second kind, order 0."""

def bessel_y1(input: Tensor, *, out: Any = None) -> Tensor:
    """Bessel function of the second kind, order 1."""

def chebyshev_polynomial_t(x: Tensor | Number, n: Tensor | Number, *, out: Any = None) -> Tensor:
    """Chebyshev polynomial of the first kind, degree n."""

def chebyshev_polynomial_u(x: Tensor | Number, n: Tensor | Number, *, out: Any = None) -> Tensor:
    """Chebyshev polynomial of the second kind, degree n."""

def chebyshev_polynomial_v(x: Tensor | Number, n: Tensor | Number, *, out: Any = None) -> Tensor:
    """Chebyshev polynomial of the third kind, degree n."""

def chebyshev_polynomial_w(x: Tensor | Number, n: Tensor | Number, *, out: Any = None) -> Tensor:
    """Chebyshev polynomial of the fourth kind, degree n."""

def digamma(input: Tensor, *, out: Any = None) -> Tensor:
    """Derivative of lgamma."""

def entr(input: Tensor, *, out: Any = None) -> Tensor:
    """-x log(x), 0 at 0 and -infinity below: entropy's summand."""

def erf(input: Tensor, *, out: Any = None) -> Tensor:
    """Error function."""

def erfc(input: Tensor, *, out: Any = None) -> Tensor:
    """1 - erf(x), accurate for large x."""

def erfcx(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(x^2) erfc(x), which does not underflow."""

def erfinv(input: Tensor, *, out: Any = None) -> Tensor:
    """Inverse of erf on (-1, 1)."""

def exp2(input: Tensor, *, out: Any = None) -> Tensor:
    """2 to the power x."""

def expit(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-x))."""

def expm1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(x) - 1, accurate near 0."""

def gammainc(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The lower incomplete gamma function P(input, other), regularised."""

def gammaincc(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The upper incomplete gamma function Q(input, other), regularised."""

def gammaln(input: Tensor, *, out: Any = None) -> Tensor:
    """log |gamma(x)|."""

def hermite_polynomial_h(x: Tensor | Number, n: Tensor | Number, *, out: Any = None) -> Tensor:
    """Hermite polynomial of the physicists, degree n up to 128; NaN above."""

def hermite_polynomial_he(x: Tensor | Number, n: Tensor | Number, *, out: Any = None) -> Tensor:
    """Hermite polynomial of probability, degree n up to 128; NaN above."""

def i0(input: Tensor, *, out: Any = None) -> Tensor:
    """Modified Bessel function of the first kind, order 0."""

def i0e(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(-|x|) i0(x)."""

def i1(input: Tensor, *, out: Any = None) -> Tensor:
    """Modified Bessel function of the first kind, order 1."""

def i1e(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(-|x|) i1(x)."""

def laguerre_polynomial_l(x: Tensor | Number, n: Tensor | Number, *, out: Any = None) -> Tensor:
    """Laguerre polynomial, degree n up to 128; NaN above."""

def legendre_polynomial_p(x: Tensor | Number, n: Tensor | Number, *, out: Any = None) -> Tensor:
    """Legendre polynomial, degree n up to 128; NaN above."""

def log1p(input: Tensor, *, out: Any = None) -> Tensor:
    """log(1 + x), accurate near 0."""

def log_ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """log(ndtr(x)), without underflow."""

@overload
def log_softmax(input: Tensor, dim: int, *, out: Any = None) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

@overload
def log_softmax(input: Tensor, dim: int, *, dtype: DTypeLike, out: Any = None) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

@overload
def log_softmax(input: Tensor, dim: int, dtype: DTypeLike, *, out: Any = None) -> Tensor:
    """log(softmax(x)) along dim, without overflow."""

def logit(input: Tensor, eps: float | None = None, *, out: Any = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; x is limited to [eps, 1 - eps] if eps is
    given.
    """

def logsumexp(input: Tensor, *dim: Ints, keepdim: bool = False, out: Any = None) -> Tensor:
    """log(sum(exp(x))), without overflow: the largest element is taken out first; of no
    elements -inf.
    """

def modified_bessel_i0(input: Tensor, *, out: Any = None) -> Tensor:
    """Modified Bessel function of the first kind, order 0."""

def modified_bessel_i1(input: Tensor, *, out: Any = None) -> Tensor:
    """Modified Bessel function of the first kind, order 1."""

def modified_bessel_k0(input: Tensor, *, out: Any = None) -> Tensor:
    """Modified Bessel function of the second kind, order 0."""

def modified_bessel_k1(input: Tensor, *, out: Any = None) -> Tensor:
    """Modified Bessel function of the second kind, order 1."""

def multigammaln(input: Tensor, p: int, *, out: Any = None) -> Tensor:
    """The logarithm of the gamma function of p variables."""

def ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """The normal distribution's area left of x."""

def ndtri(input: Tensor, *, out: Any = None) -> Tensor:
    """The x left of which the normal distribution has this area."""

def polygamma(n: int, input: Tensor, *, out: Any = None) -> Tensor:
    """The n-th derivative of digamma."""

def psi(input: Tensor, *, out: Any = None) -> Tensor:
    """Derivative of lgamma."""

@overload
def round(input: Tensor, *, out: Any = None) -> Tensor:
    """Nearest integer, ties to even."""

@overload
def round(input: Tensor, *, decimals: int, out: Any = None) -> Tensor:
    """Rounded to so many decimals, which may be negative; ties to even."""

def scaled_modified_bessel_k0(x: Tensor, *, out: Any = None) -> Tensor:
    """exp(x) times the modified Bessel function of the second kind, order 0."""

def scaled_modified_bessel_k1(x: Tensor, *, out: Any = None) -> Tensor:
    """exp(x) times the modified Bessel function of the second kind, order 1."""

def shifted_chebyshev_polynomial_t(
    x: Tensor | Number, n: Tensor | Number, *, out: Any = None
) -> Tensor:
    """The same of 2 x - 1."""

def shifted_chebyshev_polynomial_u(
    x: Tensor | Number, n: Tensor | Number, *, out: Any = None
) -> Tensor:
    """The same of 2 x - 1."""

def shifted_chebyshev_polynomial_v(
    x: Tensor | Number, n: Tensor | Number, *, out: Any = None
) -> Tensor:
    """The same of 2 x - 1."""

def shifted_chebyshev_polynomial_w(
    x: Tensor | Number, n: Tensor | Number, *, out: Any = None
) -> Tensor:
    """The same of 2 x - 1."""

def sinc(input: Tensor, *, out: Any = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

@overload
def softmax(input: Tensor, dim: int, *, out: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

@overload
def softmax(input: Tensor, dim: int, *, dtype: DTypeLike, out: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

@overload
def softmax(input: Tensor, dim: int, dtype: DTypeLike, *, out: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along dim, without overflow."""

def spherical_bessel_j0(x: Tensor, *, out: Any = None) -> Tensor:
    """Spherical Bessel function of order 0: sin(x) / x."""

def xlog1py(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """input * log(1 + other); 0 where input is 0."""

def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """input * log(other); 0 where input is 0."""

def zeta(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Tensor:
    """The sum over k from 0 of (other + k)^-input (Hurwitz)."""
