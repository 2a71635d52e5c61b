"""opt_einsum over our tensors: its own lists of contractions, against NumPy's results."""

import numpy as np
import opt_einsum
import pytest
from opt_einsum.testing import build_views
from opt_einsum.tests.test_backends import tests as for_backends
from opt_einsum.tests.test_contract import tests as for_contractions

import lathe as lt
import lathe.compat.opt_einsum  # noqa: F401
from lathe.autograd import grad


def tensors(views):
    return [lt.tensor(np.asarray(v)) for v in views]


@pytest.mark.parametrize("equation", [*for_backends, *for_contractions])
def test_contractions(equation):
    views = build_views(equation)
    wanted = opt_einsum.contract(equation, *views, optimize=False)
    got = opt_einsum.contract(equation, *tensors(views), optimize="greedy")
    assert isinstance(got, lt.Tensor)
    assert np.allclose(wanted, got.numpy())


@pytest.mark.parametrize("equation", for_backends)
def test_an_expression_for_shapes(equation):
    views = build_views(equation)
    expression = opt_einsum.contract_expression(equation, *(v.shape for v in views), optimize=True)
    assert np.allclose(expression(*views), expression(*tensors(views)).numpy())


@pytest.mark.parametrize("constants", [{0, 1}, {0, 2}, {1, 2}])
def test_an_expression_with_constants(constants):
    arrays = [np.random.rand(2, 3), np.random.rand(3, 4), np.random.rand(4, 5)]
    ours = tensors(arrays)
    given = [t if i in constants else t.shape for i, t in enumerate(ours)]
    expression = opt_einsum.contract_expression("ij,jk,kl->li", *given, constants=constants)
    (free,) = {0, 1, 2} - constants
    wanted = opt_einsum.contract("ij,jk,kl->li", *arrays)
    assert np.allclose(wanted, expression(ours[free]).numpy())


@pytest.mark.parametrize("equation", for_backends)
def test_gradients_flow(equation):
    ours = [t.requires_grad_() for t in tensors(build_views(equation))]
    total = opt_einsum.contract(equation, *ours).sum()
    for x, d in zip(ours, grad(total, ours)):
        assert d.shape == x.shape


def test_sharing_of_intermediates():
    a, b, c = (lt.rand(4, 4, dtype=lt.float64) for _ in range(3))
    with opt_einsum.shared_intermediates() as cache:
        first = opt_einsum.contract("ab,bc,cd->ad", a, b, c)
        kept = len(cache)
        second = opt_einsum.contract("ab,bc,cd->ad", a, b, c)
    assert kept and len(cache) == kept
    assert first.tolist() == second.tolist()
