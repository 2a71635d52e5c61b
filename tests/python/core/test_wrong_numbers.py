"""Single ops whose numbers were wrong, one test an item. Expected values are PyTorch's."""

import math

import numpy as np
import pytest
from compare import same

import lathe as lt
import lathe.nn.functional as F
from lathe import nn

INF, NAN = float("inf"), float("nan")


def gradient(f, x, dy=None):
    """Of f's result, weighted by dy (ones if None), by x; f's result must have history."""
    x = lt.tensor(x, requires_grad=True)
    y = f(x)
    assert y.requires_grad, "detached"
    y.backward(lt.ones_like(y) if dy is None else lt.tensor(dy))
    return x.grad


def near(got, expected, rtol=1e-6):
    np.testing.assert_allclose(got.numpy(), np.array(expected, got.numpy().dtype), rtol=rtol)


# ── in-place forms ──────────────────────────────────────────────────────────────────────────────

INPLACE = {
    "F.silu": (F.silu, lambda x: F.silu(x, inplace=True)),
    "F.relu": (F.relu, lambda x: F.relu(x, inplace=True)),
    "F.leaky_relu": (F.leaky_relu, lambda x: F.leaky_relu(x, inplace=True)),
    "F.dropout": (
        lambda x: F.dropout(x, 0.5, False),
        lambda x: F.dropout(x, 0.5, False, inplace=True),
    ),
    "SiLU": (nn.SiLU(), nn.SiLU(inplace=True)),
    "LeakyReLU": (nn.LeakyReLU(0.3), nn.LeakyReLU(0.3, inplace=True)),
    "sin_": (lt.sin, lambda x: x.sin_()),
    "pow_": (lambda x: x.pow(2), lambda x: x.pow_(2)),
    "**=": (lambda x: x**3, lambda x: x.__ipow__(3)),
    "clamp_": (lambda x: x.clamp(-1, 1), lambda x: x.clamp_(-1, 1)),
    "mul_ by itself": (lambda x: x * x, lambda x: x.mul_(x)),
    "cumprod_": (lambda x: x.cumprod(0), lambda x: x.cumprod_(0)),
    "a view's": (lambda x: x * 1 * lt.sin(x[:]), lambda x: (x.clone()[:]).sin_() * x),
}


@pytest.mark.parametrize("how", ["eager", "trace"])
@pytest.mark.parametrize(("plain", "inplace"), INPLACE.values(), ids=INPLACE.keys())
def test_inplace_forms_have_the_gradient_of_the_op(plain, inplace, how):
    def step(f, x):
        x = x.detach().requires_grad_()
        f(x * 2).sum().backward()
        return x.grad

    x = lt.tensor([0.5, -1.5, 2.0])
    wanted = step(plain, x)
    run = step if how == "eager" else lt.trace(step)
    assert same(run(inplace, x), wanted)


def test_an_inplace_form_keeps_the_gradient_of_the_other_operand():
    w = lt.tensor([2.0, 3.0], requires_grad=True)
    x = lt.tensor([5.0, 7.0])
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    assert w.grad.tolist() == [5.0, 7.0]


def test_an_inplace_form_without_history_makes_no_copy():
    x = lt.tensor([5.0, 7.0])
    at = x.data_ptr()
    assert x.sin_() is x and x.data_ptr() == at and not x.requires_grad


# ── history ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("f", "value"), [(lt.softmax, 1.0), (lt.log_softmax, 0.0)])
def test_softmax_of_a_single_number_has_gradient_zero(f, value):
    for dim in (0, -1):
        assert gradient(lambda x, dim=dim: f(x, dim), 3.0).item() == 0
        assert f(lt.tensor(3), dim).item() == value
        assert f(lt.tensor(3.0), dim).shape == ()
        assert math.isnan(f(lt.tensor(NAN), dim).item())
    with pytest.raises(lt.IndexError):
        f(lt.tensor(3.0), 1)


def test_norm_of_order_zero_has_gradient_zero():
    assert gradient(lambda x: lt.norm(x, 0), [2.0, 0.0], INF).tolist() == [0, 0]
    assert lt.norm(lt.tensor([2.0, 0.0, NAN]), 0).item() == 2


