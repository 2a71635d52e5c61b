"""Linear algebra of complex matrices, in complex64 and complex128: values by NumPy and by what
defines them, derivatives by differences."""

import numpy as np
import pytest

import lathe as lt

RNG = np.random.default_rng(11)
DTYPES = [lt.complex64, lt.complex128]


def normal(*shape):
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


A = normal(2, 4, 4) + 3 * np.eye(4)
TALL = normal(2, 5, 3)
B = normal(2, 4, 3)


def hermitian(x):
    return (x + x.conj().swapaxes(-1, -2)) / 2


H = hermitian(A)
POSITIVE = A @ A.conj().swapaxes(-1, -2)


def matrix_exp(x):
    values, vectors = np.linalg.eig(x)
    return vectors * np.exp(values)[..., None, :] @ np.linalg.inv(vectors)


L = lt.linalg
VALUES = {
    "inv": (L.inv, np.linalg.inv, [A]),
    "det": (L.det, np.linalg.det, [A]),
    "solve": (L.solve, np.linalg.solve, [A, B]),
    "pinv": (L.pinv, np.linalg.pinv, [TALL]),
    "eigvalsh": (L.eigvalsh, np.linalg.eigvalsh, [H]),
    "svdvals": (L.svdvals, lambda x: np.linalg.svd(x, compute_uv=False), [TALL]),
    "cholesky": (L.cholesky, np.linalg.cholesky, [POSITIVE]),
    "matrix_exp": (L.matrix_exp, matrix_exp, [A / 4]),
    "matrix_power": (lambda x: L.matrix_power(x, -3), lambda x: np.linalg.inv(x @ x @ x), [A]),
    "lstsq": (
        lambda x, y: L.lstsq(x, y).solution, lambda x, y: np.linalg.pinv(x) @ y, [TALL, TALL]),
    "solve_triangular": (
        lambda x, y: L.solve_triangular(x, y, upper=True),
        lambda x, y: np.linalg.solve(np.triu(x), y), [np.triu(A), B]),
    "norm": (L.norm, np.linalg.norm, [A]),
    "nuclear": (lambda x: L.matrix_norm(x, "nuc"),
                lambda x: np.linalg.svd(x, compute_uv=False).sum(-1), [A]),
    "cond": (L.cond, np.linalg.cond, [A]),
    "matrix_rank": (L.matrix_rank, np.linalg.matrix_rank, [TALL]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", VALUES)
def test_values(name, dtype):
    ours, theirs, given = VALUES[name]
    got = ours(*(lt.tensor(x).to(dtype) for x in given))
    want = theirs(*given)
    tolerance = 1e-3 if dtype is lt.complex64 else 1e-11
    np.testing.assert_allclose(got.numpy(), want, rtol=tolerance, atol=tolerance)


def slogdet(x):
    sign, log = L.slogdet(x)
    return sign * lt.exp(log)


def rebuilt_svd(x):
    u, s, vh = L.svd(x, full_matrices=False)
    return (u * s.unsqueeze(-2)) @ vh


def rebuilt_eigh(x):
    w, v = L.eigh(x)
    return (v * w.unsqueeze(-2)) @ v.mH


def rebuilt_eig(x):
    w, v = L.eig(x)
    return (v * w.unsqueeze(-2)) @ L.inv(v)


def rebuilt_lu(x):
    p, lower, upper = L.lu(x)
    return p.to(x.dtype) @ lower @ upper


def rebuilt_qr(x):
    q, r = L.qr(x)
    return q @ r


REBUILT = {
    "svd": (rebuilt_svd, TALL, TALL),
    "eigh": (rebuilt_eigh, H, H),
    "eig": (rebuilt_eig, A, A),
    "lu": (rebuilt_lu, A, A),
    "qr": (rebuilt_qr, TALL, TALL),
    "slogdet": (slogdet, A, np.linalg.det(A)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REBUILT)
def test_factors_give_the_matrix_back(name, dtype):
    f, given, want = REBUILT[name]
    got = f(lt.tensor(given).to(dtype))
    assert got.dtype is dtype
    tolerance = 1e-3 if dtype is lt.complex64 else 1e-11
    np.testing.assert_allclose(got.numpy(), want, rtol=tolerance, atol=tolerance)


SMOOTH = {
    "inv": L.inv, "det": L.det, "slogdet": slogdet, "matrix_exp": L.matrix_exp,
    "solve": lambda x: L.solve(x, x.mT + 1j), "pinv": L.pinv, "svdvals": L.svdvals,
    "svd": lambda x: L.svd(x).U.abs(), "qr": lambda x: L.qr(x).Q.abs(),
    "eigvals": lambda x: L.eigvals(x).exp().sum(),
    "eig": lambda x: L.eig(x).eigenvectors.abs().sum(),
    "eigh": lambda x: L.eigh((x + x.mH) / 2).eigenvectors.abs(),
    "cholesky": lambda x: L.cholesky(x @ x.mH), "norm": L.norm,
    "nuclear": lambda x: L.matrix_norm(x, "nuc"),
}  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    """The cotangent is dL/dRe + i dL/dIm."""
    start = A[0, :3, :3]

    def loss(a):
        y = SMOOTH[name](a)
        weights = lt.arange(y.numel(), dtype=lt.float64).reshape(y.shape) * 0.3 + 0.5
        return (y.real * weights + y.imag * 0.7).sum() if y.is_complex() else (y * weights).sum()

    z = lt.tensor(start, requires_grad=True)
    loss(z).backward()
    assert z.grad.dtype is lt.complex128
    for at in np.ndindex(start.shape):
        slope = 0
        for unit in (1, 1j):
            step = np.zeros_like(start)
            step[at] = unit * 1e-6
            up, down = (loss(lt.tensor(v)).item() for v in (start + step, start - step))
            slope += unit * (up - down) / 2e-6
        assert abs(z.grad[at].item() - slope) < 1e-5 * (1 + abs(slope))
