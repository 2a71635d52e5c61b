"""Forward over reverse: the forward derivative of every definition's gradient, on its samples.

A sample is a function L of its floating and complex tensors, also of one that it writes to: the
sum of w (y + y^2 / 2) over the elements y of its results, each with a weight w of its own. The
square makes the gradient of a linear definition vary too. In f64, along drawn directions v, three
ways to H v, the derivative of L's gradient g, have to agree:

- jvp of g, forward over reverse;
- vjp of g, reverse over reverse: H is symmetric, with complex numbers as pairs of real ones;
- central differences of g.

Every sample of a definition that has a derivative is compared, but those of LEFT_OUT; the other
tables say what is done otherwise for a sample, and why. A test shows that none is listed in vain.
"""

import numpy as np
import pytest
from samples import SAMPLES
from transforms import Flat

import lathe as lt

ROWS = {row["name"]: row for row in lt._lathe._definitions()}
NEAR = 1e-10  # of both orders of derivatives, relative to H v, or to 1 where that is small
STEP, OF_DIFFERENCES = 1e-6, 1e-6  # the step of differences, and their tolerance

LEFT_OUT = {
    "linalg_pinv_of_1": "the value given is no pseudoinverse of the matrix; linalg_pinv gives one",
    "reinterpreted_put_1": "its elements are integers and bools",
    "nextafter_f16_1": "of halves alone",
    "nextafter_bf16_1": "of halves alone",
}
# Their derivative is another function's, by definition.
NO_DIFFERENCES = {
    "overwritten_1": "the history is one operand's and the value the other's",
    "gumbel_softmax_2": "hard: its derivative is that of the softmax",
    "embedding.renorm_1": "the rows' new lengths are constants",
    "embedding_bag.renorm_1": "the rows' new lengths are constants",
}
# Compared along Hermitian directions.
HERMITIAN = dict.fromkeys(
    ("linalg_cholesky_ex_1", "linalg_cholesky_1", "cholesky_1", "linalg_eigh_1",
     "linalg_eigvalsh_1"),
    "reads one triangle, and has the derivative of a function of Hermitian matrices",
)  # fmt: skip
# L is of the results' magnitudes.
MAGNITUDES = {"linalg_eig_1": "leaves the vectors' phases open, and no derivative may see them"}
# The places of operands that are constants.
CONSTANT = {
    "igamma_1": ((0,), "there is no derivative by the first operand, as in PyTorch"),
    "igammac_1": ((0,), "there is no derivative by the first operand, as in PyTorch"),
}
TABLES = (LEFT_OUT, NO_DIFFERENCES, HERMITIAN, MAGNITUDES, CONSTANT)
LISTED = [name for table in TABLES for name in table]

DIFFERENTIABLE = [s for s in SAMPLES if not ROWS[s.op]["no_grad"]]
COMPARED = [s for s in DIFFERENTIABLE if str(s) not in LEFT_OUT]


def has_numbers(t):
    """Floating or complex ones, which there are derivatives of."""
    return t.is_floating_point() or t.is_complex()


def weighed(y, magnitudes):
    if y.is_complex():
        y = y.abs() if magnitudes else y.real + 0.7 * y.imag
    w = lt.linspace(0.6, 1.4, y.numel(), dtype=y.dtype).reshape(y.shape)
    return (w * (y + 0.5 * y * y)).sum()


def objective(flat, places, magnitudes):
    """L, as a function of the tensors at these places."""

    def function(*chosen):
        lt.manual_seed(7)
        tensors = list(flat.given)
        for i, t in zip(places, chosen):
            tensors[i] = t
        results = flat(*(t.clone() for t in tensors))  # ops in place are not for leaves
        parts = [weighed(y, magnitudes) for y in results if has_numbers(y) and y.requires_grad]
        assert parts, "no result depends on the operands"
        return sum(parts)

    return function


def drawn(rng, like, hermitian):
    v = rng.standard_normal(like.shape)
    if like.is_complex():
        v = v + 1j * rng.standard_normal(like.shape)
    if hermitian:
        v = (v + v.conj().swapaxes(-1, -2)) / 2
    return lt.tensor(v)


def numbers(tensors):
    """All numbers one after the other; of a complex one both parts."""
    return np.concatenate([t.numpy().reshape(-1).view("float64") for t in tensors])


def assert_near(got, expected, tolerance):
    assert np.isfinite(expected).all()
    assert np.linalg.norm(got - expected) <= tolerance * max(1, np.linalg.norm(expected))


def compare(sample, listed):
    """listed: the tables hold for the sample. Else it is compared as any other."""
    name = str(sample) if listed else ""
    flat = Flat(ROWS[sample.op], sample)
    constant, _ = CONSTANT.get(name, ((), ""))
    places = [i for i, t in enumerate(flat.given) if has_numbers(t) and i not in constant]
    assert places, "there is nothing to compare"
    xs = [flat.given[i] for i in places]
    assert {x.dtype for x in xs} <= {lt.float64, lt.complex128}
    gradient = lt.func.grad(objective(flat, places, name in MAGNITUDES), tuple(range(len(xs))))
    _, pull = lt.func.vjp(gradient, *xs)

    def at(step, vs):
        return numbers(gradient(*(x + step * v for x, v in zip(xs, vs))))

    rng = np.random.default_rng(5)
    for _ in range(2):
        vs = tuple(drawn(rng, x, name in HERMITIAN) for x in xs)
        forward = numbers(lt.func.jvp(gradient, tuple(xs), vs)[1])
        assert_near(forward, numbers(pull(vs)), NEAR)
        if name not in NO_DIFFERENCES:
            differences = (at(STEP, vs) - at(-STEP, vs)) / (2 * STEP)
            assert_near(forward, differences, OF_DIFFERENCES)


@pytest.mark.parametrize("sample", COMPARED, ids=str)
def test_forward_over_reverse_is_reverse_over_reverse(sample):
    compare(sample, listed=True)


@pytest.mark.parametrize("name", LISTED)
def test_what_is_listed_needs_it(name):
    (sample,) = [s for s in DIFFERENTIABLE if str(s) == name]
    with pytest.raises((AssertionError, lt.Error)):
        compare(sample, listed=False)


def test_a_sample_is_listed_once():
    assert len(set(LISTED)) == len(LISTED)
    assert len(COMPARED) == len(DIFFERENTIABLE) - len(LEFT_OUT)
