"""nn.utils.parametrizations.orthogonal: what its parameter means, in PyTorch's words, and how it is
assigned to. Files of PyTorch hold the parameter and the base, so both have its shapes and values.
"""

import numpy as np
import pytest

import lathe as lt
from lathe import nn
from lathe.nn.utils import parametrizations, parametrize

MAPS = ("matrix_exp", "cayley", "householder")
SHAPES = [(6, 3), (3, 6), (4, 4), (2, 5, 3)]
random = np.random.default_rng(0)


def exponential(a):
    term = total = np.eye(len(a))
    for k in range(1, 80):
        term = term @ a / k
        total = total + term
    return total


def of_map(name, x):
    """The orthogonal columns that a map makes of the entries below the diagonal of x."""
    n, k = x.shape
    if name == "householder":
        q = np.eye(n)
        for i in range(k):
            v = np.concatenate([np.zeros(i), [1.0], x[i + 1 :, i]])
            q = q @ (np.eye(n) - 2 / (v @ v) * np.outer(v, v))
        return q[:, :k] * np.trunc(np.diagonal(x))
    lower = np.zeros((n, n))
    lower[:, :k] = np.tril(x, -1)
    skew = lower - lower.T
    if name == "matrix_exp":
        return exponential(skew)[:, :k]
    return np.linalg.solve(np.eye(n) - skew / 2, np.eye(n) + skew / 2)[:, :k]


def layer_of(shape, name, based):
    layer = nn.Module()
    layer.weight = nn.Parameter(lt.tensor(random.normal(size=shape)))
    return parametrizations.orthogonal(layer, "weight", name, use_trivialization=based)


@pytest.mark.parametrize("based", [True, False])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("shape", SHAPES[:3])
def test_a_state_means_what_it_means_in_pytorch(shape, name, based):
    layer = layer_of(shape, name, based)
    x = random.normal(size=shape)
    x[range(min(shape)), range(min(shape))] = random.choice([-1, 1], min(shape))
    state = {"parametrizations.weight.original": lt.tensor(x)}
    base = np.linalg.qr(random.normal(size=(max(shape), max(shape))))[0]
    if based:
        state["parametrizations.weight.0.base"] = lt.tensor(base)
    layer.load_state_dict(state)
    wide = shape[0] < shape[1]
    expected = of_map(name, x.T if wide else x)
    expected = base @ expected if based else expected
    np.testing.assert_allclose(
        layer.weight.detach().numpy(), expected.T if wide else expected, atol=1e-12
    )


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_training_and_assignment_keep_it_orthogonal(shape, name):
    layer = layer_of(shape, name, True)
    tall = (*shape[:-2], *sorted(shape[-2:], reverse=True))
    q = np.linalg.qr(random.normal(size=tall))[0]
    q = q if tall == shape else np.swapaxes(q, -1, -2).copy()
    layer.weight = lt.tensor(q)
    np.testing.assert_allclose(layer.weight.detach().numpy(), q, atol=1e-12)
    optimizer = lt.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (layer.weight**3).sum().backward()
        optimizer.step()
    w = layer.weight.detach()
    w = w if tall == shape else w.mT
    off = w.mT @ w - lt.eye(w.shape[-1], dtype=lt.float64)
    assert off.abs().max() < 1e-12 and (layer.weight - lt.tensor(q)).abs().max() > 1e-3
    np.testing.assert_allclose(
        lt.trace(lambda: layer.weight)().detach().numpy(), layer.weight.detach().numpy()
    )


def test_the_map_that_fits_is_chosen_and_what_has_no_way_back_says_so():
    chosen = [layer_of(s, None, True).parametrizations.weight[0].name for s in SHAPES]
    assert chosen == ["householder", "householder", "matrix_exp", "householder"]
    layer = layer_of((5, 3), "householder", False)
    q = lt.tensor(np.linalg.qr(random.normal(size=(5, 3)))[0])
    layer.weight = q
    assert (layer.weight - q).abs().max() < 1e-12
    layer = layer_of((3, 3), "cayley", False)
    assert list(layer.state_dict()) == ["parametrizations.weight.original"]
    with pytest.raises(NotImplementedError, match="use_trivialization"):
        layer.weight = lt.eye(3, dtype=lt.float64)
    with pytest.raises(lt.ShapeError):
        layer.weight = lt.eye(4, dtype=lt.float64)
    with pytest.raises(lt.ValueError, match="there is no such map"):
        layer_of((3, 3), "qr", True)


def test_a_complex_matrix_is_unitary():
    layer = nn.Module()
    layer.weight = nn.Parameter(lt.randn(4, 3, dtype=lt.complex128))
    w = parametrizations.orthogonal(layer).weight.detach()
    assert (w.mH @ w - lt.eye(3)).abs().max() < 1e-12
    with pytest.raises(lt.ValueError, match="complex"):
        parametrize.remove_parametrizations(layer, "weight")
        parametrizations.orthogonal(layer, orthogonal_map="householder")


class NoWayBack(nn.Module):
    def forward(self, x):
        return x + 1

    def right_inverse(self, x):
        raise NotImplementedError


def test_a_parametrization_may_know_of_no_way_back():
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", NoWayBack())
    assert lt.equal(layer.weight, before + 1)
    with pytest.raises(NotImplementedError):
        layer.weight = before