NORMS = {  # p, x, dy: gradient
    "p < 1": (0.5, [1.0, 0.0], 1.0, [1.0, 0.0]),
    "p < 1, all zeros": (0.5, [0.0, 0.0], 1.0, [0.0, 0.0]),
    "p < 0, a zero": (-1, [0.0, 1.0], 1.0, [0.0, 0.0]),
    "p < 0": (-1, [2.0, 1.0], 1.0, [1 / 9, 4 / 9]),
    "p = 1.5 at 0": (1.5, [0.0, 0.0], INF, [0.0, 0.0]),
    "p = 2 at 0": (2, [0.0, 0.0], INF, [0.0, 0.0]),
    "p = 3 at 0": (3, [0.0, 0.0], 1.0, [0.0, 0.0]),
}


@pytest.mark.parametrize(("p", "x", "dy", "wanted"), NORMS.values(), ids=NORMS.keys())
def test_norms_have_the_gradient_of_pytorch(p, x, dy, wanted):
    near(gradient(lambda x: lt.norm(x, p), x, dy), wanted)


# ── values ──────────────────────────────────────────────────────────────────────────────────────


def test_squeeze_of_no_axes_squeezes_none():
    x = lt.zeros(1, 2, 1)
    assert x.squeeze(()).shape == (1, 2, 1) == lt.squeeze(x, []).shape
    assert x.squeeze().shape == (2,) == x.squeeze(None).shape
    assert x.squeeze(0).shape == (2, 1) and x.squeeze((0, 2)).shape == (2,)


@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16, lt.float32, lt.float64])
@pytest.mark.parametrize("f", [lt.sin, lt.tan])
def test_sine_and_tangent_keep_the_sign_of_zero(f, dtype):
    for how in (f, lt.trace(lambda x: f(x))):
        got = how(lt.tensor([-0.0, 0.0] * 9, dtype=dtype)).to(lt.float32).numpy()
        assert np.signbit(got).tolist() == [True, False] * 9 and not got.any()


def test_chunk_of_an_empty_axis_gives_as_many_pieces():
    assert [p.shape for p in lt.zeros(2, 0).chunk(3, 1)] == [(2, 0)] * 3
    assert [p.shape for p in lt.zeros(5).chunk(3)] == [(2,), (2,), (1,)]


def test_clamp_by_nan_is_nan():
    x = lt.tensor([1.0, 2.0])
    for got in (
        x.clamp(NAN, 3),
        x.clamp(0, NAN),
        x.clone().clamp_(NAN),
        lt.clamp_min(x, lt.tensor(NAN)),
        lt.tensor([NAN, NAN]).clamp(0, 1),
        lt.trace(lambda x: x.clamp(NAN, 3))(x),
    ):
        assert np.isnan(got.numpy()).all()
    assert gradient(lambda x: x.clamp(NAN, 3), [1.0, 2.0]).tolist() == [0, 0]
    assert lt.tensor([1, 5]).clamp(2, 3).tolist() == [2, 3]


def test_lerp_gives_both_ends_exactly():
    a, b = lt.tensor([1e8, 1e8, 1e8]), lt.tensor([1.0, 1.0, 1.0])
    assert lt.lerp(a, b, 1.0).tolist() == [1.0] * 3 and lt.lerp(a, b, 0.0).tolist() == [1e8] * 3
    got = lt.lerp(a, b, lt.tensor([1.0, -0.7, 0.3]))
    near(got, [1.0, 1.7e8, 7e7])
    w = lt.tensor(0.75, requires_grad=True)
    x, y = (lt.tensor(v, requires_grad=True) for v in (3.0, 5.0))
    lt.lerp(x, y, w).backward()
    assert (x.grad.item(), y.grad.item(), w.grad.item()) == (0.25, 0.75, 2.0)


# ── gradients through infinities ────────────────────────────────────────────────────────────────

