"""einsum against NumPy on random equations, and what products promise beyond their values."""

import math
import random

import numpy as np
import pytest

import lathe as lt

SIZES = {"a": 2, "b": 3, "c": 4, "d": 1, "e": 5}


def equation(seed):
    """A random equation and the shapes of its operands."""
    rng = random.Random(seed)
    terms = ["".join(rng.choices("abcde", k=rng.randint(0, 4))) for _ in range(rng.randint(1, 4))]
    used = sorted(set("".join(terms)))
    text = ",".join(terms)
    if rng.random() < 0.7:
        text += "->" + "".join(rng.sample(used, rng.randint(0, len(used))))
    return text, [[SIZES[c] for c in term] for term in terms]


def operands(shapes, seed, dtype="float64"):
    rng = np.random.default_rng(seed)
    if dtype == "complex64":
        return [
            (rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(dtype) for s in shapes
        ]
    if dtype == "int64":
        return [rng.integers(-5, 6, s) for s in shapes]
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex64"])
def test_random_equations(dtype):
    tolerance = {"rtol": 1e-3, "atol": 1e-3} if dtype == "complex64" else {"atol": 1e-9}
    for seed in range(150):
        text, shapes = equation(seed)
        xs = operands(shapes, seed, dtype)
        want = np.einsum(text, *xs)
        got = lt.einsum(text, *map(lt.tensor, xs))
        assert got.shape == want.shape, text
        np.testing.assert_allclose(got.numpy(), want, err_msg=text, **tolerance)


def test_the_cheapest_pair_first_gives_the_same():
    for seed in range(150):
        text, shapes = equation(seed)
        xs = operands(shapes, seed)
        got = lt.einsum(text, *map(lt.tensor, xs), optimize=True)
        np.testing.assert_allclose(got.numpy(), np.einsum(text, *xs), atol=1e-9, err_msg=text)


ELLIPSES = {
    "...ij,...jk->...ik": [(2, 1, 3, 4), (5, 4, 2)],
    "...ij,...jk": [(2, 3, 4), (4, 2)],
    "i...,i...->...": [(3, 2, 4), (3, 4)],
    "...,...": [(2, 3), (3,)],
    "...ii->...i": [(2, 3, 3)],
    "...a->...": [(2, 3)],
    "i...j->j...": [(2, 5, 3)],
    " i j , j k -> i k ": [(2, 3), (3, 4)],
    "ij->": [(2, 3)],
    ",ij": [(), (2, 3)],
}


@pytest.mark.parametrize("text", ELLIPSES)
def test_ellipses(text):
    xs = operands(ELLIPSES[text], 1)
    want = np.einsum(text, *xs)
    for optimize in (None, True):
        got = lt.einsum(text, *map(lt.tensor, xs), optimize=optimize)
        assert got.shape == want.shape
        np.testing.assert_allclose(got.numpy(), want, atol=1e-12)


def test_axes_as_numbers_and_operands_in_a_list():
    x, y = lt.randn(2, 3), lt.randn(3, 4)
    want = (x @ y).tolist()
    assert lt.einsum(x, [0, 1], y, [1, 2], [0, 2]).tolist() == want
    assert lt.einsum(x, [0, 1], y, [1, 2]).tolist() == want
    assert lt.einsum("ij,jk", [x, y]).tolist() == want
    assert lt.einsum(x, [..., 1], y, [1, 2]).tolist() == want


def test_sizes_of_one_meet_any():
    x, y = np.ones((3, 1)), np.arange(8.0).reshape(4, 2)
    got = lt.einsum("ij,jk->ik", lt.tensor(x), lt.tensor(y))
    np.testing.assert_allclose(got.numpy(), np.broadcast_to(x, (3, 4)) @ y)


WRONG = {
    "ij,jk->ii": "twice", "ij,jk->il": "no operand", "ij->ij": "subscripts", "i,jk": "names",
    "ij,jk->ik->": "sign", "i.j,jk": "sign", "ij,kk": "differ in size", "ij,ik": "two sizes",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_wrong_equations_are_refused(text):
    with pytest.raises(lt.Error, match=WRONG[text]):
        lt.einsum(text, lt.zeros(2, 3), lt.zeros(3, 4))


def test_equal_bits_in_a_trace():
    def function(x, y, z):
        return lt.einsum("bij,bjk,kl->bl", x, y, z)

    xs = lt.randn(2, 3, 4), lt.randn(2, 4, 5), lt.randn(5, 2)
    assert lt.trace(function)(*xs).tolist() == function(*xs).tolist()


def test_a_beta_of_zero_reads_nothing():
    nan = lt.full((2, 2), math.nan)
    x = lt.eye(2)
    assert lt.addmm(nan, x, x, beta=0).tolist() == x.tolist()
    assert lt.baddbmm(nan, x[None], x[None], beta=0).tolist() == [x.tolist()]
    assert math.isnan(lt.addmm(nan, x, x).sum().item())


def test_a_factor_of_integers_is_its_whole_part():
    ones = lt.ones(2, 2, dtype=lt.int64)
    assert lt.addmm(ones, ones, ones, alpha=1.5).tolist() == [[3, 3], [3, 3]]
    assert lt.addmm(ones, ones, ones, beta=0.5).tolist() == [[2, 2], [2, 2]]


def test_a_chain_in_any_order_of_cost():
    for seed in range(20):
        rng = random.Random(seed)
        sides = [rng.randint(1, 9) for _ in range(rng.randint(3, 7))]
        xs = operands(list(zip(sides, sides[1:])), seed)
        got = lt.linalg.multi_dot(list(map(lt.tensor, xs)))
        np.testing.assert_allclose(got.numpy(), np.linalg.multi_dot(xs), rtol=1e-9, atol=1e-12)


def test_tensordot_as_numpy():
    x, y = operands([(2, 3, 4), (3, 4, 5)], 1)
    for axes in (2, 0, ([1, 2], [0, 1]), ([2, 1], [1, 0]), (1, 0)):
        got = lt.tensordot(lt.tensor(x), lt.tensor(y), axes)
        np.testing.assert_allclose(got.numpy(), np.tensordot(x, y, axes), atol=1e-12)
    with pytest.raises(lt.ValueError):
        lt.tensordot(lt.tensor(x), lt.tensor(y), 4)


@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.complex64, lt.int64])
def test_an_expanded_operand_gives_the_bits_of_a_dense_one(dtype):
    row, column = lt.randn(1, 700).mul(9).to(dtype), lt.randn(37, 1).mul(9).to(dtype)
    one, y = lt.randn(1, 1).mul(9).to(dtype), lt.randn(700, 45).mul(9).to(dtype)
    for x in (row.expand(37, 700), column.expand(37, 700), one.expand(37, 700)):
        assert (x @ y).tolist() == (x.clone() @ y).tolist()
        assert (y.t() @ x.t()).tolist() == (y.t() @ x.t().clone()).tolist()


