"""Arguments outside of a domain that were accepted in silence: errors, as in PyTorch."""

import pytest
from compare import same

import lathe as lt
import lathe.nn.functional as F
from lathe import nn

NAN = float("nan")


# ── classes and probabilities ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dtype", [lt.int8, lt.int32, lt.int64])
def test_one_hot_is_written_at_the_class(dtype):
    x = lt.tensor([[2, 0], [1, 1]], dtype=dtype)
    got = F.one_hot(x, 3)
    assert got.dtype is lt.int64
    assert got.tolist() == [[[0, 0, 1], [1, 0, 0]], [[0, 1, 0], [0, 1, 0]]]
    assert same(lt.trace(lambda x: F.one_hot(x, 3))(x), got)
    assert F.one_hot(lt.tensor(1), 3).tolist() == [0, 1, 0]
    assert F.one_hot(lt.zeros(0, dtype=lt.int64), 3).shape == (0, 3)


@pytest.mark.parametrize("classes", [[0, 4, -1], [0, 3], [-1]])
def test_one_hot_refuses_classes_that_do_not_exist(classes):
    for run in (F.one_hot, lt.trace(lambda x, n: F.one_hot(x, n))):
        with pytest.raises(lt.IndexError, match="out of range"):
            run(lt.tensor(classes), 3)
    with pytest.raises(lt.IndexError, match="out of range"):
        F.one_hot(lt.tensor([0]), 0)
    with pytest.raises(lt.ValueError, match="negative size"):
        F.one_hot(lt.tensor([0]), -2)
    for wrong in (lt.tensor([0.0]), lt.tensor([True])):
        with pytest.raises(lt.DTypeError, match="class numbers must be integers"):
            F.one_hot(wrong, 3)


@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16, lt.float32, lt.float64])
@pytest.mark.parametrize("p", [1.5, -0.5, NAN, float("inf")])
def test_bernoulli_refuses_what_is_no_probability(p, dtype):
    p = lt.tensor([0.5, p], dtype=dtype)
    for run in (lt.bernoulli, lt.trace(lambda p: lt.bernoulli(p))):
        with pytest.raises(lt.ValueError, match=r"a probability outside of \[0, 1\]"):
            run(p)


def test_bernoulli_draws_with_the_probability_of_each():
    p = lt.tensor([0.0, 1.0, 0.25]).expand(4000, 3)
    lt.manual_seed(3)
    got = lt.bernoulli(p)
    assert got.dtype is lt.float32 and set(got.numpy().ravel()) == {0.0, 1.0}
    mean = got.mean(0).tolist()
    assert mean[:2] == [0, 1] and abs(mean[2] - 0.25) < 0.03
    lt.manual_seed(3)
    assert same(lt.trace(lambda p: lt.bernoulli(p))(p), got)
    assert lt.bernoulli(lt.zeros(0)).shape == (0,)


# ── statistics that are not there ───────────────────────────────────────────────────────────────

X, RUNNING = lt.ones(2, 3), lt.ones(3)


@pytest.mark.parametrize("statistics", [(None, None), (RUNNING, None), (None, RUNNING)])
def test_batch_norm_outside_of_training_needs_running_statistics(statistics):
    with pytest.raises(lt.ValueError, match="running statistics"):
        F.batch_norm(X, *statistics, training=False)
    if statistics != (None, None):
        with pytest.raises(lt.ValueError, match="running statistics"):
            F.batch_norm(X, *statistics, training=True)


def test_batch_norm_of_one_value_a_channel_cannot_train():
    with pytest.raises(lt.ValueError, match="more than one value a channel"):
        F.batch_norm(lt.ones(1, 3), None, None, training=True)


def test_batch_norm_without_statistics_goes_by_the_batch():
    x = lt.randn(8, 3)
    layer = nn.BatchNorm1d(3, track_running_stats=False).eval()
    assert same(layer(x), F.batch_norm(x, None, None, layer.weight, layer.bias, training=True))


# ── numbers that do not fit each other ──────────────────────────────────────────────────────────

TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


@pytest.mark.parametrize("axes", TRANSPOSED)
def test_output_padding_is_below_stride_or_dilation(axes):
    x, w = lt.zeros(1, 1, *[4] * axes), lt.zeros(1, 1, *[3] * axes)
    f = TRANSPOSED[axes]
    for stride, dilation, more in ((1, 1, 1), (2, 1, 2), (1, 3, 3), (2, 3, 5)):
        with pytest.raises(lt.ValueError, match="output_padding is not below"):
            f(x, w, stride=stride, dilation=dilation, output_padding=more)
    with pytest.raises(lt.ValueError, match="output_padding is not below"):
        f(x, w, stride=[2] * axes, output_padding=[0] * (axes - 1) + [2])
    for stride, dilation, more in ((2, 1, 1), (1, 2, 1), (2, 3, 2)):
        size = 3 * stride + 2 * dilation + 1 + more
        y = f(x, w, stride=stride, dilation=dilation, output_padding=more)
        assert y.shape == (1, 1, *[size] * axes)


def test_flatten_goes_forwards():
    x = lt.zeros(2, 3, 4)
    for start, end in ((1, 0), (-1, 0), (2, -2)):
        with pytest.raises(lt.ValueError, match="start_dim is behind end_dim"):
            x.flatten(start, end)
    assert x.flatten(1, 1).shape == (2, 3, 4) and x.flatten(1, 2).shape == (2, 12)
    assert lt.tensor(1.0).flatten(0, -1).shape == (1,)
    with pytest.raises(lt.IndexError):
        lt.tensor(1.0).flatten(1, 0)


@pytest.mark.parametrize("tolerance", [{"rtol": -1}, {"atol": -1e-9}, {"rtol": NAN}])
def test_tolerances_are_not_negative(tolerance):
    x = lt.ones(2)
    for f in (lt.isclose, lt.allclose):
        with pytest.raises(lt.ValueError, match="a tolerance is negative"):
            f(x, x, **tolerance)
    assert lt.isclose(x, x, rtol=0, atol=0).tolist() == [True, True]


REDUCED = {
    **{f.__name__: f for f in (lt.sum, lt.mean, lt.amax, lt.amin, lt.var, lt.std, lt.logsumexp,
                               lt.prod, lt.any, lt.all)},
    "norm": lambda x, dim: lt.norm(x, 2, dim),
    "squeeze": lt.squeeze,
}  # fmt: skip


@pytest.mark.parametrize("f", REDUCED.values(), ids=REDUCED.keys())
def test_an_axis_is_named_once(f):
    for x in (lt.tensor(3.0), lt.ones(2, 3)):
        for dims in ((0, 0), (0, -x.ndim or -1)):
            with pytest.raises(lt.IndexError, match="axis 0 is named twice"):
                f(x, dims)
    assert f(lt.tensor(3.0), (0,)).shape == ()


@pytest.mark.parametrize("how", [lambda f: f, lt.trace, lt.script])
def test_the_logarithm_of_an_empty_sum(how):
    for shape, dim in (((0, 2), 0), ((2, 0), 1), ((0,), 0), ((0, 2), (0, 1))):
        x = lt.zeros(shape, requires_grad=True)
        y = how(lambda t, dim=dim: lt.logsumexp(t, dim))(x)
        assert lt.equal(y, lt.full(y.shape, -float("inf")))
        y.sum().backward()
        assert x.grad.shape == x.shape
    assert lt.logsumexp(lt.zeros(0, 2), 0, keepdim=True).shape == (1, 2)
    assert lt.logsumexp(lt.zeros(0, 2), 1).shape == (0,)
    # One trace for all sizes but 0.
    call = lt.trace(lambda t: lt.logsumexp(t, 0))
    for n in (2, 3, 5):
        assert call(lt.zeros(n, 2)).exp().tolist() == pytest.approx([n, n])
    assert len(call.reasons()) <= 1
    assert call(lt.zeros(0, 2)).tolist() == [-float("inf")] * 2