INFINITE = {  # f, x, dy: gradient
    **{f.__name__: (f, [1.5, 0.0], [INF, NAN], [0, 0])
       for f in (lt.floor, lt.ceil, lt.trunc, lt.round, lt.sign)},
    "maximum": (lambda x: lt.maximum(x, lt.tensor([2.0, 0.0])), [1.0, 1.0], [INF, INF], [0, INF]),
    "minimum": (lambda x: lt.minimum(x, lt.tensor([2.0, 0.0])), [1.0, 1.0], [INF, INF], [INF, 0]),
    "maximum of NaN": (lambda x: lt.maximum(x, lt.tensor([2.0, NAN, 0.0])), [NAN, 1.0, NAN],
                       [3.0, 3.0, 3.0], [3, 3, 3]),
    "amax": (lt.amax, [1.0, 2.0], INF, [0, INF]),
    "amin": (lt.amin, [1.0, 2.0], INF, [INF, 0]),
    "amax of ties": (lt.amax, [2.0, 1.0, 2.0], 3.0, [1.5, 0, 1.5]),
    "max of NaN": (lt.max, [1.0, NAN], 1.0, [0, 1]),
    "relu": (lt.relu, [-1.0, 1.0], [INF, INF], [0, INF]),
    "clamp": (lambda x: x.clamp(0, 1), [-1.0, 2.0], [INF, NAN], [0, 0]),
    "where": (lambda x: lt.where(x > 0, x, 0), [1.0, -1.0], [INF, INF], [INF, 0]),
    "std": (lt.std, [1.0, 1.0], INF, [0, 0]),
    "pow 0": (lambda x: x**0, [0.0, -1.0, INF], [INF, INF, INF], [0, 0, 0]),
    "prod": (lt.prod, [0.0, 2.0, 0.0], INF, [0, 0, 0]),
    "real": (lambda x: lt.complex(x, x * 0 + 1).real, [1.0], [INF], [INF]),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "dy", "wanted"), INFINITE.values(), ids=INFINITE.keys())
def test_an_infinite_cotangent_stays_out_of_what_has_no_part(f, x, dy, wanted):
    near(gradient(f, x, dy), wanted)

    def step(x, dy):
        x = x.detach().requires_grad_()
        f(x).backward(dy)
        return x.grad

    near(lt.trace(step)(lt.tensor(x), lt.tensor(dy)), wanted)


def test_a_derivative_that_is_a_number_has_a_second_derivative():
    x = lt.tensor([1.5], requires_grad=True)
    (g,) = lt.autograd.grad((lt.floor(x) * x).sum(), [x], create_graph=True)
    (h,) = lt.autograd.grad(g.sum(), [x])
    assert (g.tolist(), h.tolist()) == ([1.0], [0.0])


# ── losses ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weight", [None, [1.0, 2.0]])
def test_cross_entropy_of_ignored_labels_only(smoothing, weight):
    weight = None if weight is None else lt.tensor(weight)
    x, t = [[1.0, 2.0], [3.0, -INF]], lt.tensor([-100, -100])

    def loss(how):
        return lambda x: F.cross_entropy(x, t, weight, reduction=how, label_smoothing=smoothing)

    assert math.isnan(loss("mean")(lt.tensor(x)).item())
    assert loss("sum")(lt.tensor(x)).item() == 0
    assert loss("none")(lt.tensor(x)).tolist() == [0, 0]
    assert gradient(loss("mean"), [[1.0, 2.0], [3.0, 4.0]]).tolist() == [[0, 0], [0, 0]]


def test_cross_entropy_does_not_look_at_ignored_rows():
    x, t = [[0.0, -INF], [1.0, 2.0]], lt.tensor([-100, 1])
    near(F.cross_entropy(lt.tensor(x), t, label_smoothing=0.1), 0.36326167)
    got = gradient(lambda x: F.cross_entropy(x, t, label_smoothing=0.1), x)
    near(got, [[0, 0], [0.21894142, -0.21894142]], rtol=1e-5)


# ── powers ──────────────────────────────────────────────────────────────────────────────────────

POWERS = {
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    0.5: lt.sqrt,
    -0.5: lambda x: 1 / lt.sqrt(x),
    -1: lambda x: 1 / x,
    -2: lambda x: 1 / (x * x),
}


