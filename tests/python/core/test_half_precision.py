"""Composites and their gradients round once in f16 and bf16 (tests/python/half_precision.py)."""

import numpy as np
import pytest
from half_precision import BOUND, FORMATS, LEFT_OUT, composites, measure, ulps
from samples import SAMPLES

import lathe as lt


def test_every_composite_is_measured():
    assert set(composites()) - {s.op for s in SAMPLES} == set()
    assert set(LEFT_OUT) <= set(composites())


@pytest.mark.parametrize(
    "sample", [s for s in SAMPLES if s.op in composites() and s.op not in LEFT_OUT], ids=str
)
def test_error_of_composites(sample):
    for name, (forward, gradient) in measure(sample).items():
        assert forward <= BOUND and gradient <= BOUND, name


@pytest.mark.parametrize("name", FORMATS)
def test_ulps_see_a_second_rounding(name):
    one = np.array([1.0, 3.0])
    step = 2.0 ** (1 - FORMATS[name][0])
    assert ulps(one, one, name) == 0
    assert ulps(one + step * np.array([3, 0]), one, name) == 3
    assert ulps(np.array([np.nan, 3.0]), one, name) == np.inf
    assert ulps(np.array([np.inf]), np.array([1e39]), name) == 0


@pytest.mark.parametrize("name", FORMATS)
def test_the_bias_is_added_before_the_sum_is_rounded(name):
    """1 + step / 2 + step / 8 is above the middle; rounded twice, it would be a tie, to even."""
    dtype, step = getattr(lt, name), 2.0 ** (1 - FORMATS[name][0])
    x = lt.tensor([[1.0, step / 2]], dtype=dtype)
    w = lt.ones(3, 2, dtype=dtype)
    bias = lt.full((3,), step / 8, dtype=dtype)
    functional = lt.nn.functional
    results = [
        functional.linear(x, w, bias),
        functional.linear(x[0], w, bias),
        lt.addmm(bias, x, w.t()),
        functional.conv1d(x[:, None], w[:, None], bias),
        functional.conv_transpose1d(x[:, :, None], w.t()[:, :, None], bias),
    ]
    for y in results:
        assert y.dtype is dtype
        assert lt.equal(y.to(lt.float64), lt.full(y.shape, 1 + step, dtype=lt.float64))
    traced = lt.trace(functional.linear)
    assert lt.equal(traced(x, w, bias), results[0])


def test_many_gradients_of_one_row_are_summed_before_they_are_rounded():
    """One by one, the sum would stop at 2048, where a step of f16 becomes 2."""
    weight = lt.zeros(2, 1, dtype=lt.float16, requires_grad=True)
    lt.nn.functional.embedding(lt.zeros(3000, dtype=lt.int64), weight).sum().backward()
    assert weight.grad.tolist() == [[3000], [0]]
