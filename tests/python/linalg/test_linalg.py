"""Linear algebra beyond what the samples say: faults, shapes at the edges, phases, engines."""

import numpy as np
import pytest

import lathe as lt

RNG = np.random.default_rng(3)


def matrices(*shape, dtype="float32"):
    return lt.tensor(RNG.standard_normal(shape).astype(dtype))


def positive(n, dtype="float64"):
    x = RNG.standard_normal((n, n))
    return lt.tensor((x @ x.T + n * np.eye(n)).astype(dtype))


def test_a_singular_matrix_is_named_by_its_place_in_the_batch():
    x = np.stack([np.eye(3), np.zeros((3, 3)), np.eye(3)])
    with pytest.raises(lt.linalg.LinAlgError, match="matrix 1 of the batch is singular") as e:
        lt.linalg.inv(lt.tensor(x))
    assert isinstance(e.value, RuntimeError) and isinstance(e.value, lt.Error)
    assert e.value.next != ""
    inverse, info = lt.linalg.inv_ex(lt.tensor(x))
    assert info.tolist() == [0, 1, 0]
    assert np.isnan(inverse[1].numpy()).all() and (inverse[0].numpy() == np.eye(3)).all()
    with pytest.raises(lt.linalg.LinAlgError, match="the matrix is singular"):
        lt.linalg.solve(lt.zeros((2, 2)), lt.ones(2))
    with pytest.raises(lt.linalg.LinAlgError, match="not positive-definite"):
        lt.linalg.cholesky(-lt.eye(2))
    assert lt.linalg.cholesky_ex(-lt.eye(2)).info.item() == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals", "pinv"])
def test_what_is_not_finite_is_refused_where_lapack_iterates(name, bad):
    x = np.eye(4, dtype=np.float32)
    x[2, 1] = bad
    with pytest.raises(lt.linalg.LinAlgError, match="NaN or infinities"):
        getattr(lt.linalg, name)(lt.tensor(x))


def test_nan_goes_through_what_does_not_iterate():
    x = lt.tensor([[np.nan, 1.0], [2.0, 3.0]])
    assert np.isnan(lt.linalg.det(x).item())
    assert lt.linalg.matrix_exp(x).isnan().all()


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_empty_matrices_and_batches(shape):
    x = lt.zeros(shape)
    batch = shape[:-2]
    assert lt.linalg.inv(x).shape == shape
    assert lt.linalg.det(x).shape == batch and (lt.linalg.det(x) == 1).all()
    assert lt.linalg.svd(x).S.shape == shape[:-1]
    assert lt.linalg.eigh(x).eigenvectors.shape == shape
    assert lt.linalg.cholesky(x).shape == shape
    assert lt.linalg.qr(x).R.shape == shape


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "eigh", "matrix_exp", "slogdet"])
def test_refuses_what_is_no_square_matrix(name):
    with pytest.raises(lt.ShapeError, match="is not square"):
        getattr(lt.linalg, name)(lt.ones((2, 3)))
    with pytest.raises(lt.ShapeError, match="is no matrix"):
        getattr(lt.linalg, name)(lt.ones(3))
    with pytest.raises(lt.DTypeError):
        getattr(lt.linalg, name)(lt.ones((2, 2), dtype=lt.int64))


def test_decompositions_multiply_to_the_matrix():
    x = matrices(3, 5, 4, dtype="float64")
    u, s, vh = lt.linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ vh).numpy(), x.numpy(), atol=1e-12)
    for mode in ("reduced", "complete"):
        q, r = lt.linalg.qr(x, mode)
        np.testing.assert_allclose((q @ r).numpy(), x.numpy(), atol=1e-12)
    p, lower, upper = lt.linalg.lu(x)
    np.testing.assert_allclose((p @ lower @ upper).numpy(), x.numpy(), atol=1e-12)
    a, tau = lt.geqrf(x)
    np.testing.assert_allclose(
        lt.linalg.householder_product(a, tau).numpy(), lt.linalg.qr(x).Q.numpy(), atol=1e-12
    )
    c = lt.tensor((RNG.standard_normal((4, 4)) + 1j * RNG.standard_normal((4, 4))).astype("c8"))
    w, v = lt.linalg.eig(c)
    np.testing.assert_allclose((c @ v).numpy(), (v * w.unsqueeze(-2)).numpy(), atol=1e-4)
    for hermitian in (False, True):
        s = c + lt.transpose(lt.conj(c) if hermitian else c, 0, 1)
        factors = lt.linalg.ldl_factor(s, hermitian=hermitian)
        x = lt.linalg.ldl_solve(*factors, c, hermitian=hermitian)
        np.testing.assert_allclose((s @ x).numpy(), c.numpy(), atol=1e-3)


def symmetric(x):
    return (x + x.transpose(-1, -2)) * 0.5


