"""Numbers of scripts are Python's: the same value and type, or a ScriptError that says why not."""

import math
import runpy

import pytest
from script_checks import check, f32

import lathe as lt

B = 2**53
TOP = 2**63 - 1
WHOLE = (0, 1, -1, 3, 70, B - 1, B, B + 1, B + 3, -B - 1, 2**62 + 1, TOP - 511, TOP, -TOP - 1)
FLOATS = (
    0.0,
    -0.0,
    2.5,
    -2.5,
    -3.0,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
    2.0**53,
    2.0**63,
    2.0**70,
)


def comparisons(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b


def same(a, b):
    assert type(a) is type(b)
    assert repr(a) == repr(b)


def whole(f):
    """How f(n) of eager and script compare over integers."""
    scripted = lt.script(lambda t: f(int(t)))
    for n in WHOLE:
        same(scripted(lt.tensor(n)), f(n))


@pytest.mark.parametrize("known", [*FLOATS, 9007199254740993.0, 0, 2**63, -(2**63) - 1, 10**400])
def test_integers_compare_exactly(known):
    whole(lambda n: comparisons(n, known))
    whole(lambda n: comparisons(known, n))


@pytest.mark.parametrize(
    "known", [0, B + 1, -B - 1, TOP, 2**70, 2**70 + 1, -(2**70) - 1, 10**400, 2.5]
)
def test_floats_compare_exactly(known):
    scripted = lt.script(lambda t: comparisons(float(t), known))
    for x in FLOATS:
        same(scripted(lt.tensor(x, dtype=lt.float64)), comparisons(x, known))


def test_two_numbers_that_data_decides_compare_exactly():
    scripted = lt.script(
        lambda t, u: (comparisons(int(t), float(u)), comparisons(float(u), int(t)))
    )
    for n in WHOLE:
        for x in (*FLOATS, float(n), math.nextafter(float(n), 0), -(2.0**63)):
            expected = comparisons(n, x), comparisons(x, n)
            same(scripted(lt.tensor(n), lt.tensor(x, dtype=lt.float64)), expected)


def test_membership_compares_exactly():
    whole(lambda n: (n in (1, 9007199254740992.0, 2.0), n not in [3.0, 2**64]))


@pytest.mark.parametrize("rounds", [2, 70])
def test_integers_past_64_bits_are_refused(rounds):
    def f(t):
        k = int(t)
        for _ in range(rounds):
            k = k * 3037000500
        return k

    scripted = lt.script(f)
    assert scripted(lt.tensor(0)) == 0
    with pytest.raises(lt.ScriptError, match="does not fit in 64 bits") as caught:
        scripted(lt.tensor(3))
    assert f"{__file__}:{f.__code__.co_firstlineno + 3}" in str(caught.value)
    assert scripted(lt.tensor(0)) == 0  # and goes on to serve


@pytest.mark.parametrize("known", [2**63, -(2**64), 10**400])
def test_a_known_integer_past_64_bits_is_refused(known):
    with pytest.raises(lt.ScriptError, match="does not fit in 64 bits"):
        lt.script(lambda t: int(t) + known)(lt.tensor(1))


def negated(n):
    return -n


def divided(n):
    return n // -1


def less_one(n):
    return n - 1


def squared(n):
    return n**2


@pytest.mark.parametrize("f", [negated, abs, divided, less_one, squared])
def test_the_lowest_integer(f):
    scripted = lt.script(lambda t: f(int(t)))
    same(scripted(lt.tensor(5)), f(5))
    with pytest.raises(lt.ScriptError, match="does not fit in 64 bits"):
        scripted(lt.tensor(-TOP - 1))


@pytest.mark.parametrize("divisor", [3, -7, 1, 8, -(2**62), 2**64, 2**53 - 1, 10])
def test_quotients_are_pythons_or_refused(divisor):
    scripted = lt.script(lambda t: int(t) / divisor)
    exact = abs(divisor) & (abs(divisor) - 1) == 0
    for n in WHOLE:
        if exact or abs(n) <= B:
            same(scripted(lt.tensor(n)), n / divisor)
        else:
            with pytest.raises(lt.ScriptError, match="whose quotient floats round"):
                scripted(lt.tensor(n))


def test_a_quotient_by_a_divisor_that_floats_round_is_refused():
    with pytest.raises(lt.ScriptError, match="is divided by 9007199254740993"):
        lt.script(lambda t: int(t) / (B + 1))(lt.tensor(1))


def test_powers():
    scripted = lt.script(lambda t: (int(t) ** 0, int(t) ** 1, int(t) ** 3))
    for n in (0, 1, -1, 7, -5, 2097151):
        same(scripted(lt.tensor(n)), (1, n, n**3))


def powers(t):
    n, x = int(t), float(t)
    y = x
    y **= 3
    n **= 2
    return x**2, 2.0 ** int(t), n**-1.0, pow(x, 1.5), y, n, x ** (x - 1), 3 ** abs(int(t))


@pytest.mark.parametrize(
    "f",
    [
        powers,
        lambda t: int(t) ** -1,
        lambda t: int(t) ** 65,
        lambda t: int(t) ** int(t),
        lambda t: float(t) ** 0.5,
        lambda t: (math.exp(t), math.log(float(t)), math.log(int(t), 2), math.hypot(t, 3)),
        lambda t: (math.cos(int(t)), math.pow(t, 0.3), math.atan2(2, float(t)), math.erf(t)),
    ],
)
def test_powers_and_functions_of_math_are_those_of_python(f):
    scripted = lt.script(f)
    for n in (2, 1, 5, -1, 0, -3, 7, 11, 900, -900):
        t = lt.tensor(n)
        try:
            want = f(t)
        except (ArithmeticError, ValueError) as e:
            with pytest.raises(type(e)) as caught:
                scripted(t)
            assert str(caught.value) == str(e)
        else:
            same(scripted(t), want)
    assert scripted.counts["traces"] == 1


def test_bits():
    def f(t):
        n, yes = int(t), t > 2
        m, c = n, 0
        while m > 0:
            c += m & 1
            m >>= 1
        b = bool(yes)
        return c, n | 6, 5 & n, n ^ -3, ~n, n << 3, n >> 2, b & True, b | (n < 0), b ^ b, ~n & 255

    scripted = lt.script(f)
    for n in (0, 1, -1, 6, 255, -256, 2**40 + 5, -(2**40)):
        same(scripted(lt.tensor(n)), f(lt.tensor(n)))
    with pytest.raises(lt.ScriptError, match="cannot be used here"):
        lt.script(lambda t: int(t) << int(t))(lt.tensor(1))


def test_functions_of_math_in_loops(tmp_path):
    def f(x):
        t, n = x[1].abs().item() + 1, 0
        while t > 0.01 and n < 50:
            if lt.rand(()).item() < math.exp(-1 / t):
                n += 1
            t *= 0.9**n
        return n, t

    scripted = lt.script(f)
    for seed in range(5):
        results = []
        for g in (f, scripted):
            lt.manual_seed(seed)
            results.append(g(f32(1, seed)))
        same(*results)
    with pytest.raises(lt.Error, match="exp"):
        lt.save(lt.script(lambda x: x * math.exp(x[0])), str(tmp_path / "f"), inputs=[f32(1)])


def test_floats():
    def f(x):
        return x % 1, x % -1.0, x // 3, -x, +x, abs(x), x.is_integer(), x * 2**70, x - 10**20

    scripted = lt.script(lambda t: f(float(t)))
    for x in (0.0, -0.0, 2.5, -2.5, -3.0, 1e300, math.nan, 2.0**53):
        same(scripted(lt.tensor(x, dtype=lt.float64)), f(x))
    infinite = lt.script(lambda t: float(t).is_integer())
    same(infinite(lt.tensor(math.inf)), False)


def test_remainder_of_a_product_that_is_minus_zero():
    scripted = lt.script(lambda t: (float(t) * -0.0) % 1)
    for x in (3.0, -3.0, 0.0):
        same(scripted(lt.tensor(x)), (x * -0.0) % 1)


class Odd:
    def __eq__(self, other):
        return other is list

    __hash__ = None

    def __call__(self, x):
        return x + 1


def test_a_callable_with_an_equality_of_its_own_is_called():
    odd = Odd()
    assert lt.script(lambda x: odd(x))(lt.ones(1)).tolist() == [2.0]


TO_WHOLE = {
    "int": int,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
}


@pytest.mark.parametrize("function", TO_WHOLE.values(), ids=TO_WHOLE)
def test_integers_of_floats(function):
    """Eager code says what there is no integer of, and computes those beyond 64 bits."""

    def f(t):
        return function(float(t)), function(float(t) * 0.5) + 1

    scripted = lt.script(f)
    for x in (
        *FLOATS,
        0.5,
        1.5,
        3.5,
        -0.5,
        -1.5,
        0.49999999999999994,
        2.0**61,
        2.0**62,
        -(2.0**62),
    ):
        t = lt.tensor(x, dtype=lt.float64)
        if not math.isfinite(x):
            with pytest.raises((OverflowError, ValueError)) as wanted:
                f(t)
            with pytest.raises(wanted.type, match=str(wanted.value)):
                scripted(t)
        else:
            same(scripted(t), f(t))
    assert scripted.counts["traces"] == 1


def test_integers_of_floats_where_data_decides():
    def f(x):
        n = 0
        while x.sum() < 40:
            if x.max() > 3:
                n += int(x.sum() * 1.3)
            x = x * 2
        try:
            m = int((x / (x - 64)).sum())
        except (OverflowError, ValueError):
            m = -1
        return n, m

    scripted = lt.script(f)
    for x in (1.0, 2.0, 0.5, 3.25, 100.0, 2.0, math.inf):
        same(scripted(lt.ones(2) * x), f(lt.ones(2) * x))
    assert scripted.counts["traces"] == 1


def test_what_is_rounded_without_data_is_as_in_python():
    @lt.script
    def f(x):
        return math.floor(2.5), round(2.5), round(2.567, 2), math.ceil(x.shape[0])

    x = lt.tensor([1.3])
    same(f(x), (2, 2, 2.57, 1))
    with pytest.raises(lt.ScriptError, match=r"an argument of round\(\)"):
        lt.script(lambda x: round(float(x), 2))(lt.tensor(1.0))


def test_whole_numbers_of_tensors():
    def f(x):
        return x * math.floor(x[0]), math.ceil(x[1]) + x, int(x[0]), math.floor(x[0:1])

    check(f, (f32(2.7, -1.5),), (f32(-2.7, 1e6),), (lt.tensor([3, 4]),))
    scripted = lt.script(lambda x: x * math.floor(x[0]))
    with pytest.raises(ValueError, match="NaN"):
        scripted(f32(math.nan, 1))
    with pytest.raises(TypeError, match="doesn't define __trunc__"):  # as eager code
        lt.script(lambda x: math.trunc(x[0]))(f32(1))
    with pytest.raises(TypeError, match="doesn't define __round__"):
        lt.script(lambda x: round(x[0]))(f32(1))


@pytest.mark.parametrize("asked", ["math.gcd(x[0], 2)", "math.gcd(x[0].item(), 4)"])
def test_other_functions_of_math_are_refused(asked, tmp_path):
    (tmp_path / "asks.py").write_text(f"import math\n\n\ndef f(x):\n    return x * {asked}\n")
    f = runpy.run_path(str(tmp_path / "asks.py"))["f"]
    with pytest.raises(lt.ScriptError, match=r"math.gcd\(\) of what data decides") as caught:
        lt.script(f)(lt.tensor([6]))
    assert "lathe.gcd(x)" in str(caught.value) and "asks.py:5" in str(caught.value)
