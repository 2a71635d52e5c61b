"""Linear algebra, Fourier transforms and windows in NumPy and SciPy; collected by references.py."""

import numpy as np
from scipy import fft, linalg, signal


def info_of(x):
    return np.zeros(x.shape[:-2], np.int32)


def batched(function):
    """SciPy's function of one matrix, of each of a batch."""

    def over(x, *rest, **named):
        flat = x.reshape(-1, *x.shape[-2:])
        results = np.stack([function(m, *rest, **named) for m in flat])
        return results.reshape(x.shape[:-2] + results.shape[1:])

    return over


def solve(a, b, left=True):
    if not left:
        return solve(a.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)
    if b.ndim == 1:
        return np.linalg.solve(a, b[:, None])[..., 0]
    return np.linalg.solve(a, b)


def triangular(a, b, upper, left=True, unitriangular=False):
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        a = a - np.eye(a.shape[-1]) * a + np.eye(a.shape[-1])
    return solve(a, b, left)


def cholesky_solve(b, factor, upper=False):
    factor = np.triu(factor).T if upper else np.tril(factor)
    return np.linalg.solve(factor @ factor.T, b)


def lu(a):
    return linalg.lu(a)


def slogdet(a):
    return tuple(np.linalg.slogdet(a))


def unpacked_svd(a, full_matrices=True):
    """Vectors are known up to a sign: not compared where they are results."""
    return np.linalg.svd(a, compute_uv=False)


def pinv(a, rcond=1e-15, **_):
    return np.linalg.pinv(a, rcond)


def matrix_norm(a, ord="fro", dim=(-2, -1), keepdim=False):
    return np.linalg.norm(a, ord, tuple(dim), keepdim)


def frobenius_norm(x, dim, keepdim=False):
    return np.sqrt(np.sum(x * x, tuple(dim) or None, keepdims=keepdim))


def vector_norm(x, ord=2, dim=None):
    return np.linalg.norm(x.ravel(), ord) if dim is None else np.linalg.norm(x, ord, dim[0])


def norm(x, ord=None, dim=None):
    return np.linalg.norm(x if ord is not None else x.ravel(), ord, dim and tuple(dim))


def tensorsolve(a, b, dims=None):
    return np.linalg.tensorsolve(a, b, dims and tuple(dims))


def vander(x, N=None, increasing=False):
    return np.vander(x, N, increasing)


def permutation(pivots, rows, inverse):
    def order(line):
        at = list(range(rows))
        for i, pivot in enumerate(line):
            if 1 <= pivot <= rows:
                at[i], at[pivot - 1] = at[pivot - 1], at[i]
        return np.argsort(at) if inverse else at

    return np.array([order(line) for line in pivots])


def along(name):
    function = getattr(fft, name)
    return lambda x, n=None, dim=-1, norm=None: function(x, n, dim, norm)


def boxed(name, axes=None):
    function = getattr(fft, name)
    return lambda x, s=None, dim=axes, norm=None: function(x, s, dim, norm)


def raw_c2c(x, dim, norm, forward):
    scale = np.prod([x.shape[d] for d in dim]) ** {0: 0.0, 1: -0.5, 2: -1.0}[norm]
    return (fft.fftn if forward else fft.ifftn)(
        x, axes=dim, norm="backward" if forward else "forward"
    ) * scale


def window(name, *made):
    """signal.get_window's under torch's order of arguments."""

    def of(length, periodic=True, *more):
        function = getattr(signal.windows, name)
        return function(length, *(more or made), sym=not periodic)

    return of


def symmetric(name, *order):
    def of(length, sym=True, **more):
        given = [more[key] for key in order if key in more]
        return getattr(signal.windows, name)(length, *given, sym=sym)

    return of


def hamming(length, periodic=True, alpha=0.54, beta=0.46):
    x = 2 * np.pi * np.arange(length) / (length if periodic else length - 1)
    return alpha - beta * np.cos(x)


def exponential(length, tau):
    return signal.windows.exponential(length, None, tau)


REFERENCES = {
    "linalg_inv_ex": lambda a: (np.linalg.inv(a), info_of(a)),
    "linalg_inv": np.linalg.inv,
    "inverse": np.linalg.inv,
    "linalg_det": np.linalg.det,
    "det": np.linalg.det,
    "linalg_slogdet": slogdet,
    "slogdet": slogdet,
    "logdet": lambda a: slogdet(a)[1],
    "linalg_solve_ex": lambda a, b: (
        solve(a, b),
        np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), np.int32),
    ),
    "linalg_solve": solve,
    "linalg_solve_triangular": triangular,
    "linalg_triangular": triangular,
    "linalg_lu": lu,
    "linalg_lu_permutation": permutation,
    "cholesky_solve": cholesky_solve,
    "cholesky_inverse": lambda x: np.linalg.inv(np.tril(x) @ np.tril(x).T),
    "linalg_cholesky": lambda a, upper=False: np.linalg.cholesky(a, upper=upper),
    "cholesky": np.linalg.cholesky,
    "linalg_svdvals": unpacked_svd,
    "linalg_svd_values": unpacked_svd,
    "linalg_eigvalsh": np.linalg.eigvalsh,
    "linalg_pinv": pinv,
    "pinverse": pinv,
    "linalg_matrix_rank": lambda a, hermitian=False: np.linalg.matrix_rank(a),
    "linalg_matrix_exp": linalg.expm,
    "matrix_exp": linalg.expm,
    "linalg_matrix_power": np.linalg.matrix_power,
    "matrix_power": np.linalg.matrix_power,
    "linalg_vector_norm": vector_norm,
    "linalg_matrix_norm": matrix_norm,
    "linalg_matrix_norm.ord": matrix_norm,
    "frobenius_norm": frobenius_norm,
    "nuclear_norm": lambda a, keepdim=False: matrix_norm(a, "nuc", keepdim=keepdim),
    "nuclear_norm.dim": lambda a, dim, keepdim=False: matrix_norm(a, "nuc", dim, keepdim),
    "linalg_norm": norm,
    "linalg_norm.name": norm,
    "linalg_cond": np.linalg.cond,
    "linalg_cond.name": np.linalg.cond,
    "linalg_tensorinv": np.linalg.tensorinv,
    "linalg_tensorsolve": tensorsolve,
    "linalg_vander": lambda x, N=None: np.stack([x**k for k in range(N or x.shape[-1])], -1),
    "vander": vander,
    "fft_c2c": raw_c2c,
    **{f"fft_{n}": along(n) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft_{n}n": boxed(n + "n") for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{
        f"fft_{n}2": boxed(n + "2", (-2, -1))
        for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    "fft_fftfreq": lambda n, d=1.0: fft.fftfreq(n, d),
    "fft_rfftfreq": lambda n, d=1.0: fft.rfftfreq(n, d),
    "fft_fftshift": lambda x, dim=None: fft.fftshift(x, dim),
    "fft_ifftshift": lambda x, dim=None: fft.ifftshift(x, dim),
    "hann_window": window("hann"),
    "bartlett_window": window("bartlett"),
    "blackman_window": window("blackman"),
    "kaiser_window": window("kaiser", 12.0),
    "hamming_window": hamming,
    **{
        f"signal_{n}": symmetric(n)
        for n in ("bartlett", "blackman", "hann", "hamming", "nuttall", "cosine")
    },
    "signal_general_hamming": symmetric("general_hamming", "alpha"),
    "signal_general_cosine": symmetric("general_cosine", "a"),
    "signal_kaiser": symmetric("kaiser", "beta"),
    "signal_gaussian": symmetric("gaussian", "std"),
    "signal_exponential": exponential,
}
