"""Gradients where a function has a kink or no value, as PyTorch 2.15 gives them."""

import pytest

import lathe as lt
import lathe.nn.functional as F

INF, NAN = float("inf"), float("nan")


def eager(f):
    return f


def gradient(f, at, how=eager):
    x = lt.tensor(at, dtype=lt.float64, requires_grad=True)
    how(f)(x).sum().backward()
    return x.grad.tolist()


def bounds(*numbers):
    return tuple(lt.tensor(n, dtype=lt.float64, requires_grad=True) for n in numbers)


NUMBERS = [
    (lambda x: x.clamp(1, 3), [0, 1, 2, 3, 4, NAN], [0, 0, 1, 0, 0, 0]),
    (lambda x: x.clamp(2, 2), [1, 2, 3], [0, 0, 0]),
    (lambda x: x.clamp(3, 1), [0, 1, 2, 3, 4], [0, 0, 0, 0, 0]),
    (lambda x: x.clamp(min=1), [0, 1, 2, NAN], [0, 0, 1, 0]),
    (lambda x: x.clamp(max=1), [0, 1, 2, NAN], [1, 0, 0, 0]),
    (lambda x: lt.clamp_min(x, 1), [0, 1, 2], [0, 0, 1]),
    (lambda x: lt.clamp_max(x, 1), [0, 1, 2], [1, 0, 0]),
    (F.hardsigmoid, [-3, 3, 4, NAN], [0, 0, 0, 0]),
    (F.hardswish, [-3, 3, -INF, NAN], [0, 1, 0, 1]),
    (F.softshrink, [-0.5, 0.5, 0, NAN], [0, 0, 0, 1]),
    (F.elu, [0, NAN], [1, 1]),
    (lt.abs, [-1, 0, NAN], [-1, 0, 0]),
    (
        lambda x: F.margin_ranking_loss(x, lt.zeros(2), lt.ones(2), reduction="sum"),
        [0, -1],
        [0, -1],
    ),
    (lambda x: lt.logit(x, eps=0.25), [0.2, 0.25, 0.8], [0, 16 / 3, 0]),
    (lambda x: lt.fmax(x, lt.ones(4)), [0, 1, 2, NAN], [0, 0.5, 1, 0]),
    (lambda x: lt.fmin(lt.ones(4), x), [0, 1, 2, NAN], [1, 0.5, 0, 0]),
    (lambda x: lt.nextafter(x, lt.ones(4)), [0, 1, 2, NAN], [1, 0, 1, 1]),
    (lambda x: lt.nextafter(lt.ones(2), x), [0, 1], [0, 0]),
    (lambda x: lt.atan2(x, lt.zeros(2)), [0, 1], [0, 0]),
]


@pytest.mark.parametrize("how", [eager, lt.trace, lt.script])
@pytest.mark.parametrize("case", range(len(NUMBERS)))
def test_of_numbers(case, how):
    f, at, wanted = NUMBERS[case]
    assert gradient(f, at, how) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "low, high, by_x, by_low, by_high",
    [
        (1, 3, [0, 0.5, 1, 0.5, 0, 1], [1, 0.5, 0, 0, 0, 0], [0, 0, 0, 0.5, 1, 0]),
        (2, 2, [0, 0, 1, 0, 0, 1], [1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0]),
        (3, 1, [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]),
        (None, 2, [1, 1, 0.5, 0, 0, 1], None, [0, 0, 0.5, 1, 1, 1]),
        (2, None, [0, 0, 0.5, 1, 1, 1], [1, 1, 0.5, 0, 0, 1], None),
    ],
)
def test_of_tensors(low, high, by_x, by_low, by_high):
    x = [0, 1, 2, 3, 4, NAN]
    given = [None if b is None else bounds([b] * 6)[0] for b in (low, high)]
    assert gradient(lambda t: t.clamp(*given), x) == by_x
    for bound, wanted in zip(given, (by_low, by_high)):
        assert bound is None or bound.grad.tolist() == wanted


def test_values_beside_nothing():
    assert lt.sign(lt.tensor([NAN, -0.0, -2.0])).tolist() == [0, 0, -1]
    y = F.hardswish(lt.tensor([-INF, -3.0]))
    assert y[0].isnan() and y[1] == 0 and lt.signbit(y[1])
    assert lt.array_api.sign(lt.tensor([NAN, -2.0])).isnan().tolist() == [True, False]
