"""Transforms to matrices, of parts and of shapes, and the transforms that constraints have. Values
were compared with PyTorch's; here they are held by their inverses and Jacobians."""

import numpy as np
import pytest

import lathe as lt
from lathe import distributions as d
from lathe.distributions import constraints as c

F64 = {"dtype": lt.float64}


def drawn(*shape):
    return lt.tensor(np.random.default_rng(0).standard_normal(shape))


def below(matrix):
    rows, columns = np.tril_indices(matrix.shape[-1], -1)
    return matrix[rows, columns]


ROW = [d.ExpTransform(), d.AffineTransform(1.0, 2.0)]
EACH = {
    "corr_cholesky": (d.CorrCholeskyTransform(), (6,), below),
    "of two rows": (d.CorrCholeskyTransform(), (1,), below),
    "cat": (d.CatTransform(ROW, -1, [2, 3]), (5,), None),
    "stack": (d.StackTransform(ROW, 1), (3, 2), None),
    "reshape": (d.ReshapeTransform((2, 3), (6,)), (2, 3), None),
    "cdf": (d.CumulativeDistributionTransform(d.Normal(lt.tensor(0.5, **F64), 2.0)), (3,), None),
    "compose": (d.ComposeTransform([d.ReshapeTransform((2, 3), (6,)), d.AffineTransform(0.5, 2.0),
                                    d.CorrCholeskyTransform()]), (2, 3), below),
}  # fmt: skip


@pytest.mark.parametrize("name", EACH)
def test_inverses_and_jacobians(name):
    t, shape, chosen = EACH[name]
    x = drawn(*shape)
    y = t(x)
    assert lt.allclose(t.inv(y), x) and t.forward_shape(x.shape) == y.shape
    assert t.inverse_shape(y.shape) == x.shape and t.inv.inv is t and t.bijective
    assert t.domain.check(x).all() and t.codomain.check(y).all()
    flat = lt.autograd.functional.jacobian(
        lambda x: chosen(t(x)).reshape(-1) if chosen else t(x).reshape(-1), x
    ).reshape(x.numel(), x.numel())
    _, want = lt.linalg.slogdet(flat)
    assert lt.allclose(t.log_abs_det_jacobian(x, y).sum(), want)
    assert lt.allclose(t.inv.log_abs_det_jacobian(y, x).sum(), -want)
    assert lt.equal(lt.trace(lambda x: t(x))(x), y)
    kept = t.with_cache()
    assert kept.inv(kept(x)) is x and t == t.with_cache(0)


def test_matrices():
    x = drawn(2, 3, 3)
    for t, constraint in ((d.LowerCholeskyTransform(), c.lower_cholesky),
                          (d.PositiveDefiniteTransform(), c.positive_definite)):  # fmt: skip
        y = t(x)
        assert constraint.check(y).all() and t.codomain is constraint
        assert lt.allclose(t(t.inv(y)), y) and t == type(t)()
    assert c.positive_semidefinite.check(y).all() and not c.lower_triangular.check(y).any()
    assert not c.positive_semidefinite.check(-y).any() and c.symmetric.check(y).all()


@pytest.mark.parametrize("call", [
    lambda: d.CatTransform(ROW, 0, [1, 1, 1]), lambda: d.CatTransform(ROW, 0, [1, 2])(drawn(4)),
    lambda: d.StackTransform(ROW, 0)(drawn(3)), lambda: d.ReshapeTransform((2, 3), (5,)),
    lambda: d.ReshapeTransform((2, 3), (6,))(drawn(3, 2)),
    lambda: d.CorrCholeskyTransform()(drawn(2)),
])  # fmt: skip
def test_wrong(call):
    with pytest.raises(lt.ShapeError) as caught:
        call()
    assert caught.value.next and caught.value.expected


