"""Distributions: samples against moments, densities that integrate to 1, derivatives, traces.
tests/against_pytorch/distributions.py compares them with PyTorch's."""

import math

import pytest

import lathe as lt
from lathe import distributions as d

N = 20_000
A, P = lt.tensor([0.5, 3.0], dtype=lt.float64), lt.tensor([0.2, 0.7], dtype=lt.float64)
ROWS = lt.tensor([[0.2, 1.0, 3.0], [0.5, 0.5, 1.0]], dtype=lt.float64)
MADE = {
    "Normal": lambda: d.Normal(A, A), "Laplace": lambda: d.Laplace(A, A),
    "Gumbel": lambda: d.Gumbel(A, A),
    "Logistic": lambda: d.Logistic(A, A), "Uniform": lambda: d.Uniform(A, A + 1),
    "Exponential": lambda: d.Exponential(A), "HalfNormal": lambda: d.HalfNormal(A),
    "LogNormal": lambda: d.LogNormal(P, P), "Weibull": lambda: d.Weibull(A, A + 1),
    "Pareto": lambda: d.Pareto(A, A + 5), "Gamma": lambda: d.Gamma(A, A), "Chi2": lambda: d.Chi2(A),
    "StudentT": lambda: d.StudentT(A + 5, A, A), "Beta": lambda: d.Beta(A, A + 1),
    "Dirichlet": lambda: d.Dirichlet(ROWS), "Bernoulli": lambda: d.Bernoulli(P),
    "Geometric": lambda: d.Geometric(P), "Binomial": lambda: d.Binomial(9, P),
    "NegativeBinomial": lambda: d.NegativeBinomial(A, P), "Poisson": lambda: d.Poisson(A * 9),
    "OneHotCategorical": lambda: d.OneHotCategorical(ROWS), "Multinomial": lambda: d.Multinomial(5,
    ROWS),
    "MultivariateNormal": lambda: d.MultivariateNormal(A, scale_tril=lt.tensor([[1.0, 0], [0.5,
    2]], dtype=lt.float64)),
    "MixtureSameFamily": lambda: d.MixtureSameFamily(d.Categorical(ROWS), d.Normal(ROWS, ROWS)),
    "Independent": lambda: d.Independent(d.Normal(ROWS, ROWS), 1),
    "FisherSnedecor": lambda: d.FisherSnedecor(A + 4, A + 12),
    "GeneralizedPareto": lambda: d.GeneralizedPareto(A, A, P - 0.7),
    "InverseGamma": lambda: d.InverseGamma(A + 6, A),
    "Kumaraswamy": lambda: d.Kumaraswamy(A, A + 1),
    "ContinuousBernoulli": lambda: d.ContinuousBernoulli(P),
    "OneHotCategoricalStraightThrough": lambda: d.OneHotCategoricalStraightThrough(ROWS),
    "LowRankMultivariateNormal": lambda: d.LowRankMultivariateNormal(A, ROWS, A),
    "Wishart": lambda: d.Wishart(A + 2, ROWS[:, 1:].T @ ROWS[:, 1:]),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_samples_have_the_moments(name):
    p = MADE[name]()
    x = p.sample((N,))
    assert tuple(x.shape) == (N, *p.shape) and not x.requires_grad and p.sample().shape == p.shape
    spread = lt.sqrt(p.variance / N)
    assert (lt.abs(x.double().mean(0) - p.mean) < 6 * spread + 1e-9).all()
    assert lt.isfinite(p.log_prob(x)).all()
    lt.manual_seed(1)
    eager = p.sample((3,))
    lt.manual_seed(1)
    assert lt.equal(lt.trace(lambda: MADE[name]().sample((3,)))(), eager)
    if p.has_rsample:
        assert tuple(p.rsample((2,)).shape) == (2, *p.shape)
    else:
        with pytest.raises(lt.UnsupportedError):
            p.rsample()
    if p.batch_shape:
        wide = p.expand((4, *p.batch_shape))
        assert (
            wide.sample().shape == (4, *p.shape) and lt.isfinite(wide.log_prob(wide.sample())).all()
        )


LINES = ["Normal", "Laplace", "Gumbel", "Logistic", "Exponential", "LogNormal", "Weibull", "Gamma",
         "StudentT", "Beta", "HalfNormal", "FisherSnedecor", "InverseGamma"]  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_densities_are_of_total_one(name):
    p = MADE[name]()
    top = 1.0 if name == "Beta" else 60.0
    low = -60.0 if p.support is d.constraints.real else 0.0
    edges = lt.linspace(low, top, 200_001, dtype=lt.float64)
    middle = lt.unsqueeze((edges[1:] + edges[:-1]) / 2, 1)
    density = lt.exp(p.log_prob(middle + 0 * A))
    step = (top - low) / 200_000
    total = density.sum(0) * step
    assert (lt.abs(total - 1) < 0.03).all()  # a density without bound at 0 is rough there
    assert abs(total[1].item() - 1) < 1e-3


@pytest.mark.parametrize("name", ["Normal", "Laplace", "Gumbel", "Logistic", "Exponential",
"Uniform",
                                  "HalfNormal", "LogNormal", "Weibull"])  # fmt: skip
def test_cdf_and_icdf(name):
    p = MADE[name]()
    share = lt.tensor([[0.1], [0.5], [0.9]], dtype=lt.float64) + 0 * A
    assert lt.allclose(p.cdf(p.icdf(share)), share, rtol=1e-9)
    below = (p.sample((N,)) < p.icdf(share)[2]).double().mean(0)
    assert (lt.abs(below - 0.9) < 0.02).all()


@pytest.mark.parametrize("make, mean", [
    (lambda a: d.Gamma(a, 2.0), lambda a: a / 2), (lambda a: d.Beta(a, 2.0), lambda a: a / (a + 2)),
    (lambda a: d.Normal(a, a), lambda a: a), (lambda a: d.Exponential(a), lambda a: 1 / a),
])  # fmt: skip
def test_samples_have_derivatives(make, mean):
    for value in (0.4, 3.0, 100.0):
        a = lt.full((N,), value, dtype=lt.float64).requires_grad_()
        make(a).rsample().sum().backward()
        b = lt.tensor(value, dtype=lt.float64, requires_grad=True)
        mean(b).backward()
        assert abs(a.grad.mean().item() / b.grad.item() - 1) < 0.06, value


def test_categories():
    p = d.Categorical(ROWS)
    drawn = p.sample((N,))
    for k in range(3):
        share = (drawn == k).double().mean(0)
        assert (lt.abs(share - p.probs[:, k]) < 0.02).all()
    assert p.enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert lt.allclose(
        lt.exp(p.log_prob(p.enumerate_support())).sum(0), lt.ones(2, dtype=lt.float64)
    )
    assert p.mode.tolist() == [2, 2] and d.Bernoulli(P).entropy().shape == (2,)


def test_divergences():
    p, q = d.Normal(A, A), d.Normal(A + 1, A * 2)
    x = p.sample((N,))
    estimate = (p.log_prob(x) - q.log_prob(x)).mean(0)
    assert (lt.abs(d.kl_divergence(p, q) - estimate) < 0.05).all()
    assert (lt.abs(d.kl_divergence(p, p)) < 1e-12).all()
    with pytest.raises(lt.UnsupportedError, match="no formula"):
        d.kl_divergence(p, d.StudentT(A))

    @d.register_kl(d.Normal, d.StudentT)
    def made_up(p, q):
        return 3

    assert d.kl_divergence(p, d.StudentT(A)) == 3
    d.kl._FORMULAS.pop((d.Normal, d.StudentT))


@pytest.mark.parametrize("way", [lt.trace, lt.script])
def test_divergence_in_a_trace(way):
    def divergence(x):
        p, q = d.Normal(x, 1 + x * x), d.Normal(2 * x, 1.0)
        return d.kl_divergence(p, q) + d.kl_divergence(d.LogNormal(x, 1.0), d.LogNormal(0.0, 1.0))

    x = lt.tensor([0.5, -1.0], dtype=lt.float64)
    run = way(divergence)
    assert all(run(x).tolist() == divergence(x).tolist() for x in (x, x + 1))
    assert run.counts["traces"] == 1


@pytest.mark.parametrize("t", [d.ExpTransform(), d.SigmoidTransform(), d.TanhTransform(),
                               d.SoftplusTransform(), d.AffineTransform(1.0, -2.0),
                               d.PowerTransform(3.0)], ids=repr)  # fmt: skip
def test_transforms(t):
    x = lt.tensor([0.3, 1.2], dtype=lt.float64, requires_grad=True)
    y = t(x)
    assert lt.allclose(t.inv(y), x) and t.inv.inv is t
    (slope,) = lt.autograd.grad(y.sum(), x, retain_graph=True)
    assert lt.allclose(t.log_abs_det_jacobian(x, y), slope.abs().log())
    shares = d.StickBreakingTransform()(x)
    assert abs(shares.sum().item() - 1) < 1e-12
    assert lt.allclose(d.StickBreakingTransform().inv(shares), x)


WRONG = {
    "scale": lambda: d.Normal(0.0, -1.0), "probs": lambda: d.Bernoulli(1.5),
    "both": lambda: d.Bernoulli(),
    "rate": lambda: d.Exponential(-1.0), "value": lambda: d.Exponential(1.0).log_prob(-1.0),
    "bounds": lambda: d.Uniform(2.0, 1.0), "half": lambda: d.Poisson(1.0).log_prob(0.5),
    "too many axes": lambda: d.Independent(d.Normal(A, A), 2),
    "no matrix": lambda: d.MultivariateNormal(A),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    with pytest.raises(lt.ValueError) as caught:
        WRONG[name]()
    assert caught.value.next and caught.value.expected
    assert math.isnan(d.Normal(0.0, -1.0, validate_args=False).log_prob(0.0).item())


def test_the_way_back_from_the_edge_is_finite():
    lt.manual_seed(0)
    for p in (
        d.RelaxedBernoulli(0.05, lt.tensor(0.7)),
        d.RelaxedOneHotCategorical(0.05, lt.tensor([0.2, 0.8])),
        d.TransformedDistribution(d.Normal(0.0, 5.0), [d.TanhTransform(cache_size=1)]),
        d.TransformedDistribution(d.Normal(0.0, 5.0), d.ComposeTransform([d.TanhTransform()], 1)),
    ):
        assert lt.isfinite(p.log_prob(p.sample((N,)))).all(), p
    edges = lt.tensor([0.0, 1.0])
    tiny, eps = lt.finfo(lt.float32).tiny, lt.finfo(lt.float32).eps
    wanted = [math.log(tiny), -math.log(eps)]
    # f32: a logarithm or two, each rounded
    assert lt.allclose(d.SigmoidTransform().inv(edges), lt.tensor(wanted), rtol=1e-6)
    y = d.SigmoidTransform()(lt.tensor([-200.0, 200.0]))
    assert (y > 0).all() and (y < 1).all()
    back = d.StickBreakingTransform().inv(lt.tensor([0.5, 0.5, 0.0]))
    assert lt.allclose(back, lt.tensor([math.log(2), math.log(0.5 / tiny)]), rtol=1e-6)


def test_a_transform_keeps_a_pair():
    plain = d.TanhTransform()
    kept = plain.with_cache()
    assert plain.with_cache(0) is plain and kept.with_cache() is kept and kept is not plain
    x = lt.tensor([30.0])
    y = kept(x)
    assert kept.inv(y) is x and kept(x) is y and kept.inv.with_cache(0)(y).isinf().all()
    assert kept.inv(lt.tensor([0.0])).item() == 0 and kept.inv(y).isinf().all()
    whole = d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)]).with_cache()
    independent = d.IndependentTransform(d.ExpTransform(), 1, cache_size=1)
    for t in (whole, *whole.parts, independent, independent.base_transform):
        assert t.inv(t(x)) is x
    with pytest.raises(lt.ValueError, match="one pair"):
        d.ExpTransform(cache_size=2)


