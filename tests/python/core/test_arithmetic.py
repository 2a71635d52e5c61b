"""Elementwise arithmetic where NumPy's grid of values has its corners."""

import numpy as np
import pytest

import lathe as lt

INF, NAN = np.inf, np.nan
CORNERS = np.array([0.0, -0.0, 1.0, -1.5, 1e-310, 3e-39, 1e20, 1e300, INF, -INF, NAN])
FLOATS = ["float32", "float64"]
LARGEST = {
    lt.float16: 65504.0,
    lt.bfloat16: 2.0**127 * (2 - 2**-7),
    lt.float32: float(np.finfo(np.float32).max),
    lt.float64: np.finfo(np.float64).max,
}


def pairs(values):
    return [g.ravel() for g in np.meshgrid(values, values)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["nextafter", "hypot", "logaddexp", "logaddexp2", "copysign"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_corners(name, dtype):
    x, y = (v.astype(dtype) for v in pairs(CORNERS))
    got = getattr(lt, name)(lt.tensor(x), lt.tensor(y)).numpy()
    want = getattr(np, name)(x, y)
    np.testing.assert_allclose(got, want, rtol=4 * np.finfo(dtype).eps)
    here = ~np.isnan(x) & ~np.isnan(y)
    np.testing.assert_array_equal(np.signbit(got)[here], np.signbit(want)[here])


def bits_of(x):
    if x.dtype is lt.float16:
        return int(x.numpy().view(np.uint16)[0])
    return int(x.to(lt.float32).numpy().view(np.uint32)[0]) >> 16


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_nextafter_of_halves_goes_through_all(dtype):
    """From 0 upwards: every step is one more in the bits."""
    kind = getattr(lt, dtype)
    x = lt.zeros(1, dtype=kind)
    for bits in range(1, 40):
        x = lt.nextafter(x, lt.tensor([INF], dtype=kind))
        assert bits_of(x) == bits
    one, below = lt.ones(1, dtype=kind), lt.zeros(1, dtype=kind)
    down = lt.nextafter(one, below)
    assert bits_of(down) == bits_of(one) - 1
    top = lt.nextafter(lt.tensor([INF], dtype=kind), below)
    assert top.item() == LARGEST[kind]
    assert lt.nextafter(top, lt.tensor([INF], dtype=kind)).item() == INF
    if dtype == "float16":  # where subnormal numbers begin
        least = lt.tensor([2.0**-14], dtype=kind)
        assert lt.nextafter(least, below).item() == 2.0**-14 - 2.0**-24


@pytest.mark.parametrize("dtype", FLOATS)
def test_frexp_and_ldexp_are_inverse(dtype):
    info = np.finfo(dtype)
    x = np.array(
        [0, -0.0, 1, -3, 1e10, info.tiny, info.smallest_subnormal, info.max, INF, NAN], dtype
    )
    mantissa, exponent = lt.frexp(lt.tensor(x))
    want = np.frexp(x)
    np.testing.assert_array_equal(mantissa.numpy(), want[0])
    assert exponent.dtype is lt.int32
    finite = np.isfinite(x)
    np.testing.assert_array_equal(exponent.numpy()[finite], want[1][finite])
    np.testing.assert_array_equal(lt.ldexp(mantissa, exponent).numpy(), x)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_gcd_lcm_and_shifts(dtype):
    info = np.iinfo(dtype)
    values = np.array(
        [0, 1, 2, 12, 18, 97, 100, info.max, max(info.min, -info.max), -12 if info.min else 3]
    )
    x, y = (v.astype(dtype) for v in pairs(values))
    np.testing.assert_array_equal(lt.gcd(lt.tensor(x), lt.tensor(y)).numpy(), np.gcd(x, y))
    few = np.array([0, 1, 3, 4, 6], dtype)
    a, b = pairs(few)
    np.testing.assert_array_equal(lt.lcm(lt.tensor(a), lt.tensor(b)).numpy(), np.lcm(a, b))
    t = lt.tensor(values.astype(dtype))
    for count in (0, 1, 3, info.bits - 1):
        np.testing.assert_array_equal(
            (t << count).numpy(), np.left_shift(values.astype(dtype), count)
        )
        np.testing.assert_array_equal(
            (t >> count).numpy(), np.right_shift(values.astype(dtype), count)
        )
    beyond = lt.full((1,), info.bits, dtype=t.dtype)
    assert (lt.ones(1, dtype=t.dtype) << beyond).item() == 0
    if info.min:
        assert (lt.full((1,), -1, dtype=t.dtype) >> beyond).item() == -1
        assert (lt.ones(1, dtype=t.dtype) << lt.full((1,), -1, dtype=t.dtype)).item() == 0
    assert (2 << lt.tensor([3])).item() == 16
    t <<= 1
    np.testing.assert_array_equal(t.numpy(), np.left_shift(values.astype(dtype), 1))


def test_consecutive_fibonacci_numbers_take_the_most_steps():
    a, b = 1, 1
    while a + b < 2**63:
        a, b = a + b, a
    assert lt.gcd(lt.tensor([a]), lt.tensor([b])).item() == 1
    p, q = 1, 0  # and Pell's, with remainders of least magnitude
    while 2 * p + q < 2**63:
        p, q = 2 * p + q, p
    assert lt.gcd(lt.tensor([p]), lt.tensor([q])).item() == 1


def test_nan_to_num():
    x = [NAN, INF, -INF, 1.5]
    for kind in (lt.float16, lt.bfloat16, lt.float32, lt.float64):
        most = LARGEST[kind]
        assert lt.nan_to_num(lt.tensor(x, dtype=kind)).tolist() == [0, most, -most, 1.5]
    assert lt.tensor(x).nan_to_num_(1, 2, 3).tolist() == [1, 2, 3, 1.5]
    assert lt.nan_to_num(lt.tensor([1, 2])).tolist() == [1, 2]
    t = lt.tensor(x, requires_grad=True)
    lt.nan_to_num(t).sum().backward()
    assert t.grad.tolist() == [0, 0, 0, 1]


def test_signs_of_complex_numbers():
    z = lt.tensor([3 + 4j, 0j, -2 + 0j])
    np.testing.assert_allclose(lt.sgn(z).numpy(), [0.6 + 0.8j, 0, -1], rtol=1e-6)
    np.testing.assert_allclose(lt.angle(z).numpy(), [np.arctan2(4, 3), 0, np.pi], rtol=1e-6)
    np.testing.assert_equal(
        lt.angle(lt.tensor([1.0, -1.0, NAN])).numpy(), np.float32([0, np.pi, NAN])
    )
    np.testing.assert_allclose(
        lt.polar(lt.tensor([2.0]), lt.tensor([0.5])).numpy(), [2 * np.exp(0.5j)], rtol=1e-6
    )
    assert lt.angle(lt.tensor([-1, 1])).dtype is lt.float32


def test_float_power_computes_in_double():
    assert lt.float_power(lt.tensor([2]), 3).dtype is lt.float64
    assert abs(lt.float_power(2, lt.tensor([0.5])).item() - 2**0.5) < 1e-15


def test_aliases_are_the_function():
    x = lt.tensor([0.25, -0.5])
    for name, other in (
        ("arcsin", "asin"), ("negative", "neg"), ("fix", "trunc"), ("absolute", "abs"),
        ("special.expm1", "expm1"), ("special.gammaln", "lgamma"), ("conj_physical", "conj"),
    ):  # fmt: skip
        place = lt.special if name.startswith("special.") else lt
        found = getattr(place, name.rpartition(".")[2])
        np.testing.assert_array_equal(found(x).numpy(), getattr(lt, other)(x).numpy())
    for name, other in (
        ("greater", "gt"),
        ("less_equal", "le"),
        ("multiply", "mul"),
        ("divide", "div"),
    ):
        np.testing.assert_array_equal(
            getattr(x, name)(0.25).numpy(), getattr(x, other)(0.25).numpy()
        )
    assert x.clone().clip_(min=0).tolist() == [0.25, 0]