@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16, lt.float32, lt.float64])
@pytest.mark.parametrize("p", POWERS)
def test_powers_by_numbers_are_products_roots_and_quotients(p, dtype):
    x = lt.cat([lt.tensor([-0.0, 0.0, -INF, INF, NAN, -8.0]), lt.linspace(0.01, 9.0, 500)])
    x = x.to(dtype)
    # Halves are computed in float32 and rounded once.
    wanted = POWERS[p](x.to(lt.float32) if dtype.itemsize == 2 else x).to(dtype)
    traced = lt.trace(lambda x: x**p)(x)
    for got in (x**p, lt.pow(x, p), lt.pow(x, float(p)), x.clone().pow_(p), traced):
        assert got.dtype is dtype
        assert same(got.to(lt.float64), wanted.to(lt.float64))  # NumPy has no bfloat16


@pytest.mark.parametrize("p", POWERS)
def test_gradients_of_powers_agree_by_bits(p):
    def step(x):
        x = x.detach().requires_grad_()
        (g,) = lt.autograd.grad((x**p).sum(), [x], create_graph=True)
        (h,) = lt.autograd.grad(g.sum(), [x])
        return g.detach(), h

    x = lt.linspace(0.25, 9.0, 300, dtype=lt.float64)
    g, h = step(x)
    near(g, p * x.numpy() ** (p - 1), rtol=1e-12)
    near(h, p * (p - 1) * x.numpy() ** (p - 2), rtol=1e-12)
    assert all(same(a, b) for a, b in zip(lt.trace(step)(x), (g, h)))


def test_other_powers_are_as_they_were():
    x = lt.linspace(0.25, 9.0, 300)
    for p in (2.5, -3, 7, 0.25):
        assert same(x**p, lt.pow(x, lt.full((300,), p, dtype=lt.float32)))
    assert (x**0).tolist() == [1.0] * 300
    near(2 ** lt.tensor([0.5, 3.0]), [2**0.5, 8.0])


INTEGERS = [lt.uint8, lt.int8, lt.int16, lt.int32, lt.int64]


def wrapped(values, dtype):
    bits = 8 * dtype.itemsize
    low = 0 if dtype is lt.uint8 else -(2 ** (bits - 1))
    return [(v - low) % 2**bits + low for v in values]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_powers_are_exact(dtype):
    bases = list(range(-11, 12)) if dtype is not lt.uint8 else list(range(23))
    x = lt.tensor(bases, dtype=dtype)
    for n in (0, 1, 2, 3, 4, 5, 13, 40, 63, 64, 101):
        wanted = wrapped([b**n for b in bases], dtype)
        assert (x**n).dtype is dtype and (x**n).tolist() == wanted, n
        by = lt.full((len(bases),), n, dtype=dtype)
        assert (x**by).tolist() == wanted and lt.pow(x, by[0]).tolist() == wanted, n
        assert lt.trace(lambda x, by: x**by)(x, by).tolist() == wanted, n
    assert (3 ** lt.tensor([40, 2])).tolist() == [*wrapped([3**40], lt.int64), 9]
    assert (lt.tensor([True]) ** 2).dtype is lt.int64
    near(lt.tensor([2]) ** 0.5, [2**0.5])
    near(lt.tensor([2]) ** -1.0, [0.5])


@pytest.mark.parametrize(
    "power",
    [lambda x: x**-1, lambda x: x ** lt.tensor([1, -2]), lambda x: 2 ** (-x)],
    ids=["a number", "a tensor", "a number to a tensor"],
)
def test_integers_to_negative_powers_are_an_error(power):
    for run in (power, lt.trace(lambda x: power(x))):
        with pytest.raises(lt.ValueError, match="an integer to a negative power"):
            run(lt.tensor([1, 2]))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_fmod_is_exact(dtype):
    top = 2 ** (8 * dtype.itemsize - 1) - 1
    xs = [top, top - 1, 7, 5, 0] + ([-top - 1, -top, -7] if dtype is not lt.uint8 else [])
    for y in (1, 2, 3, 7, top) + ((-1, -2, -3) if dtype is not lt.uint8 else ()):
        wanted = [abs(x) % abs(y) * (1 if x >= 0 else -1) for x in xs]
        got = lt.fmod(lt.tensor(xs, dtype=dtype), lt.tensor(y, dtype=dtype))
        assert got.dtype is dtype and got.tolist() == wanted, y
    with pytest.raises(lt.ValueError, match="division by zero"):
        lt.fmod(lt.tensor(xs, dtype=dtype), 0)
    near(lt.fmod(lt.tensor([7, -7]), 2.5), [2.0, -2.0])