CASES = {
    "cholesky": lambda x: lt.linalg.cholesky(symmetric(x)),
    "cholesky upper": lambda x: lt.linalg.cholesky(symmetric(x), upper=True),
    "eigh": lambda x: lt.linalg.eigh(symmetric(x)).eigenvectors.abs(),
    "eigvalsh": lambda x: lt.linalg.eigvalsh(symmetric(x)),
    "pinv hermitian": lambda x: lt.linalg.pinv(symmetric(x), hermitian=True),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_functions_of_symmetric_matrices(name):
    """These read a triangle, and have the derivative of a function of symmetric matrices."""
    start = positive(4).numpy()
    weights = lt.tensor(RNG.standard_normal((4, 4)))

    def objective(x):
        y = CASES[name](x)
        return (y * (weights if y.ndim == 2 else weights[0])).sum()

    x = lt.tensor(start, requires_grad=True)
    (slope,) = lt.autograd.grad(objective(x), [x])
    for i, j in np.ndindex(4, 4):
        step = np.zeros((4, 4))
        step[i, j] = 1e-6
        ends = [objective(lt.tensor(start + sign * step)).item() for sign in (1, -1)]
        assert slope.numpy()[i, j] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-5)


def test_a_derivative_that_depends_on_a_phase_is_refused():
    x = RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3))
    for name, first in (("svd", 0), ("eigh", 1), ("eig", 1)):
        a = lt.tensor(x.astype("complex64"), requires_grad=True)
        vectors = getattr(lt.linalg, name)(a)[first]
        with pytest.raises(lt.AutogradError, match="phase"):
            lt.real(vectors).sum().backward()
        lt.linalg.svdvals(a).sum().backward()  # these have none


def test_the_derivative_of_a_singular_determinant_is_that_of_the_cofactors():
    x = lt.tensor([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]], dtype=lt.float64, requires_grad=True)
    lt.linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[4, 4, -4], [-2, -2, 2], [0, 0, 0]], atol=1e-9)


@pytest.mark.parametrize("mode", ["r", "complete"])
def test_qr_without_a_derivative_says_so(mode):
    x = matrices(4, 2).requires_grad_()
    with pytest.raises(lt.AutogradError, match="no derivative"):
        lt.linalg.qr(x, mode).R.sum().backward()


def test_traces_and_eager_give_the_same_bits():
    @lt.trace
    def both(x, b):
        return (
            lt.linalg.solve(x, b), lt.linalg.det(x), *lt.linalg.svd(x), *lt.linalg.eigh(x),
            lt.linalg.pinv(x), lt.fft.fft(x), lt.fft.irfft(lt.fft.rfft(b, dim=0), n=5, dim=0),
        )  # fmt: skip

    for n in (3, 5, 8):
        x, b = positive(n, "float32"), matrices(n, 2)
        eager = both.__wrapped__(x, b)
        for got, want in zip(both(x, b), eager):
            assert got.numpy().tobytes() == want.numpy().tobytes()


def test_a_batch_gives_each_matrix_its_own_bits():
    x = matrices(64, 5, 5)
    whole = lt.linalg.inv(x)
    for i in (0, 13, 63):
        assert lt.equal(whole[i], lt.linalg.inv(x[i]))
    assert lt.equal(
        lt.linalg.inv(x.transpose(-1, -2)), lt.linalg.inv(x.transpose(-1, -2).contiguous())
    )


@pytest.mark.parametrize("driver", ["gelsd", "gelss"])
def test_residuals_are_those_of_full_ranks(driver):
    a, b = matrices(2, 5, 3, dtype="float64"), matrices(2, 5, 2, dtype="float64")
    x, residuals, rank, values = lt.linalg.lstsq(a, b, driver=driver)
    want = ((a @ x - b) ** 2).sum(1)
    np.testing.assert_allclose(residuals.numpy(), want.numpy(), rtol=1e-9)
    deficient = lt.stack([a[0], a[1][:, [0, 0, 1]]])
    x, residuals, rank, values = lt.linalg.lstsq(deficient, b, driver=driver)
    assert rank.tolist() == [3, 2] and values.shape == (2, 3)
    assert residuals.shape == (0,) and residuals.dtype is a.dtype
    with pytest.raises(lt.TraceError, match="residuals depends on data"):
        lt.trace(lambda a, b: lt.linalg.lstsq(a, b, driver=driver)[0])(a, b)


@pytest.mark.parametrize("driver", ["gelsd", "gelss"])
@pytest.mark.parametrize("dtype", [lt.float64, lt.complex128])
def test_least_squares_of_nothing_know_the_matrix(driver, dtype):
    """Rank and singular values are those of A where B has no column."""
    a = lt.randn(4, 3, dtype=dtype)
    found = lt.linalg.lstsq(a, lt.zeros(4, 0, dtype=dtype), driver=driver)
    assert found.rank.item() == 3 and found.solution.shape == (3, 0)
    # Another routine finds them, in another order of operations.
    np.testing.assert_allclose(found.singular_values.numpy(), lt.linalg.svdvals(a).numpy())