@pytest.mark.parametrize("wide", [lt.float32, lt.bfloat16, lt.complex64, lt.float64])
@pytest.mark.parametrize("dtype", [lt.int32, lt.uint32, lt.int64])
def test_products_of_integers_as_floats(dtype, wide):
    a, b = lt.arange(12).reshape(3, 4).to(dtype), lt.arange(20).reshape(4, 5).to(dtype)
    wanted = (a.to(lt.float64) @ b.to(lt.float64)).to(wide)
    assert lt.equal(lt.mm(a, b, out_dtype=wide), wanted)


@pytest.fixture(params=[("auto", 1), ("auto", 3), ("portable", 1)])
def way(request):
    before = lt.get_flag("isa"), lt.get_num_threads()
    lt.set_flag("isa", request.param[0])
    lt.set_num_threads(request.param[1])
    yield
    lt.set_flag("isa", before[0])
    lt.set_num_threads(before[1])


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.int64])
@pytest.mark.parametrize("depth", [0, 1, 5, 16, 33, 512, 513, 1100])
def test_products_of_single_rows_and_columns(dtype, depth):
    """Many side by side have the chains that each has alone."""
    for count in (1, 2, 7, 16, 17, 130):
        a, b = ((lt.randn(count, depth) * 9).to(dtype) for _ in range(2))
        want = lt.cat([a[i : i + 1] @ b[i : i + 1].t() for i in range(count)]).flatten()
        turned = b.t().contiguous().t()
        for got in (
            lt.bmm(a.unsqueeze(1), b.unsqueeze(2)).flatten(),
            lt.einsum("bk,bk->b", a, b),
            lt.einsum("bk,bk->b", a, turned),
            lt.matmul(a.unsqueeze(-2), b.flip(0).unsqueeze(-1).flip(0)).flatten(),
        ):
            np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_products_of_single_rows_in_several_axes():
    x, y = lt.randn(5, 6, 40), lt.randn(6, 5, 40).transpose(0, 1)
    got = lt.matmul(x.unsqueeze(-2), y.unsqueeze(-1))[..., 0, 0]
    want = [[float(x[i, j : j + 1] @ y[i, j : j + 1].t()) for j in range(6)] for i in range(5)]
    np.testing.assert_array_equal(got.numpy(), np.array(want, "float32"))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16, lt.int16, lt.uint8])