# ── arguments outside of the domain ─────────────────────────────────────────────────────────────

OUTSIDE = {  # what the message says: the program
    "the step leads away from the end, up": ("step", lambda: lt.arange(0, -3, 2)),
    "the step leads away from the end, down": ("step", lambda: lt.arange(0, 3, -1)),
    "of floats": ("step", lambda: lt.arange(0.0, -1.0, 0.5)),
    "NaN": ("step", lambda: lt.arange(0.0, NAN)),
    "uniform_": ("low", lambda: lt.zeros(2).uniform_(3, 1)),
    "uniform_ NaN": ("low", lambda: lt.zeros(2).uniform_(NAN, 1)),
    "normal_": ("std", lambda: lt.zeros(2).normal_(0, -1)),
    "normal_ NaN": ("std", lambda: lt.zeros(2).normal_(0, NAN)),
    "init.uniform_": ("low", lambda: nn.init.uniform_(lt.zeros(2), 3, 1)),
    "init.normal_": ("std", lambda: nn.init.normal_(lt.zeros(2), 0, -1)),
    "bernoulli": ("probability p ", lambda: lt.bernoulli(lt.zeros(2), 1.5)),
    "bernoulli NaN": ("probability p ", lambda: lt.bernoulli(lt.zeros(2), NAN)),
    "dropout": ("probability p ", lambda: F.dropout(lt.zeros(2), -0.1)),
    "randint": ("low", lambda: lt.randint(3, 3, [2])),
    "conv2d dilation -1": (
        "dilation",
        lambda: F.conv2d(lt.zeros(1, 1, 5, 5), lt.zeros(1, 1, 3, 3), dilation=-1),
    ),
    "conv2d dilation 0": (
        "dilation",
        lambda: F.conv2d(lt.zeros(1, 1, 5, 5), lt.zeros(1, 1, 3, 3), dilation=(1, 0)),
    ),
    "conv2d stride 0": (
        "stride",
        lambda: F.conv2d(lt.zeros(1, 1, 5, 5), lt.zeros(1, 1, 3, 3), stride=0),
    ),
    "conv2d stride -1": (
        "stride",
        lambda: F.conv2d(lt.zeros(1, 1, 5, 5), lt.zeros(1, 1, 3, 3), stride=(2, -1)),
    ),
    "conv2d padding -1": (
        "pad",
        lambda: F.conv2d(lt.zeros(1, 1, 5, 5), lt.zeros(1, 1, 3, 3), padding=-1),
    ),
    "Normal": ("scale", lambda: lt.distributions.Normal(0.0, -1.0)),
    "Normal 0": ("scale", lambda: lt.distributions.Normal(lt.zeros(2), lt.tensor([1.0, 0.0]))),
    "Normal NaN": ("loc", lambda: lt.distributions.Normal(NAN, 1.0)),
    "Bernoulli": ("probs", lambda: lt.distributions.Bernoulli(1.5)),
    "Bernoulli NaN": ("logits", lambda: lt.distributions.Bernoulli(logits=NAN)),
    "Categorical": ("probs", lambda: lt.distributions.Categorical(lt.tensor([-1.0, 2.0]))),
    "Categorical 0": ("probs", lambda: lt.distributions.Categorical(lt.zeros(2))),
    "Categorical inf": (
        "logits",
        lambda: lt.distributions.Categorical(logits=lt.tensor([INF, 1.0])),
    ),
}


@pytest.mark.parametrize(("name", "program"), OUTSIDE.values(), ids=OUTSIDE.keys())
def test_arguments_outside_of_their_domain_are_errors(name, program):
    with pytest.raises(lt.ValueError, match=name):
        program()


def test_arange_of_nothing_is_no_error():
    assert lt.arange(0, 0, -2).tolist() == [] == lt.arange(3, 3).tolist()
    assert lt.arange(0).tolist() == [] and lt.arange(1.0, 1.0, 0.5).tolist() == []
    traced = lt.trace(lambda x: lt.arange(0, x.shape[0] - 3))
    assert traced(lt.zeros(5)).tolist() == [0, 1]
    with pytest.raises(lt.ValueError, match="step"):
        traced(lt.zeros(2))


