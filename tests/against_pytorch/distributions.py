"""Distributions against PyTorch's: densities and their gradients, moments, entropies, cdf,
divergences; and samples against the moments.

Run by hand, in an environment that has both: ENV/bin/python tests/against_pytorch/distributions.py
"""

import math

import torch
from compare import near, ours

import lathe as lt
from lathe import distributions as mine

theirs = torch.distributions
T = lambda *v: torch.tensor(v, dtype=torch.float64)  # noqa: E731
A, B, P = T(0.5, 2.0, 7.0), T(1.5, 0.7, 3.0), T(0.2, 0.5, 0.9)
ROWS = T(0.2, 1.0, 3.0, 0.5, 0.5, 1.0).reshape(2, 3)
TRIL = torch.tensor([[1.0, 0, 0], [0.5, 2, 0], [-1, 0.3, 0.7]], dtype=torch.float64)
CASES = [
    ("Normal", {"loc": B, "scale": A}), ("Laplace", {"loc": B, "scale": A}),
    ("Cauchy", {"loc": B, "scale": A}), ("Gumbel", {"loc": B, "scale": A}),
    ("Uniform", {"low": B - 3, "high": B + A}), ("Exponential", {"rate": A}),
    ("HalfNormal", {"scale": A}), ("HalfCauchy", {"scale": A}), ("LogNormal", {"loc": B,
    "scale": P}),
    ("Weibull", {"scale": A, "concentration": B}), ("Pareto", {"scale": B, "alpha": A + 3}),
    ("Gamma", {"concentration": A, "rate": B}), ("Chi2", {"df": A}), ("StudentT", {"df": A + 3,
    "loc": B, "scale": A}),
    ("Beta", {"concentration1": A, "concentration0": B}), ("Dirichlet", {"concentration": ROWS}),
    ("Bernoulli", {"probs": P}), ("Bernoulli", {"logits": B}), ("Geometric", {"probs": P}),
    ("Binomial", {"total_count": T(5, 9, 3), "probs": P}), ("NegativeBinomial", {"total_count": A,
    "probs": P}),
    ("Poisson", {"rate": A}), ("Categorical", {"probs": ROWS}), ("Categorical", {"logits": ROWS}),
    ("OneHotCategorical", {"probs": ROWS}), ("Multinomial", {"total_count": 6, "probs": ROWS}),
    ("MultivariateNormal", {"loc": B, "scale_tril": TRIL}),
    ("FisherSnedecor", {"df1": A + 1, "df2": B + 4}),
    ("InverseGamma", {"concentration": A + 3, "rate": B}), ("LogisticNormal", {"loc": B,
    "scale": A}),
    ("ContinuousBernoulli", {"probs": P}), ("ContinuousBernoulli", {"logits": B - 1}),
    ("LowRankMultivariateNormal", {"loc": B, "cov_factor": TRIL[:, :2], "cov_diag": A}),
    ("Wishart", {"df": T(5.5, 4.0), "covariance_matrix": TRIL @ TRIL.mT}),
    ("LKJCholesky", {"dim": 4, "concentration": A}),
    ("OneHotCategoricalStraightThrough", {"probs": ROWS}),
    ("RelaxedBernoulli", {"temperature": T(0.7), "probs": P}),
    ("RelaxedOneHotCategorical", {"temperature": T(0.7), "probs": ROWS}),
]  # fmt: skip


def both(name, settings):
    leaves = {k: v.clone().requires_grad_() if torch.is_tensor(v) else v
              for k, v in settings.items()}  # fmt: skip
    copies = {k: ours(v).requires_grad_() if torch.is_tensor(v) else v for k, v in leaves.items()}
    return leaves, copies, getattr(theirs, name)(**leaves), getattr(mine, name)(**copies)


def compare(name, settings):
    leaves, copies, p, q = both(name, settings)
    assert tuple(p.batch_shape) == q.batch_shape and tuple(p.event_shape) == q.event_shape
    torch.manual_seed(0)
    value = p.sample((4,))
    a, b = p.log_prob(value), q.log_prob(ours(value))
    near(b, a, 1e-9, 1e-9)
    a.sum().backward()
    b.sum().backward()
    for k, leaf in leaves.items():
        if torch.is_tensor(leaf) and leaf.grad is not None and leaf.grad.abs().sum() > 0:
            near(copies[k].grad, leaf.grad, 1e-8, 1e-9)
    for what in ("mean", "variance", "stddev", "mode"):
        try:
            want = getattr(p, what)
        except NotImplementedError:
            continue
        try:
            near(getattr(q, what), want, 1e-9, 1e-9)
        except lt.UnsupportedError:
            print("  no", what, "of", name)
    for what, argument in (("entropy", ()), ("cdf", (value,)), ("icdf", (P,))):
        try:
            want = getattr(p, what)(*argument)
        except NotImplementedError:
            continue
        try:
            near(getattr(q, what)(*map(ours, argument)), want, 1e-8, 1e-9)
        except lt.UnsupportedError:
            print("  no", what, "of", name)
    sample = q.sample((20000,))
    assert tuple(sample.shape) == (20000, *q.shape), name
    try:
        mean, variance = p.mean.detach(), p.variance.detach()
    except NotImplementedError:
        return
    if torch.isfinite(variance).all():
        error = (torch.tensor(sample.double().mean(0).numpy()) - mean).abs()
        assert (error < 6 * (variance / 20000).sqrt() + 1e-9).all(), (name, error)
    if q.has_rsample:
        assert q.rsample((3,)).requires_grad


