"""lathe.testing: what is close, and what the error says."""

import numpy as np
import pytest

import lathe as lt

assert_close = lt.testing.assert_close
X = lt.tensor([1.0, 2.0, 3.0])
NAN = lt.tensor(float("nan"))

CLOSE = [
    (X, X + 1e-6, {}),
    (X, X.double(), {"check_dtype": False}),
    (X, np.array([1, 2, 3], "f"), {}),
    (1.0, 1.0000001, {}),
    (NAN, NAN, {"equal_nan": True}),
    (X.half(), (X * 1.0005).half(), {}),
    (X.bfloat16(), (X * 1.01).bfloat16(), {}),
    (lt.zeros(0), lt.zeros(0), {}),
    ({"a": [X, None]}, {"a": (X, None)}, {}),
    (X, X + 0.1, {"rtol": 0.0, "atol": 0.2}),
    (lt.tensor([float("inf")]), lt.tensor([float("inf")]), {}),
]

APART = [
    (X, X + 1e-3, {}, r"not close: 3 of 3 elements\ngreatest absolute difference: 0.001"),
    (X, X.double(), {}, "the dtypes differ"),
    (X, X[:2], {}, r"the shapes differ: \[3\] and \[2\]"),
    ([X, {"a": X}], [X, {"a": X + 1}], {}, r"(?s)not close.*at item \[1\]\['a'\]"),
    ([X], [X, X], {}, "the lengths differ: 1 and 2"),
    ({"a": X}, {"b": X}, {}, "the keys differ"),
    (X, None, {}, "one of the two is None"),
    (NAN, NAN, {}, "not close: 1 of 1"),
    (1, 2, {}, "1 in place of 2"),
    (lt.tensor([True]), lt.tensor([False]), {}, "not close: 1 of 1"),
    (lt.tensor([2**60]), lt.tensor([2**60 + 1]), {}, f"{2**60} in place of {2**60 + 1}"),
    (lt.zeros(2, 3).t(), lt.zeros(3, 2), {"check_stride": True}, "the strides differ"),
    (X, lt.nn.Parameter(X), {"allow_subclasses": False}, "the types differ: Tensor and Parameter"),
    (X, X + 1, {"msg": "mine"}, "^mine$"),
    (X, X + 1, {"msg": lambda text: "mine: " + text}, "^mine: not close"),
]


@pytest.mark.parametrize("actual, expected, options", CLOSE)
def test_close(actual, expected, options):
    assert_close(actual, expected, **options)


@pytest.mark.parametrize("actual, expected, options, says", APART)
def test_apart(actual, expected, options, says):
    with pytest.raises(AssertionError, match=says):
        assert_close(actual, expected, **options)


def test_errors():
    with pytest.raises(lt.ValueError, match="one tolerance without the other"):
        assert_close(X, X, rtol=0.1)
    with pytest.raises(lt.TypeError, match="what is compared is no tensor"):
        assert_close("a", "a")