def test_uniform_between_equal_bounds_is_no_error():
    assert lt.zeros(2).uniform_(1, 1).tolist() == [1, 1]
    assert lt.zeros(2).normal_(3, 0).tolist() == [3, 3]


@pytest.mark.parametrize("shape", [(2,), (2, 3, 4)])
def test_embedding_takes_a_matrix_only(shape):
    with pytest.raises(lt.ShapeError, match="the weight is not a matrix"):
        F.embedding(lt.tensor([0]), lt.zeros(*shape))


def test_two_leaves_of_one_sum_have_gradients_of_their_own():
    def step(a, b):
        a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
        (a + b).sum().backward()
        a.grad.mul_(3)
        return a.grad, b.grad

    a, b = lt.zeros(2), lt.zeros(2)
    for run in (step, lt.trace(step)):
        got = run(a, b)
        got[0].add_(1)
        assert (got[0].tolist(), got[1].tolist()) == ([4, 4], [1, 1])


# ── integers of scripts ─────────────────────────────────────────────────────────────────────────

TOP = 2**63 - 1
SCRIPTS = {  # a program, elements that fit, its first result for them, elements that do not fit
    "add": (lambda x: x * 0 + (int(x[0]) + int(x[1])), [TOP - 1, 1], TOP, [TOP, 1]),
    "sub": (lambda x: x * 0 + (int(x[0]) - int(x[1])), [-TOP, 1], -TOP - 1, [-TOP, 2]),
    "mul": (lambda x: x * 0 + int(x[0]) * int(x[1]), [-(2**62), 2], -TOP - 1, [2**62, 2]),
    "mul by -1": (lambda x: x * 0 + int(x[0]) * int(x[1]), [-TOP, -1], TOP, [-TOP - 1, -1]),
    "a number first": (lambda x: x * 0 + 2**61 * int(x[0]), [-4, 0], -TOP - 1, [4, 0]),
    "neg": (lambda x: x * 0 + -int(x[0]), [-TOP, 0], TOP, [-TOP - 1, 0]),
    "floordiv": (lambda x: x * 0 + int(x[0]) // -1, [-TOP, 0], TOP, [-TOP - 1, 0]),
    "beside int8": (lambda x: x.to(lt.int8) * 0 + int(x[0]), [127, 0], 127, [128, 0]),
    "beside uint8": (lambda x: int(x[0]) - x.to(lt.uint8) * 0, [255, 0], 255, [-1, 0]),
    "a product": (lambda x: x.to(lt.int8) * 0 + int(x[0]) * 2, [63, 0], 126, [64, 0]),
    "item": (lambda x: set_item(x.to(lt.int16), int(x[1])), [0, -(2**15)], -(2**15), [0, 2**15]),
}


def set_item(x, n):
    x[0] = n
    return x


@pytest.mark.parametrize(("f", "x", "first", "beyond"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_integers_of_scripts_that_do_not_fit_are_an_error(f, x, first, beyond):
    scripted = lt.script(f)
    assert scripted(lt.tensor(x)).tolist()[0] == first
    # Of a number; of a tensor's narrow dtype, which eager code says.
    kinds = (lt.OverflowError, lt.ScriptError)
    with pytest.raises(kinds, match="does not fit|is not in the range of"):
        scripted(lt.tensor(beyond))
    assert scripted(lt.tensor(x)).tolist()[0] == first


def test_checked_arithmetic_at_the_edges():
    edge = [-TOP - 1, -TOP, -(2**32), -3, -1, 0, 1, 2, 2**31, 2**32 + 1, TOP - 1, TOP]
    for f, exact in (
        (lt.ops.checked_add, lambda a, b: a + b),
        (lt.ops.checked_sub, lambda a, b: a - b),
        (lt.ops.checked_mul, lambda a, b: a * b),
    ):
        for a in edge:
            for b in edge:
                if -TOP - 1 <= exact(a, b) <= TOP:
                    assert f(lt.tensor(a), lt.tensor(b)).item() == exact(a, b)
                else:
                    with pytest.raises(lt.ScriptError, match="does not fit in 64 bits"):
                        f(lt.tensor(a), lt.tensor(b))


# ── scans and products ──────────────────────────────────────────────────────────────────────────


def by_blocks(f, x):
    """The defined order along axis 0, by NumPy, which accumulates one by one."""
    out, carry = [], None
    for at in range(0, len(x), 512):
        local = f.accumulate(x[at : at + 512], axis=0, dtype=x.dtype)
        out.append(local if carry is None else f(carry, local))
        carry = out[-1][-1]
    return np.concatenate(out) if out else x


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_scans_have_the_order_that_is_defined(dtype, threads, flag):
    flag("threads", threads)
    rng = np.random.default_rng(5)
    for shape in ((1,), (512,), (513,), (1500,), (40000,), (3, 40000), (1100, 3), (1100, 40),
                  (9, 1030), (2, 700, 33), (0, 3), (3, 0), (70, 2000)):  # fmt: skip
        x = rng.standard_normal(shape) * 3 + 0.5
        x = x.astype(dtype)
        for axis in range(len(shape)):
            moved = np.moveaxis(x, axis, 0)
            for f, scan in ((np.add, lt.cumsum), (np.multiply, lt.cumprod)):
                for backwards in (False, True):
                    with np.errstate(all="ignore"):
                        # Sums and products of int32 are of int64.
                        wide = moved.astype(np.int64) if dtype is np.int32 else moved
                        wanted = by_blocks(f, wide[::-1])[::-1] if backwards else by_blocks(f, wide)
                    got = scan(lt.from_numpy(x.copy()), axis, reverse=backwards)
                    wanted = np.ascontiguousarray(np.moveaxis(wanted, 0, axis))
                    assert np.array_equal(got.numpy(), wanted, equal_nan=wanted.dtype.kind == "f")


def test_a_narrow_scan_is_computed_in_float32():
    x = lt.randn(1300, 3).to(lt.float16)
    for axis, backwards in ((0, False), (0, True), (1, False)):
        wanted = lt.cumsum(x.to(lt.float32), axis, reverse=backwards).to(lt.float16)
        assert same(lt.cumsum(x, axis, reverse=backwards), wanted)
    assert lt.cumsum(lt.ones(600, dtype=lt.bool), 0).tolist() == list(range(1, 601))


def test_the_gradient_of_cumsum_does_not_cancel():
    got = gradient(lambda x: lt.cumsum(x, 0), [1.0, 2.0, 3.0], [1e8, 1.0, 1e-8])
    near(got, [1e8, 1.0, 1e-8])
    got = gradient(lambda x: lt.cumsum(x, 0), [1.0, 2.0, 3.0], [INF, 1.0, 2.0])
    assert got.tolist() == [INF, 3.0, 2.0]
    got = gradient(lambda x: lt.cumsum(x, 1, reverse=True), [[1.0, 2.0, 3.0]], [[1.0, 2.0, 4.0]])
    assert got.tolist() == [[1.0, 3.0, 7.0]]


def products(n):
    """Of x: the weighted sum of all products, as the index sets and their weights."""
    return [(range(k + 1), 0.5 + k) for k in range(n)]


def exact(x, terms):
    """Gradient and Hessian of a sum of weighted products of distinct elements."""

    def rest(term, *without):
        if not set(without) <= set(term):
            return 0.0
        return math.prod(x[i] for i in term if i not in without)

    n = range(len(x))
    g = [sum(w * rest(t, i) for t, w in terms) for i in n]
    h = [[0.0 if i == j else sum(w * rest(t, i, j) for t, w in terms) for j in n] for i in n]
    return g, h


@pytest.mark.parametrize("how", ["eager", "trace"])
@pytest.mark.parametrize("zeros", [(), (0,), (3,), (2, 4), (0, 1), (1, 2, 5), (0, 1, 2, 3, 4, 5)])
@pytest.mark.parametrize("name", ["prod", "cumprod", "cumprod reversed"])
def test_products_have_both_derivatives_at_zeros(name, zeros, how):
    x = [0.0 if i in zeros else v for i, v in enumerate((2.0, -3.0, 0.5, 5.0, 7.0, -1.5))]
    n = len(x)
    weights = lt.tensor([0.5 + k for k in range(n)], dtype=lt.float64)
    terms = products(n)
    if name == "prod":
        terms = [(range(n), 1.0)]
    if name == "cumprod reversed":
        terms = [([n - 1 - i for i in t], w) for t, w in terms]

    def f(x):
        if name == "prod":
            return x.prod()
        if name == "cumprod":
            return (x.cumprod(0) * weights).sum()
        return (lt.cumprod(x, 0, reverse=True) * lt.tensor([0.5 + n - 1 - k for k in range(n)],
                                                   dtype=lt.float64)).sum()  # fmt: skip

    def derivatives(x):
        x = x.detach().requires_grad_()
        (g,) = lt.autograd.grad(f(x), [x], create_graph=True)
        rows = []
        for i in range(n):
            (row,) = lt.autograd.grad(g[i], [x], retain_graph=True)
            rows.append(row)
        return g.detach(), lt.stack(rows)

    run = derivatives if how == "eager" else lt.trace(derivatives)
    g, h = run(lt.tensor(x, dtype=lt.float64))
    wanted = exact(x, terms)
    np.testing.assert_allclose(g.numpy(), wanted[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(h.numpy(), wanted[1], rtol=1e-12, atol=1e-12)


def test_third_derivatives_of_products_at_zeros():
    x = lt.tensor([0.0, 0.0, 0.0, 2.0], dtype=lt.float64, requires_grad=True)
    for f, wanted in ((lt.prod, 2.0), (lambda x: lt.cumprod(x, 0).sum(), 3.0)):
        (g,) = lt.autograd.grad(f(x), [x], create_graph=True)
        (h,) = lt.autograd.grad(g[0], [x], create_graph=True)
        (third,) = lt.autograd.grad(h[1], [x])
        assert third[2].item() == wanted


def test_products_of_several_axes_have_their_gradient():
    x = np.random.default_rng(1).standard_normal((2, 3, 4))
    x[0, 1, 2] = x[1, 0, 0] = x[1, 2, 0] = 0
    for dims in ((0,), (1,), (0, 2), (2, 1), ()):
        for keep in (False, True):
            t = lt.tensor(x, requires_grad=True)
            y = lt.prod(t, dims, keep)
            y.backward(lt.ones_like(y) * 2)
            axes = tuple(d % 3 for d in dims) or (0, 1, 2)
            wanted = np.empty_like(x)
            for at in np.ndindex(*x.shape):
                ones = x.copy()
                ones[at] = 1
                rest = ones.prod(axes, keepdims=True)
                wanted[at] = 2 * rest[tuple(0 if a in axes else i for a, i in enumerate(at))]
            np.testing.assert_allclose(t.grad.numpy(), wanted, rtol=1e-12)


OVERFLOWS = {
    "cumprod": (lambda x: lt.cumprod(x, 0), [1e30, 1e30, 1e30], [INF, INF, INF]),
    "cumprod after a zero": (lambda x: lt.cumprod(x, 0), [0.0, 1e30, 1e30, 3.0], [INF, 0, 0, 0]),
    "prod": (lt.prod, [1e30, 1e30, 1e30], [INF, INF, INF]),
    "prod, a zero": (lt.prod, [1e30, 1e30, 0.0], [0, 0, INF]),
    "cumprod of many": (lambda x: lt.cumprod(x, 0), [10.0] * 1200, [INF] * 1200),
}


@pytest.mark.parametrize(("f", "x", "wanted"), OVERFLOWS.values(), ids=OVERFLOWS.keys())
def test_products_that_overflow_have_no_nan_for_a_gradient(f, x, wanted):
    near(gradient(f, x), wanted)


def test_affine_scan_is_a_recurrence():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 700, 3)).astype(np.float32)
    y, wanted = np.zeros(3), []
    for k in range(700):
        y = a[k].astype(np.float64) * y + b[k]
        wanted.append(y)
    pairs = lt.from_numpy(np.stack([a, b], 1).reshape(1400, 3).copy())
    got = lt.ops.affine_scan(pairs, 0)[1::2].numpy()
    np.testing.assert_allclose(got, np.array(wanted), rtol=1e-3, atol=1e-4)
    turned = lt.from_numpy(pairs.numpy()[::-1].copy())
    assert same(lt.ops.affine_scan(turned, 0, True), lt.from_numpy(lt.ops.affine_scan(pairs, 0)
                                                               .numpy()[::-1].copy()))  # fmt: skip
