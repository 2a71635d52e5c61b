"""Divisions and roots of numbers that data decides, and writes of such numbers in place."""

import math

import pytest
from script_checks import check, f32, same

import lathe as lt

TOP = 2**63 - 1
NUMBERS = [(2.0, 3), (3.0, -7), (-1.0, 5), (0.0, 4), (-2.0, 0), (5.0, -TOP - 1), (-1.0, -TOP - 1)]


def quotient(a, c, n):
    return a * (int(n) / int(c))


def whole_quotient(a, c, n):
    return a * (int(n) // int(c)) + int(n) % int(c)


def of_floats(a, c, n):
    return a * (float(n) / float(c) + float(n) // float(c) + float(n) % float(c))


def after_asking(a, c, n):
    k = int(c)
    if k != 0:
        a = a * (7 / k)
    return a


def caught(a, c, n):
    try:
        return a * (7 / int(c))
    except ZeroDivisionError:
        return a - 1


def in_place(a, c, n):
    k, m = int(n) % 100, 1000
    k //= int(c)
    m /= int(c) + 10
    return a + k + m


def newton(a, c, n):
    x = 1.0 + float(c) * float(c)
    while abs(x * x - 2.0) > 1e-6:
        x = 0.5 * (x + 2.0 / x)
    return a * x


def greatest_divisor(a, c, n):
    k, m = int(n) % 1000, int(c)
    while m != 0:
        k, m = m, k % m
    return a * k


def of_sizes(a, c, n):
    return a * (True / int(c)) + (a.shape[0] // int(c)) + 7 % int(c)


@pytest.mark.parametrize(
    "f",
    [quotient, whole_quotient, of_floats, after_asking, caught, in_place, newton, greatest_divisor,
     of_sizes],
)  # fmt: skip
def test_divisors_that_data_decides(f):
    scripted = lt.script(f)
    for c, n in NUMBERS:
        args = f32(1, 2, 3), lt.tensor(c), lt.tensor(n)
        try:
            wanted = f(*args)
        except (ZeroDivisionError, OverflowError) as e:
            with pytest.raises(type(e), match=str(e).splitlines()[0]):
                scripted(*args)
            continue
        if f is quotient and abs(n) > 2**53:
            with pytest.raises(lt.ScriptError, match="beyond 2\\*\\*53"):
                scripted(*args)
            continue
        same(scripted(*args), wanted)


def test_a_number_that_is_known_to_divide_nothing_in_a_branch():
    def f(x, k):
        if x.sum() > 0:
            return x * (1 / k)
        return x

    scripted = lt.script(f)
    same(scripted(f32(-1), 0), f32(-1))
    with pytest.raises(ZeroDivisionError):
        scripted(f32(1), 0)

    def g(x, d):
        return x * d["missing"] if x.sum() > 0 else x

    scripted = lt.script(g)
    same(scripted(f32(-1), {}), f32(-1))
    with pytest.raises(KeyError):
        scripted(f32(1), {})


def added(a, c):
    a += int(c)
    return a * 2


def to_a_view(a, c):
    v = a[1:]
    v -= int(c) * 2
    v *= float(c)
    return a.sum()


def to_an_attribute(a, c):
    class Holder:
        pass

    h = Holder()
    h.x = a
    h.x += int(c)
    h.x /= 4.0 + int(c)
    return a * 1


def to_items(a, c):
    held = [a, a * 2]
    held[0] **= int(c) * 0 + 2
    held[1] //= int(c)
    return held


def in_rounds(a, c):
    i = 0
    while i < int(c) + 2:
        a += i
        i += 1
    return a * 1


@pytest.mark.parametrize("f", [added, to_a_view, to_items, in_rounds])
def test_numbers_that_data_decides_are_added_in_place(f):
    check(f, *((f32(1, 2, 3), lt.tensor(c)) for c in (2.0, -1.0, 5.0)))


def test_an_integer_tensor_takes_no_float_in_place():
    def f(a, c):
        a += float(c)
        return a

    with pytest.raises(lt.DTypeError):
        lt.script(f)(lt.arange(3), lt.tensor(2.5))
    with pytest.raises(lt.DTypeError):
        f(lt.arange(3), lt.tensor(2.5))


def test_exact_functions_of_math():
    def f(c):
        x = c.item()
        if math.isnan(x):
            return 1.0
        if math.isinf(x):
            return math.fabs(x)
        return math.sqrt(x) + math.sqrt(int(c)) if math.isfinite(x) else 2.0

    scripted = lt.script(f)
    for value in (4.0, 2.0, math.inf, -math.inf, math.nan, 0.0, 1e18):
        same(scripted(lt.tensor(value)), f(lt.tensor(value)))
    with pytest.raises(ValueError, match="math domain error|nonnegative"):
        scripted(lt.tensor(-1.0))


def test_the_least_integer_by_minus_one_is_no_wrapped_number():
    def f(n):
        return -(2**63) // int(n), -(2**63) % int(n)

    scripted = lt.script(f)
    for n in (-1, 2, -3):
        same(scripted(lt.tensor(n)), f(lt.tensor(n)))
