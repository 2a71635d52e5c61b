"""Distributions made of others by formulas, and random matrices, against SciPy's; and what SciPy
has not by what defines it. tests/against_pytorch/distributions.py compares them with PyTorch's."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

import lathe as lt
from lathe import distributions as d

X = np.array([0.3, 0.9, 1.7])
F64 = {"dtype": lt.float64}
TRIL = np.array([[1.0, 0, 0], [0.5, 2, 0], [-1, 0.3, 0.7]])
FACTOR = np.array([[1.0, 0.2], [0.5, -1], [2, 0.3]])


def t(*values):
    return lt.tensor(values[0] if len(values) == 1 else values, **F64)


BESIDE = {
    "FisherSnedecor": (lambda: d.FisherSnedecor(t(5.0), t(9.0)), stats.f(5, 9)),
    "InverseGamma": (lambda: d.InverseGamma(t(3.5), t(1.5)), stats.invgamma(3.5, scale=1.5)),
    "GeneralizedPareto": (lambda: d.GeneralizedPareto(t(0.1), t(2.0), t(0.3)),
                          stats.genpareto(0.3, 0.1, 2)),
    "of bounded numbers": (lambda: d.GeneralizedPareto(t(0.1), t(2.0), t(-0.4)),
                           stats.genpareto(-0.4, 0.1, 2)),
    "of exponential ones": (lambda: d.GeneralizedPareto(t(0.1), t(2.0), t(0.0)),
                            stats.expon(0.1, 2)),
    "VonMises": (lambda: d.VonMises(t(0.5), t(2.5)), stats.vonmises(2.5, 0.5)),
    "narrow": (lambda: d.VonMises(t(0.5), t(2000.0)), stats.vonmises(2000, 0.5)),
    "Kumaraswamy of Beta": (lambda: d.Kumaraswamy(t(1.0), t(2.5)), stats.beta(1, 2.5)),
    "a power": (lambda: d.Kumaraswamy(t(3.0), t(1.0)), stats.powerlaw(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_as_in_scipy(name):
    p, q = BESIDE[name][0](), BESIDE[name][1]
    x = X / 2 if "Kumaraswamy" in name or "power" in name else X
    if name == "narrow":
        x = np.array([0.48, 0.5, 0.53])
    near = {"rtol": 1e-9, "atol": 1e-12}
    assert np.allclose(p.log_prob(t(x)).numpy(), q.logpdf(x), **near)
    if name not in ("FisherSnedecor",):  # PyTorch has no entropy of it
        assert np.isclose(p.entropy().item(), q.entropy(), **near)
    if isinstance(p, d.VonMises):
        length = abs(integrate.quad(lambda a: q.pdf(a) * np.cos(a - 0.5), 0.5 - math.pi,
                                    0.5 + math.pi, points=[0.5])[0])  # fmt: skip
        assert p.mean.item() == 0.5 and np.isclose(p.variance.item(), 1 - length, atol=1e-9)
        return
    assert np.allclose([p.mean.item(), p.variance.item()], q.stats(), **near)
    if name != "FisherSnedecor":
        assert np.allclose(p.cdf(t(x)).numpy(), q.cdf(x), **near)
    if hasattr(type(p), "icdf") and name not in ("FisherSnedecor", "InverseGamma"):
        assert np.allclose(p.icdf(t(0.2, 0.7)).numpy(), q.ppf([0.2, 0.7]), **near)


def test_ends_and_moments_that_there_are_not():
    p = d.GeneralizedPareto(t(0.0), t(2.0), t(-1.0))  # uniform
    assert np.allclose(p.log_prob(t(0.0, 1.0, 2.0)).numpy(), math.log(0.5))
    assert p.icdf(t(0.25)).item() == 0.5 and p.support.check(t(2.0)) and not p.support.check(t(2.1))
    assert d.GeneralizedPareto(t(0.0), t(1.0), t(1.0)).mean.isnan()
    assert d.InverseGamma(t(1.0), t(1.0)).mean.isinf()
    assert d.FisherSnedecor(t(1.0), t(2.0)).mean.isnan()
    assert d.FisherSnedecor(3.0, 4.0).variance.isnan()
    assert d.FisherSnedecor(t(2.0), t(3.0)).mode.isnan()
    for make in (lambda x: d.InverseGamma(x, 1.0), lambda x: d.FisherSnedecor(1.0, x),
                 lambda x: d.GeneralizedPareto(0.0, 1.0, x)):  # fmt: skip
        x = t(0.9, 7.0).requires_grad_()
        p = make(x)
        (p.mean[1] + p.variance[1]).backward()
        assert x.grad.isfinite().all()


@pytest.mark.parametrize("p", [
    d.ContinuousBernoulli(t(0.2, 0.9)), d.ContinuousBernoulli(logits=t(-3.0, 0.5)),
    d.ContinuousBernoulli(t(0.4995, 0.5004)), d.Kumaraswamy(t(2.0, 3.0), t(1.5, 4.0)),
], ids=str)  # fmt: skip
def test_numbers_of_the_unit_interval(p):
    edges = lt.linspace(0, 1, 100_001, **F64)[:, None]
    middle = (edges[1:] + edges[:-1]) / 2 + t(0.0, 0.0)
    log = p.log_prob(middle)
    chance = log.exp() / 100_000
    near = {"rtol": 1e-6, "atol": 1e-6}
    assert lt.allclose(chance.sum(0), t(1.0, 1.0), **near)
    mean = (chance * middle).sum(0)
    assert lt.allclose(mean, p.mean, **near)
    assert lt.allclose((chance * (middle - mean).square()).sum(0), p.variance, **near)
    assert lt.allclose(-(chance * log).sum(0), p.entropy(), **near)
    assert lt.allclose(chance.cumsum(0)[29_999], p.cdf(t(0.3, 0.3)), **near)
    share = t(0.25, 0.6)
    assert lt.allclose(p.cdf(p.icdf(share)), share, **near)
    if isinstance(p, d.Kumaraswamy):
        assert lt.allclose(middle[log.argmax(0), 0], p.mode, atol=2e-5)
    else:  # the formula and the series meet
        a, b = (
            d.ContinuousBernoulli(t(0.498), lims=lims) for lims in ((0.499, 0.501), (0.49, 0.51))
        )
        for what in ("mean", "variance"):
            assert np.isclose(getattr(a, what).item(), getattr(b, what).item(), rtol=1e-9)
        assert np.isclose(a.log_prob(t(0.3)).item(), b.log_prob(t(0.3)).item(), rtol=1e-9)


def test_logistic_normal_numbers_are_shares():
    p = d.LogisticNormal(t(0.3, -0.5), t(0.5, 1.5))
    assert p.event_shape == (3,) and p.batch_shape == () and p.expand((4,)).sample().shape == (4, 3)
    x = p.sample((5,))
    assert x.shape == (5, 3) and lt.allclose(x.sum(-1), lt.ones(5, **F64))
    assert d.LogisticNormal(0.0, 1.0).event_shape == (2,)
    one = d.LogisticNormal(t([0.3]), t([0.5]))  # of one number its sigmoid
    u = np.array([0.1, 0.6])
    z = np.log(u / (1 - u))
    want = stats.norm(0.3, 0.5).logpdf(z) - np.log(u * (1 - u))
    assert np.allclose(one.log_prob(t(np.stack([u, 1 - u], -1))).numpy(), want)


def test_angles():
    lt.manual_seed(2)
    for concentration in (1e-6, 0.3, 2.5, 300.0):
        p = d.VonMises(t(2.9), t(concentration))
        x = p.sample((100_000,))
        assert (x.abs() <= math.pi + 1e-12).all() and not x.requires_grad
        around = (x.numpy() - 2.9 + math.pi) % (2 * math.pi) - math.pi
        rest = stats.kstest(around, stats.vonmises(concentration).cdf)
        assert rest.pvalue > 1e-4, concentration
    narrow = d.VonMises(lt.tensor(0.0), lt.tensor(1e-4)).sample((1000,))  # in float32 too
    assert narrow.dtype == lt.float32 and narrow.isfinite().all() and narrow.std() > 1.5
    p = d.VonMises(t(1.0, 2.0), t(0.5)).expand((3, 2))
    assert p.sample((4,)).shape == (4, 3, 2) and p.log_prob(p.sample()).shape == (3, 2)
    with pytest.raises(lt.UnsupportedError):
        p.rsample()

    def drawn(k):
        return d.VonMises(k * 0, k).sample((5,))

    lt.manual_seed(1)
    eager = drawn(t(0.5, 3.0))
    lt.manual_seed(1)
    assert lt.equal(lt.trace(drawn)(t(0.5, 3.0)), eager)


def test_covariances_of_low_rank():
    loc, diag = X - 1, X
    p = d.LowRankMultivariateNormal(t(loc), t(FACTOR), t(diag))
    covariance = FACTOR @ FACTOR.T + np.diag(diag)
    q = stats.multivariate_normal(loc, covariance)
    x = np.random.default_rng(0).standard_normal((4, 3))
    assert np.allclose(p.log_prob(t(x)).numpy(), q.logpdf(x))
    assert np.isclose(p.entropy().item(), q.entropy())
    assert np.allclose(p.covariance_matrix.numpy(), covariance)
    assert np.allclose(p.precision_matrix.numpy(), np.linalg.inv(covariance))
    assert np.allclose(p.scale_tril.numpy(), np.linalg.cholesky(covariance))
    assert np.allclose(p.variance.numpy(), covariance.diagonal())
    found = np.cov(p.sample((100_000,)).numpy().T)
    assert np.allclose(found, covariance, atol=0.1)
    wide = p.expand((2, 5))
    assert wide.sample((7,)).shape == (7, 2, 5, 3) and wide.log_prob(t(x[0])).shape == (2, 5)
    full = d.MultivariateNormal(t(loc) + 1, scale_tril=t(TRIL))
    for a, b in itertools.product((p, full, d.LowRankMultivariateNormal(t(x[0]), t(FACTOR[:, :1]),
                                   t(diag))), repeat=2):  # fmt: skip
        m, n = a.covariance_matrix.numpy(), b.covariance_matrix.numpy()
        apart = (a.loc - b.loc).numpy()
        want = 0.5 * (np.trace(np.linalg.solve(n, m)) + apart @ np.linalg.solve(n, apart) - 3
                      + np.log(np.linalg.det(n) / np.linalg.det(m)))  # fmt: skip
        assert np.isclose(d.kl_divergence(a, b).item(), want, atol=1e-9)
        rows = d.kl_divergence(a.expand((2,)), b.expand((4, 1)))
        assert rows.shape == (4, 2) and np.allclose(rows.numpy(), want, atol=1e-9)
    with pytest.raises(lt.ValueError, match="different sizes"):
        d.LowRankMultivariateNormal(t(loc), t(FACTOR[:2]), t(diag))


def test_random_covariances():
    scale = TRIL @ TRIL.T
    q = stats.wishart(5, scale)
    value = stats.wishart(4, scale).rvs(4, random_state=1)
    for given in ({"scale_tril": t(TRIL)}, {"covariance_matrix": t(scale)},
                  {"precision_matrix": t(np.linalg.inv(scale))}):  # fmt: skip
        p = d.Wishart(5.0, **given)
        assert p.batch_shape == () and p.event_shape == (3, 3)
        assert np.allclose(p.log_prob(t(value)).numpy(), q.logpdf(value.transpose(1, 2, 0)))
        assert np.isclose(p.entropy().item(), q.entropy())
        assert np.allclose(p.mean.numpy(), q.mean()) and np.allclose(p.variance.numpy(), q.var())
        assert np.allclose(p.mode.numpy(), q.mode())
    assert p.support.check(p.sample((100,))).all() and d.Wishart(3.0, t(scale)).mode.isnan().all()
    assert not p.support.check(t([[1.0, 2], [2, 1]])) and not p.support.check(t([[1.0, 2], [0, 9]]))
    with pytest.raises(lt.ValueError, match="df"):
        d.Wishart(2.0, t(scale))
    with pytest.raises(lt.ValueError, match="one matrix"):
        d.Wishart(2.0)


def test_random_correlations():
    for c in (0.6, 1.0, 3.0):
        p = d.LKJCholesky(2, t(c))
        r = np.linspace(-1, 1, 200_001)[1:-1]
        rows = np.zeros((len(r), 2, 2))
        rows[:, 0, 0], rows[:, 1, 0], rows[:, 1, 1] = 1, r, np.sqrt(1 - r * r)
        density = p.log_prob(t(rows)).exp().sum().item() * 1e-5
        assert abs(density - 1) < (0.01 if c < 1 else 1e-5)
    p, flat = d.LKJCholesky(4, t(2.5)), d.LKJCholesky(4, t(1.0))
    x = flat.sample((50_000,))
    assert p.support.check(x).all() and x.shape == (50_000, 4, 4)
    ratio = (p.log_prob(x) - flat.log_prob(x)).exp()
    assert abs(ratio.mean().item() - 1) < 5 * ratio.std().item() / 50_000**0.5
    drawn = p.sample((50_000,))
    correlations = drawn @ drawn.mT
    for i, j in ((1, 0), (3, 0), (3, 2)):  # (r + 1) / 2 is Beta(c + dim / 2 - 1)
        rest = stats.kstest((correlations[:, i, j].numpy() + 1) / 2, stats.beta(3.5, 3.5).cdf)
        assert rest.pvalue > 1e-4
    assert d.LKJCholesky(3, t(1.0, 2.0)).expand((4, 2)).sample((5,)).shape == (5, 4, 2, 3, 3)
    with pytest.raises(lt.ValueError, match="two numbers or more"):
        d.LKJCholesky(1)
    with pytest.raises(lt.ValueError, match="outside of the support"):
        p.log_prob(lt.ones(4, 4, **F64))


def test_one_hot_samples_that_have_a_derivative():
    logits = t(0.1, 0.4, -1.0).requires_grad_()
    p = d.OneHotCategoricalStraightThrough(logits=logits)
    x, weight = p.rsample(), t(1.0, 2.0, 5.0)
    assert lt.allclose(x.detach().sum(), t(1.0)) and not p.sample().requires_grad
    (got,) = lt.autograd.grad((x * weight).sum(), logits)
    (want,) = lt.autograd.grad((lt.softmax(logits, 0) * weight).sum(), logits)
    assert lt.allclose(got, want)


SMOOTH = {
    "GeneralizedPareto": (lambda a, b: d.GeneralizedPareto(a, b, a - 0.5), 1.7),
    "InverseGamma": (d.InverseGamma, 0.7), "FisherSnedecor": (d.FisherSnedecor, 0.7),
    "Kumaraswamy": (d.Kumaraswamy, 0.7),
    "ContinuousBernoulli": (lambda a, b: d.ContinuousBernoulli(a * b / 9), 0.7),
    "VonMises": (d.VonMises, 0.7), "LogisticNormal": (d.LogisticNormal, [0.2, 0.3, 0.5]),
    "LKJCholesky": (lambda a, b: d.LKJCholesky(2, a), [[1, 0], [0.6, 0.8]]),
    "Wishart": (lambda a, b: d.Wishart(a + 3, lt.diag(b)), [[2, 0.5], [0.5, 1]]),
    "LowRankMultivariateNormal": (
        lambda a, b: d.LowRankMultivariateNormal(a, b[:, None], a * b), [0.3, 0.2]),
}  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    make, value = SMOOTH[name]
    pair = (t(0.8, 1.3).requires_grad_(), t(1.1, 0.6).requires_grad_())
    assert lt.autograd.gradcheck(lambda a, b: make(a, b).log_prob(t(value)), pair)
    if name in ("GeneralizedPareto", "Kumaraswamy", "ContinuousBernoulli", "LogisticNormal",
                "LowRankMultivariateNormal"):  # fmt: skip

        def drawn(a, b):
            lt.manual_seed(5)
            return make(a, b).rsample((3,))

        assert lt.autograd.gradcheck(drawn, pair)

    def log_prob(a, b):
        return make(a, b).log_prob(t(value))

    traced = lt.trace(log_prob)
    for shift in (0.0, 0.25):
        a, b = (x.detach() + shift for x in pair)
        assert traced(a, b).tolist() == log_prob(a, b).tolist()


@pytest.mark.parametrize("make, mean", [
    (lambda a: d.InverseGamma(a + 3, 2.0), lambda a: 2 / (a + 2)),
    (lambda a: d.FisherSnedecor(3.0, a + 12), lambda a: (a + 12) / (a + 10)),
    (lambda a: d.Wishart(a + 1, lt.eye(2, **F64)), lambda a: a + 1),
])  # fmt: skip
def test_samples_of_gamma_numbers_have_derivatives(make, mean):
    a = lt.full((40_000,), 2.0, **F64).requires_grad_()
    x = make(a).rsample()
    (x if x.ndim == 1 else x[:, 0, 0]).sum().backward()
    b = t(2.0).requires_grad_()
    mean(b).backward()
    assert abs(a.grad.mean().item() / b.grad.item() - 1) < 0.1


PAIRS = {
    "Beta": (lambda: d.Beta(t(2.5), t(1.5)), (0, 1)),
    "ContinuousBernoulli": (lambda: d.ContinuousBernoulli(t(0.3)), (0, 1)),
    "Exponential": (lambda: d.Exponential(t(1.3)), (0, 40)),
    "Gamma": (lambda: d.Gamma(t(2.5), t(1.5)), (0, 40)),
    "Gumbel": (lambda: d.Gumbel(t(0.5), t(1.2)), (-20, 60)),
    "Laplace": (lambda: d.Laplace(t(0.5), t(0.7)), (-40, 40)),
    "Normal": (lambda: d.Normal(t(0.4), t(0.8)), (-20, 20)),
    "Pareto": (lambda: d.Pareto(t(0.2), t(4.0)), (0.2, 4000)),
    "Uniform": (lambda: d.Uniform(t(0.25), t(0.75)), (0.25, 0.75)),
}  # fmt: skip


@pytest.mark.parametrize("p, q", list(itertools.product(PAIRS, repeat=2)))
def test_divergences_are_the_integrals(p, q):
    """Of all pairs that have a formula, infinite where q excludes what p may be."""
    (make_p, (low, high)), (make_q, (q_low, q_high)) = PAIRS[p], PAIRS[q]
    p, q = make_p(), make_q()
    try:
        found = d.kl_divergence(p, q).item()
    except lt.UnsupportedError:
        assert (type(p).__name__, type(q).__name__) in NO_FORMULA
        return
    outside = low < q_low and q_low in (0, 0.2, 0.25) or high > q_high and q_high in (1, 0.75)
    if outside:
        assert found == math.inf
        return

    def part(x):
        x = t(x)
        log_p = p._log_prob(x).item()
        return math.exp(log_p) * (log_p - q._log_prob(x).item()) if log_p > -700 else 0.0

    want = integrate.quad(part, low, high, limit=300, points=[0.5])[0]
    assert found == pytest.approx(want, rel=1e-5, abs=1e-7)


# As in PyTorch.
NO_FORMULA = {
    *(("Beta", q) for q in ("Gumbel", "Laplace")),
    *(("ContinuousBernoulli", q) for q in ("Beta", "Gamma", "Gumbel", "Laplace")),
    ("Exponential", "Laplace"), ("Gamma", "Laplace"), ("Gumbel", "Laplace"), ("Laplace", "Gumbel"),
    ("Pareto", "Gumbel"), ("Pareto", "Laplace"), ("Uniform", "Laplace"),
}  # fmt: skip


def test_divergences_of_counts():
    p, q = d.Bernoulli(t(0.3)), d.Poisson(t(1.7))
    values = t(0.0, 1.0)
    want = (p.log_prob(values).exp() * (p.log_prob(values) - q.log_prob(values))).sum()
    assert lt.allclose(d.kl_divergence(p, q), want)
    for other in (p, d.Binomial(3, t(0.2))):
        assert d.kl_divergence(q, other).item() == math.inf
