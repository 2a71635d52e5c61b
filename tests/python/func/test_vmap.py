"""lathe.vmap: places, nesting, writes, random numbers, refusals."""

import numpy as np
import pytest

import lathe as lt
from lathe.func import grad, vmap, vmap_fallbacks

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.standard_normal(shape)


def same(found, expected):
    np.testing.assert_array_equal(found.numpy(), expected)


def near(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, 1e-12, 1e-12)


@pytest.mark.parametrize("run", [vmap, lambda *a, **k: lt.trace(vmap(*a, **k))])
def test_places(run):
    a, b = numbers(3, 4), numbers(4, 5)
    x, y = lt.tensor(a), lt.tensor(b)
    same(run(lambda u, v: u + v, in_dims=(1, 0))(x, lt.tensor(b[:, :3])), a.T + b[:, :3])
    near(run(lambda u, v: (u * v).sum(), in_dims=(1, None))(x, lt.tensor(a[:, 0])), a.T @ a[:, 0])
    same(run(lambda u: u * 2, in_dims=-1, out_dims=-1)(x), a * 2)
    found = run(lambda d: {"s": d["u"].sum(), "t": [d["v"] + 1]}, in_dims=({"u": 0, "v": None},),
                out_dims={"s": 0, "t": [1]})({"u": x, "v": y[0]})  # fmt: skip
    near(found["s"], a.sum(1))
    same(found["t"][0], np.repeat(b[0][:, None] + 1, 3, 1))
    near(run(lambda u, v: u @ v, in_dims=(0, None))(x, y), a @ b)
    near(run(lambda u, v: v @ u, in_dims=(None, 1), out_dims=1)(y, lt.tensor(a.T)), (a @ b).T)


def test_out_of_none():
    x = lt.ones(3)
    assert vmap(lambda u, v: (u, v * 2), (0, None), (0, None))(x, lt.ones(2))[1].shape == (2,)


def test_nesting():
    a, b = numbers(3, 4), numbers(5, 4)
    outer = vmap(vmap(lt.dot, (None, 0)), (0, None))
    near(outer(lt.tensor(a), lt.tensor(b)), a @ b.T)
    c = numbers(2, 3, 4)
    near(vmap(vmap(vmap(lt.exp)))(lt.tensor(c)), np.exp(c))
    found = vmap(lambda x: vmap(lambda y: (x * y).sum())(x.expand(2, 4)))(lt.tensor(a))
    near(found, np.repeat((a * a).sum(1)[:, None], 2, 1))


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_chunks(size):
    a = numbers(7, 3)
    found = vmap(lambda x: (x.sum(), x * 2), out_dims=(0, 1), chunk_size=size)(lt.tensor(a))
    near(found[0], a.sum(1))
    same(found[1], 2 * a.T)


def test_single_elements_promote_as_in_a_loop():
    x = lt.tensor([1.5, 2.5], dtype=lt.float64)
    assert vmap(lambda x, y: x * y, (0, None))(x, lt.ones(3)).dtype == lt.float32
    n = lt.tensor([1, 2])
    assert vmap(lambda n: n * 2.5)(n).dtype == lt.float32
    assert vmap(lambda n, y: n + y, (0, None))(n, lt.ones(2, dtype=lt.int32)).dtype == lt.int32


def test_gradient_of_a_mapped_function():
    a, w = numbers(3, 4), numbers(4)
    weight = lt.tensor(w).requires_grad_()
    vmap(lambda x: (x * weight).sin().sum())(lt.tensor(a)).sum().backward()
    near(weight.grad, (np.cos(a * w) * a).sum(0))
    x = lt.tensor(a).requires_grad_()
    with lt.no_grad():
        assert not vmap(lambda x: x * 2)(x).requires_grad

    def held(x):
        with lt.no_grad():
            y = x * 2
        return (y * x).sum()

    vmap(held)(x).sum().backward()
    near(x.grad, 2 * a)


def test_writes():
    a = numbers(3, 4)

    def fills(x):
        y = lt.zeros(2, 4, dtype=lt.float64)
        row = y[1]
        y[1] = x
        row += 1
        return y

    found = vmap(fills)(lt.tensor(a))
    same(found[:, 1], a + 1)
    same(found[:, 0], np.zeros((3, 4)))
    same(lt.trace(vmap(fills))(lt.tensor(a))[:, 1], a + 1)
    x = lt.tensor(a)
    same(vmap(lambda x: x.mul_(2) + 1)(x), 2 * a + 1)
    same(x, 2 * a)  # the argument itself was written to
    x = lt.tensor(a)
    vmap(lambda c: c.t().add_(1), in_dims=2)(x.reshape(3, 2, 2))
    near(grad(lambda x: vmap(fills)(x).pow(2).sum())(lt.tensor(a)), 2 * (a + 1))
    with pytest.raises(lt.ValueError, match="same for all"):
        outside = lt.zeros(4, dtype=lt.float64)
        vmap(lambda x: outside.add_(x))(lt.tensor(a))