def test_values_of_more_axes_than_the_numbers_they_are_made_of():
    zero = lt.zeros(4, 6, **F64)
    p = d.TransformedDistribution(d.Normal(zero, 1.0), [d.CorrCholeskyTransform()])
    assert p.batch_shape == (4,) and p.event_shape == (4, 4) and p.support is c.corr_cholesky
    x = p.sample((5,))
    assert x.shape == (5, 4, 4, 4) and p.log_prob(x).shape == (5, 4)
    assert p.expand((2, 4)).sample().shape == (2, 4, 4, 4)
    t = d.CorrCholeskyTransform()
    raw = t.inv(x)
    want = d.Normal(zero, 1.0).log_prob(raw).sum(-1) - t.log_abs_det_jacobian(raw, x)
    assert lt.allclose(p.log_prob(x), want)
    q = d.TransformedDistribution(p, [t.inv])
    assert q.event_shape == (6,) and q.batch_shape == (4,)
    assert lt.allclose(q.log_prob(raw), d.Normal(zero, 1.0).log_prob(raw).sum(-1))
    shares = [d.StickBreakingTransform(), d.ReshapeTransform((4,), (2, 2))]
    p = d.TransformedDistribution(d.Normal(lt.zeros(5, 3, **F64), 1.0), shares)
    assert (
        p.batch_shape == (5,) and p.event_shape == (2, 2) and p.log_prob(p.sample()).shape == (5,)
    )


CONSTRAINTS = {
    "real": c.real, "positive": c.positive, "nonnegative": c.nonnegative,
    "greater_than": c.greater_than(1.5), "greater_than_eq": c.greater_than_eq(-2.0),
    "less_than": c.less_than(lt.tensor(3.0, **F64)), "interval": c.interval(-1.0, 2.0),
    "unit_interval": c.unit_interval, "half_open": c.half_open_interval(1.0, 3.0),
    "simplex": c.simplex, "corr_cholesky": c.corr_cholesky,
    "real_vector": c.real_vector, "independent": c.independent(c.positive, 1),
    "cat": c.cat([c.positive, c.unit_interval], -1, [2, 1]),
    "stack": c.stack([c.positive, c.real, c.unit_interval], -1),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_have_transforms(name):
    constraint = CONSTRAINTS[name]
    x = drawn(4, 3)
    for registry in (d.biject_to, d.transform_to):
        t = registry(constraint)
        y = t(x)
        assert constraint.check(y).all() and t.codomain.event_dim == constraint.event_dim
        if registry is d.biject_to:
            assert t.bijective and lt.allclose(t.inv(y), x)
            t.log_abs_det_jacobian(x, y)


def test_supports_have_transforms():
    """A distribution of any support as one of all numbers, the way that programs infer them."""
    a = lt.tensor([0.5, 2.0], **F64)
    for p in (d.Normal(a, a), d.Gamma(a, a), d.Beta(a, a), d.Uniform(a, a + 1), d.Pareto(a, a),
              d.Dirichlet(a), d.LKJCholesky(3, a), d.Independent(d.HalfNormal(a), 1)):  # fmt: skip
        t = d.biject_to(p.support)
        q = d.TransformedDistribution(p, [t.inv])
        z = q.sample((3,))
        assert z.isfinite().all() and q.log_prob(z).isfinite().all()
        assert q.log_prob(z).shape == p.log_prob(t(z)).shape
    y = d.transform_to(c.positive_definite)(drawn(3, 3))
    assert c.positive_definite.check(y)


def test_transforms_are_registered():
    assert isinstance(d.biject_to(c.positive), d.ExpTransform)
    for constraint in (c.boolean, c.nonnegative_integer, c.lower_cholesky):
        with pytest.raises(NotImplementedError, match="no transform"):
            d.biject_to(constraint)
    registry = type(d.biject_to)()
    mine = c.Constraint("even", lambda v: v % 2 == 0)

    @registry.register(mine)
    def double(constraint):
        return d.AffineTransform(0.0, 2.0)

    assert registry(mine).scale == 2 and registry.register(c.interval, double) is double
    assert registry(c.interval(0, 5)).scale == 2
    with pytest.raises(lt.UnsupportedError):
        registry(c.Constraint("odd", lambda v: v % 2 == 1))
    assert c.multinomial(3).check(lt.tensor([[1, 2], [1, 1]])).tolist() == [True, False]
    assert repr(c.unit_interval) == "in [0, 1]" and c.real_vector.event_dim == 1