def test_the_order_is_turned_by_sign():
    p = d.TransformedDistribution(d.Exponential(1.0), [d.PowerTransform(-1.0)])
    y = lt.tensor([0.5, 1.0, 2.0])
    assert lt.allclose(p.cdf(y), lt.exp(-1 / y)) and lt.allclose(p.icdf(p.cdf(y)), y)
    p = d.TransformedDistribution(d.Normal(0.0, 1.0), [d.AffineTransform(1.0, lt.tensor(-2.0))])
    assert lt.allclose(p.cdf(y), 1 - d.Normal(0.0, 1.0).cdf((y - 1) / -2))
    assert d.ComposeTransform([d.ExpTransform(), d.AffineTransform(0.0, -2.0)]).sign == -1

    class Own(d.Transform):
        bijective = True

        def _call(self, x):
            return x

        _inverse = _call

    for transform in (d.AbsTransform(), d.StickBreakingTransform(), d.SoftmaxTransform(), Own()):
        p = d.TransformedDistribution(d.Normal(lt.zeros(2), 1.0), [transform])
        for call in (p.cdf, p.icdf):
            with pytest.raises(lt.UnsupportedError) as caught:
                call(lt.tensor([0.3, 0.7]))
            assert caught.value.next


NAN, INF = math.nan, math.inf
OUTSIDE = {
    "Pareto": (lambda c: d.Pareto(2.0, 1.0, validate_args=c), 1.0),
    "LogNormal": (lambda c: d.LogNormal(0.0, 1.0, validate_args=c), -1.0),
    "Weibull": (lambda c: d.Weibull(1.0, 2.0, validate_args=c), -1.0),
    "Exponential": (lambda c: d.Exponential(1.0, validate_args=c), -1.0),
    "HalfNormal": (lambda c: d.HalfNormal(1.0, validate_args=c), -1.0),
    "HalfCauchy": (lambda c: d.HalfCauchy(1.0, validate_args=c), -1.0),
    "Uniform": (lambda c: d.Uniform(0.0, 1.0, validate_args=c), 2.0),
    "Normal": (lambda c: d.Normal(0.0, 1.0, validate_args=c), NAN),
    "Poisson": (lambda c: d.Poisson(1.0, validate_args=c), INF),
    "Geometric": (lambda c: d.Geometric(0.5, validate_args=c), INF),
    "NegativeBinomial": (lambda c: d.NegativeBinomial(3.0, 0.5, validate_args=c), INF),
    "RelaxedBernoulli": (lambda c: d.RelaxedBernoulli(0.5, 0.5, validate_args=c), 2.0),
    "tanh": (lambda c: d.TransformedDistribution(d.Normal(0.0, 1.0, validate_args=c),
     [d.TanhTransform()], c), 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_values_are_checked(name):
    make, value = OUTSIDE[name]
    value = lt.tensor(value)
    with pytest.raises(lt.ValueError, match="outside of the support"):
        make(True).log_prob(value)
    make(False).log_prob(value)
    if name in ("Poisson", "Geometric", "NegativeBinomial", "RelaxedBernoulli", "tanh", "Weibull"):
        return
    with pytest.raises(lt.ValueError, match="outside of the support"):
        make(True).cdf(value)
    make(False).cdf(value)


def test_parameters_of_transformed_ones_are_checked():
    for make in (lambda: d.Weibull(-1.0, 2.0), lambda: d.Pareto(-1.0, 2.0)):
        with pytest.raises(lt.ValueError, match="scale"):
            make()
    with pytest.raises(lt.ValueError, match="probs"):
        d.RelaxedBernoulli(0.5, 1.5)


@pytest.mark.parametrize("p", [d.Weibull(1.0, 2.0), d.Pareto(1.0, 3.0), d.LogNormal(0.0, 1.0)])
def test_what_is_expanded_has_moments_of_its_shape(p):
    wide = p.expand((2, 3))
    for of in (
        lambda p: p.mean, lambda p: p.variance, lambda p: p.stddev, lambda p: p.entropy(),
        lambda p: p.log_prob(1.5), lambda p: p.cdf(1.5),
    ):  # fmt: skip
        assert of(wide).shape == (2, 3) and lt.allclose(of(wide), of(p).expand(2, 3))


def test_a_sure_number_has_no_entropy():
    sure = d.Binomial(4, lt.tensor([0.0, 1.0], dtype=lt.float64)).entropy()
    assert sure.tolist() == pytest.approx([0, 0], abs=1e-12)
    assert abs(d.Binomial(4, 0.3).entropy().item() - 1.293957) < 1e-5


@pytest.mark.parametrize("make", [
    lambda a: d.Pareto(a, 2.0), lambda a: d.Uniform(a, a + 9), lambda a: d.Binomial(9, a / 10),
    lambda a: d.Weibull(a, 2.0), lambda a: d.Independent(d.Pareto(a, 2.0), 1),
    lambda a: d.TransformedDistribution(d.Normal(a, 5.0), [d.TanhTransform(cache_size=1)]),
])  # fmt: skip
def test_checks_in_a_trace(make):
    def log_prob(a):
        p = make(a)
        return p.log_prob(p.sample((4,)))

    traced, a = lt.trace(log_prob), lt.tensor([1.5, 2.5])
    for seed in (1, 2):
        lt.manual_seed(seed)
        wanted = log_prob(a)
        lt.manual_seed(seed)
        assert lt.allclose(traced(a), wanted) and lt.isfinite(wanted).all()
    assert "traces=1" in repr(traced)


def test_shares_of_small_shapes():
    lt.manual_seed(0)
    p = d.Beta(lt.tensor(0.01), 0.01)
    drawn = p.sample((N,))
    assert drawn.dtype == lt.float32 and not (drawn == 0.5).any()
    assert (drawn > 0).all() and (drawn < 1).all() and lt.isfinite(p.log_prob(drawn)).all()
    assert abs((drawn < 0.5).double().mean().item() - 0.5) < 0.02
    drawn = d.Dirichlet(lt.full((3,), 0.01)).sample((N,))
    assert (drawn.max(-1)[0] > 0.4).all()  # not a third each
    a = lt.full((N,), 0.01, requires_grad=True)
    d.Beta(a, 0.01).rsample().sum().backward()
    assert abs(a.grad.mean().item() / 25 - 1) < 0.2  # b / (a + b)^2


HALVES = lt.tensor([0.5, 0.5])
TEXTS = {
    "Categorical(probs: [2])": lambda: d.Categorical(HALVES),
    "Categorical(logits: [3, 2])": lambda: d.Categorical(logits=HALVES).expand((3,)),
    "Binomial(total_count: 3.0, probs: 0.5)": lambda: d.Binomial(3, 0.5),
    "NegativeBinomial(total_count: [2], logits: [2])":
        lambda: d.NegativeBinomial(3, logits=HALVES),
    "Independent(Normal(loc: [2], scale: [2]), 1)":
        lambda: d.Independent(d.Normal(HALVES, HALVES), 1),
    "MixtureSameFamily(\n  Categorical(probs: [2]),\n  Normal(loc: [2], scale: [2]))":
        lambda: d.MixtureSameFamily(d.Categorical(HALVES), d.Normal(HALVES, HALVES)),
    "MultivariateNormal(loc: [2], covariance_matrix: [2, 2])":
        lambda: d.MultivariateNormal(HALVES, lt.eye(2)),
    "MultivariateNormal(loc: [2], scale_tril: [2, 2])":
        lambda: d.MultivariateNormal(HALVES, scale_tril=lt.eye(2)),
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_texts_name_what_was_given(text):
    assert repr(TEXTS[text]()) == text


LEAST = 36.04365338911715  # minus the logarithm of the f64 epsilon


@pytest.mark.parametrize(
    "name, given, value, log_prob, by_given, by_value",
    [
        ("Bernoulli", [0, 1, 0.5, 0, 1], [0, 1, 1, 1, 0], [0, 0, -math.log(2), -LEAST, -LEAST],
         [0, 0, 2, 0, 0], [-LEAST, LEAST, 0, -LEAST, LEAST]),
        ("Geometric", [1, 0.5], [0, 1], [0, -2 * math.log(2)], [1, 0], [0, -math.log(2)]),
        ("Poisson", [0, 1], [0, 0], [0, -1], [math.nan, -1], [0.5772156649, 0.5772156649]),
        ("Categorical", [0, 1, 1], [0, 1, 2], [-LEAST, -math.log(2), -math.log(2)],
         [-1, 0, 0], None),
        ("OneHotCategorical", [0, 1, 1], [[1, 0, 0], [0, 1, 0]], [-LEAST, -math.log(2)],
         [-0.5, 0.5, -0.5], None),
    ],
)  # fmt: skip
def test_log_prob_of_what_never_happens(name, given, value, log_prob, by_given, by_value):
    """As PyTorch 2.15: probabilities are kept apart from 0 and 1, so that gradients are finite."""
    given = lt.tensor(given, dtype=lt.float64, requires_grad=True)
    at = lt.tensor(value, dtype=lt.float64, requires_grad=by_value is not None)
    found = getattr(d, name)(given).log_prob(at)
    found.sum().backward()
    assert found.tolist() == pytest.approx(log_prob, abs=1e-12)
    assert given.grad.tolist() == pytest.approx(by_given, abs=1e-12, nan_ok=True)
    assert by_value is None or at.grad.tolist() == pytest.approx(by_value)


def test_categories_of_probability_0():
    p = d.Categorical(lt.tensor([0.0, 1.0, 3.0]))
    assert p.probs.tolist() == [0, 0.25, 0.75] and p.expand((2,)).probs.shape == (2, 3)
    assert p.entropy().item() == pytest.approx(0.5623351446)
    assert p.sample((1000,)).min() == 1
    q = d.Categorical(lt.tensor([1.0, 0.0, 1.0]))
    assert lt.distributions.kl_divergence(p, q) == float("inf")
    assert lt.distributions.kl_divergence(p, p) == 0
    x = lt.tensor([0.0, 1.0], requires_grad=True)
    d.Categorical(x).entropy().backward()
    assert x.grad.isfinite().all()
    sure = d.Multinomial(2, lt.tensor([0.0, 1.0])).log_prob(lt.tensor([0.0, 2.0]))
    assert sure.item() == pytest.approx(0, abs=1e-6)


def test_far_log_odds():
    x = lt.tensor([21.0, -21.0], dtype=lt.float64)
    assert d.Bernoulli(logits=x).log_prob(lt.tensor([1.0, 0.0])).tolist() == pytest.approx(
        [-7.582560422162385e-10] * 2, rel=1e-9
    )


@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16, lt.float32, lt.float64])
def test_certainty_has_a_logarithm_in_every_dtype(dtype):
    p = lt.tensor([0.0, 1.0], dtype=dtype)
    logits = d.Bernoulli(probs=p).logits
    assert logits.dtype == dtype and logits.isfinite().all()
    assert logits[0].item() < -4 and logits[1].item() > 4


def test_modes_shares_and_entropies_that_pytorch_has():
    third = lt.tensor([0.4, 3.0], dtype=lt.float64)
    gamma = d.Gamma(third, 2.0)
    below = (gamma.sample((N,)) < 1).double().mean(0)
    assert (lt.abs(gamma.cdf(lt.ones(2, dtype=lt.float64)) - below) < 0.02).all()
    assert d.Chi2(lt.tensor(2.0)).cdf(lt.tensor(1.0)).item() == pytest.approx(1 - math.exp(-0.5))
    for p, beside in ((d.Weibull(third, 2.5), 1e-3), (d.NegativeBinomial(third + 2, P[0]), 1)):
        top = p.log_prob(p.mode) + 1e-12  # two may be as likely
        assert (top >= p.log_prob(p.mode + beside)).all()
        assert (top >= p.log_prob(lt.clamp_min(p.mode - beside, 1e-9 if beside < 1 else 0))).all()
    assert d.Weibull(lt.tensor(1.0), lt.tensor(0.5)).mode.item() == 0
    p = d.Multinomial(3, lt.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], dtype=lt.float64))
    every = [(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)]
    chances = lt.exp(p.log_prob(lt.tensor(every, dtype=lt.float64)[:, None]))
    want = -lt.xlogy(chances, chances).sum(0)
    assert lt.allclose(p.entropy(), want, rtol=1e-9)
    for make in (d.Categorical, d.OneHotCategorical):
        with pytest.raises(lt.ValueError, match="one number says nothing about categories"):
            make(lt.tensor(0.5))