def test_detached_inside():
    a = numbers(3, 4)
    x = lt.tensor(a).requires_grad_()
    vmap(lambda x: (x * x.detach()).sum())(x).sum().backward()
    near(x.grad, a)

    def writes(x):
        y = x * 2
        kept = y.detach()
        y.add_(1)
        return kept

    with pytest.raises(lt.UnsupportedError, match="clone"):
        vmap(writes)(lt.tensor(a))


def test_random_numbers():
    x = lt.zeros(3, 100)
    with pytest.raises(lt.ValueError, match="randomness"):
        vmap(lambda x: x + lt.rand(100))(x)
    lt.manual_seed(1)
    alike = vmap(lambda x: x + lt.rand(100), randomness="same")(x).numpy()
    assert (alike[0] == alike[1]).all() and alike.std() > 0.2
    apart = vmap(lambda x: x + lt.rand(100), randomness="different")(x).numpy()
    assert (apart[0] != apart[1]).mean() > 0.9 and 0.2 < apart.std() < 0.4
    lt.manual_seed(1)
    again = lt.trace(vmap(lambda x: x + lt.rand(100), randomness="same"))(x).numpy()
    assert (again == alike).all()


def test_what_has_no_rule_runs_one_by_one_and_is_counted():
    a = np.sort(numbers(3, 5), 1)
    before = vmap_fallbacks().get("searchsorted", 0)
    found = vmap(lt.searchsorted)(lt.tensor(a), lt.tensor(a[:, :2].copy()))
    same(found, np.stack([np.searchsorted(row, row[:2]) for row in a]))
    assert vmap_fallbacks()["searchsorted"] == before + 1


def test_conditions():
    with pytest.raises(lt.UnsupportedError, match="where"):
        vmap(lambda x: x if x.sum() > 0 else -x)(lt.ones(3, 2))
    with pytest.raises(lt.UnsupportedError, match="where"):
        vmap(lambda x: x * x.sum().item())(lt.ones(3, 2))
    a = numbers(4, 2)
    same(vmap(lambda x: lt.where(x > 0, x, -x))(lt.tensor(a)), np.abs(a))


def test_traced_inside():
    a = numbers(4, 2)
    inner = lt.trace(lambda x: x.exp().sum())
    near(vmap(inner)(lt.tensor(a)), np.exp(a).sum(1))


def test_escape():
    kept = []
    vmap(lambda x: kept.append(x * 2) or x)(lt.ones(2))
    with pytest.raises(lt.Error):
        kept[0] + 1


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: vmap(lambda x: x, in_dims=None)(lt.ones(2)), lt.ValueError),
        (lambda: vmap(lambda x, y: x + y)(lt.ones(2), lt.ones(3)), lt.ValueError),
        (lambda: vmap(lambda x, y: x)(lt.ones(2), 3.0), lt.TypeError),
        (lambda: vmap(lambda x: x, in_dims=1)(lt.ones(2)), lt.IndexError),
        (lambda: vmap(lambda x: x, in_dims=(0, 0))(lt.ones(2)), lt.ValueError),
        (lambda: vmap(lambda x: x, out_dims=(0, 0))(lt.ones(2)), lt.ValueError),
        (lambda: vmap(lambda x: x, out_dims=2)(lt.ones(2)), lt.IndexError),
        (lambda: vmap(lambda x: x, out_dims=None)(lt.ones(2)), lt.ValueError),
        (lambda: vmap(lambda x: 3.0)(lt.ones(2)), lt.TypeError),
        (lambda: vmap(lt.sin, randomness="some"), lt.ValueError),
        (lambda: vmap(lt.sin, chunk_size=0), lt.ValueError),
        (lambda: vmap(lambda x: x.view(5))(lt.ones(3, 2)), lt.ShapeError),
        (lambda: vmap(lambda x, i: x[i])(lt.ones(3, 2), lt.tensor([0, 1, 2])), lt.IndexError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call()
    assert (lt.ones(2) + 1).sum().item() == 4  # all is as it was