@pytest.mark.parametrize("depth", [1, 5, 64, 513, 1100, 2500])
def test_few_rows_of_narrow_numbers_have_the_sums_of_wide_ones(dtype, depth):
    wide = lt.float32 if dtype.is_floating_point else lt.int64
    for rows, cols in ((1, 1), (1, 7), (1, 130), (3, 33), (4, 90), (6, 20)):
        a, b = ((lt.randn(2, *size) * 9).to(dtype) for size in ((rows, depth), (depth, cols)))
        turned = b.transpose(1, 2).contiguous().transpose(1, 2)
        gaps = lt.cat([b, b], 2)[..., ::2]
        one = b[:1].expand(2, depth, cols)
        for right in (b, turned, gaps, one):
            want = (a.to(wide) @ right.contiguous().to(wide)).to(dtype)
            for got in (a @ right, (right.transpose(1, 2) @ a.transpose(1, 2)).transpose(1, 2)):
                assert got.tolist() == want.tolist(), (rows, cols)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.int64])
def test_few_rows_of_very_many_terms(dtype):
    """They are read in several pieces, which are added up as blocks are."""
    a, b = (lt.randn(n, 40000).mul(9).to(dtype) for n in (3, 37))
    wide = lt.cat([a, lt.zeros(20, 40000, dtype=dtype)])
    for rows in (1, 2, 3):
        assert (a[:rows] @ b.t()).tolist() == (wide @ b.t())[:rows].tolist()
        assert (b @ a[:rows].t()).tolist() == (b @ wide.t())[:, :rows].tolist()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [lt.float32, lt.bfloat16, lt.complex64, lt.int64])
def test_a_batch_against_one_matrix_has_the_bits_of_each_alone(dtype):
    w = lt.randn(70, 45).mul(9).to(dtype)
    for shape in ((9, 1, 70), (3, 1, 1, 70), (5, 2, 3, 70), (2, 1, 4, 70), (1, 6, 1, 70)):
        x = lt.randn(*shape).mul(9).to(dtype)
        gaps = lt.cat([x, x], 0)[:: 2 if shape[0] % 2 == 0 else 1]
        turned = x.transpose(0, 1).contiguous().transpose(0, 1)
        for a in (x, gaps, turned, x.expand(4, *shape), x[..., :1, :].expand(shape)):
            for b in (w, w.t().contiguous().t(), lt.stack([w] * a.shape[-3])):
                each = [
                    m @ b[i % a.shape[-3]] if b.ndim == 3 else m @ b
                    for i, m in enumerate(a.reshape(-1, *a.shape[-2:]))
                ]
                assert (a @ b).tolist() == lt.stack(each).reshape(*a.shape[:-1], 45).tolist()
            turned_about = w.t() @ a.transpose(-1, -2)
            assert turned_about.tolist() == (a @ w).transpose(-1, -2).tolist()