def divergences():
    pairs = [
        ("Normal", (B, A), (A, B)), ("Laplace", (B, A), (A, B)), ("Gumbel", (B, A), (A, B)),
        ("Cauchy", (B, A), (A, B)), ("Uniform", (B, B + 1), (B - 1, B + 2)), ("Exponential", (A,),
        (B,)),
        ("HalfNormal", (A,), (B,)), ("LogNormal", (B, A), (A, B)), ("Gamma", (A, B), (B, A)),
        ("Beta", (A, B), (B, A)), ("Dirichlet", (ROWS,), (ROWS + 1,)), ("Bernoulli", (P,),
        (P * 0.5,)),
        ("Geometric", (P,), (P * 0.5,)), ("Binomial", (T(5), P), (T(5), P * 0.5)), ("Poisson",
        (A,), (B,)),
        ("Categorical", (ROWS,), (ROWS + 1,)), ("OneHotCategorical", (ROWS,), (ROWS + 1,)),
    ]  # fmt: skip
    for name, first, second in pairs:
        a, b = (getattr(theirs, name)(*v) for v in (first, second))
        c, d = (getattr(mine, name)(*map(ours, v)) for v in (first, second))
        near(mine.kl_divergence(c, d), theirs.kl_divergence(a, b), 1e-9, 1e-10)
    a = [theirs.MultivariateNormal(m, scale_tril=t) for m, t in ((B, TRIL), (A, TRIL * 1.5))]
    b = [
        mine.MultivariateNormal(ours(m), scale_tril=ours(t))
        for m, t in ((B, TRIL), (A, TRIL * 1.5))
    ]
    near(mine.kl_divergence(*b), theirs.kl_divergence(*a), 1e-9, 1e-10)


def made_of_others():
    def build(d, t):
        normal = d.Normal(t(ROWS), t(ROWS + 1))
        yield d.Independent(normal, 1)
        yield d.MixtureSameFamily(d.Categorical(t(ROWS)), normal)
        shares = d.Categorical(t(T(0.3, 0.7)))
        yield d.MixtureSameFamily(shares, d.Independent(d.Normal(t(ROWS), t(ROWS + 1)), 1))
        u = d.Uniform(t(T(0.0, 0.0)), t(T(1.0, 1.0)))
        yield d.TransformedDistribution(
            u, [d.SigmoidTransform().inv, d.AffineTransform(t(B[:2]), t(A[:2]))]
        )
        yield d.TransformedDistribution(normal, d.StickBreakingTransform())
        yield d.TransformedDistribution(normal, [d.TanhTransform(), d.ExpTransform()])

    for p, q in zip(build(theirs, lambda x: x), build(mine, ours)):
        assert tuple(p.batch_shape) == q.batch_shape and tuple(p.event_shape) == q.event_shape
        value = p.sample((5,))
        near(q.log_prob(ours(value)), p.log_prob(value), 1e-8, 1e-8)
        assert tuple(q.sample((5, 2)).shape) == (5, 2, *q.shape)
    i, j = (list(build(d, t))[0] for d, t in ((theirs, lambda x: x), (mine, ours)))
    near(mine.kl_divergence(j, j), theirs.kl_divergence(i, i))


def gamma_slopes():
    """The derivative of a sample by the shape, against differences of the quantile by bisection."""
    from lathe.distributions.gammas import _slope

    for shape in (0.1, 0.7, 1.0, 3.0, 20.0, 59.0, 61.0, 300.0):
        for share in (0.02, 0.3, 0.7, 0.98):

            def quantile(a, share=share):
                low, high = (
                    torch.tensor(1e-40, dtype=torch.float64),
                    torch.tensor(a + 40 * math.sqrt(a) + 40, dtype=torch.float64),
                )
                for _ in range(200):
                    mid = (low * high).sqrt() if low < 1e-3 else (low + high) / 2
                    if torch.special.gammainc(torch.tensor(a, dtype=torch.float64), mid) < share:
                        low = mid
                    else:
                        high = mid
                return low.item()

            h = shape * 1e-5
            want = (quantile(shape + h) - quantile(shape - h)) / (2 * h)
            x = quantile(shape)
            got = _slope(
                lt.tensor([shape], dtype=lt.float64), lt.tensor([x], dtype=lt.float64)
            ).item()
            assert abs(got - want) < (1e-4 if shape < 60 else 2e-3) * max(abs(want), 1e-12), (
                shape,
                share,
                got,
                want,
            )


if __name__ == "__main__":
    wrong = []
    for name, settings in CASES:
        try:
            compare(name, settings)
        except Exception as error:
            wrong.append(f"{name} {list(settings)}: {error!r}"[:400])
    assert not wrong, "\n".join(wrong)
    divergences()
    made_of_others()
    gamma_slopes()
    print("distributions: as PyTorch's")