def test_transforms_of_the_same_parts_are_equal():
    t = lt.tensor([1.0, 2.0])
    makers = [
        lambda: d.transforms.ExpTransform(), lambda: d.transforms.SoftmaxTransform(),
        lambda: d.transforms.PowerTransform(t.clone()), lambda: d.transforms.PowerTransform(2.0),
        lambda: d.transforms.AffineTransform(0.0, t.clone()),
        lambda: d.transforms.AffineTransform(0.0, 2.0),
        lambda: d.transforms.AffineTransform(0.0, 2.0, event_dim=1),
        lambda: d.transforms.ExpTransform().inv,
        lambda: d.transforms.ComposeTransform([d.transforms.ExpTransform()]),
        lambda: d.transforms.ComposeTransform([d.transforms.TanhTransform()]),
        lambda: d.transforms.IndependentTransform(d.transforms.ExpTransform(), 1),
    ]  # fmt: skip
    for i, make in enumerate(makers):
        for j, other in enumerate(makers):
            assert (make() == other()) == (i == j), (i, j)
        assert hash(make()) == hash(make())

    class Mine(d.transforms.Transform):
        pass

    one = Mine()
    assert one == one and one != Mine()
    assert d.transforms.PowerTransform(t) != d.transforms.PowerTransform(lt.ones(3))
