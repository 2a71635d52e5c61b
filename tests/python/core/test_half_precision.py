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


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("norm_type", [1, 2, 3, float("inf")])
def test_clipped_gradients_keep_their_direction(name, norm_type):
    """The squares and cubes of 300 overflow f16."""
    values = [[300.0, -300.0], [1e-3, 200.0]]
    parameters = [lt.zeros(2, dtype=getattr(lt, name), requires_grad=True) for _ in values]
    for p, value in zip(parameters, values):
        p.grad = lt.tensor(value, dtype=p.dtype)
    flat = np.concatenate([p.grad.to(lt.float64).numpy() for p in parameters])
    exact = np.linalg.norm(flat, norm_type)
    norm = lt.nn.utils.clip_grad_norm_(parameters, 1.0, norm_type)
    assert norm.item() == pytest.approx(exact, rel=1e-6)
    clipped = np.concatenate([p.grad.to(lt.float64).numpy() for p in parameters])
    assert ulps(clipped, flat / exact, name) <= 1


def test_gradients_of_two_dtypes_are_clipped_together():
    half, single = (lt.zeros(2, dtype=d, requires_grad=True) for d in (lt.float16, lt.float32))
    half.grad, single.grad = lt.tensor([300.0, 300.0]).half(), lt.tensor([400.0, 0.0])
    assert lt.nn.utils.clip_grad_norm_([half, single], 10.0).item() == pytest.approx(340000**0.5)
    assert half.grad.dtype is lt.float16 and half.grad.tolist() == [5.14453125, 5.14453125]
    assert single.grad.tolist() == pytest.approx([6.8599434, 0])


@pytest.mark.parametrize("name", FORMATS)
def test_norms_with_parameters_in_f32_give_the_dtype_of_the_input(name):
    dtype, functional = getattr(lt, name), lt.nn.functional
    x = lt.tensor([[300.0, -400.0], [500.0, 1.0]], dtype=dtype)
    w, mean, var = lt.ones(2), lt.zeros(2), lt.ones(2)
    assert functional.layer_norm(x, (2,), w).dtype is dtype
    assert functional.batch_norm(x, mean, var, w, training=True).dtype is dtype
    assert functional.layer_norm(x.float(), (2,), w.to(dtype)).dtype is lt.float32
    assert mean.dtype is lt.float32 and lt.isfinite(var).all()


REDUCED = {"norm": {}, "softmax": {"dim": 0}, "log_softmax": {"dim": 0}, "cumsum": {"dim": 0}}


@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("op", [*REDUCED, "sum", "mean", "prod", "cumprod", "zeros_like"])
def test_a_dtype_that_is_asked_for_is_given(op, wide):
    arguments = REDUCED.get(op, {"dim": 0} if op == "cumprod" else {})
    x = lt.tensor([300.0, 300.0], dtype=lt.float16, requires_grad=op != "zeros_like")
    got = getattr(lt, op)(x, **arguments, dtype=getattr(lt, wide))
    assert got.dtype is getattr(lt, wide)
    assert lt.equal(got, getattr(lt, op)(x.to(got.dtype), **arguments))


def test_forms_of_one_convolution_agree_in_bfloat16():
    lt.manual_seed(3)
    x, w = lt.randn(2, 4, 9).bfloat16(), lt.randn(6, 4, 3).bfloat16()
    b = lt.randn(6).bfloat16()
    want = lt.conv1d(x, w, b, padding=1)
    same = lt.convolution(x, w, b, [1], [1], [1], False, [0], 1)
    by_time = lt.conv_tbc(x.permute(2, 0, 1), w.permute(2, 1, 0), b, 1).permute(1, 2, 0)
    assert lt.equal(want, same) and lt.equal(want, by_time)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_gradients_of_sums_that_are_kept_wider(dtype):
    """A cotangent of f16's sums in f32 may be what f16 cannot hold."""
    kind = getattr(lt, dtype)
    a = (lt.ones(2, 3) * 1e-3).to(kind).requires_grad_()
    b = (lt.ones(3, 2) * 1e-3).to(kind).requires_grad_()
    (lt.mm(a, b, out_dtype=lt.float32) * 1e5).sum().backward()
    want = 2 * 1e5 * b[0, 0].item()
    assert a.grad.dtype == kind and abs(a.grad[0, 0].item() / want - 1) < 1e-2
