"""Numbers in the places of tensors: every definition, every place, the same in a trace as eager."""

import itertools

import pytest

import lathe as lt

TENSOR, INTEGER, REAL, SCALAR = range(4)  # the codes of kinds of parameters
DTYPES = (lt.float32, lt.float64, lt.int32, lt.bool)


def places(row):
    return [p["name"] for p in row["params"] if p["type"] == TENSOR and p["number"]]


KINDS = ("elementwise", "composite")
# What else they need: an axis and an index, and how many steps.
MORE = {"index_fill", "linspace.ends", "logspace.ends"}
ROWS = [
    row
    for row in lt._lathe._definitions()
    if row["kind"] in KINDS and places(row) and row["name"] not in MORE
]


def arguments(row, numbers, number, dtype):
    """All arguments by name, or None where a parameter is left that nothing here fits."""
    found = {}
    for p in row["params"]:
        if p["name"] in numbers or p["type"] in (REAL, SCALAR):
            found[p["name"]] = number
        elif p["type"] == TENSOR and not p["list"]:
            found[p["name"]] = lt.ones(3, dtype=dtype)
        elif p["name"] == "rounding_mode":
            found[p["name"]] = "floor"
        elif p["default"] is None:
            return None
    return found


def outcome(function):
    try:
        y = function()
    except lt.Error as e:
        return type(e).__name__
    return y.dtype, tuple(y.shape), lt.equal(y, y), y.tolist()


def test_there_are_definitions_to_try():
    assert len(ROWS) > 20


def same_in_a_trace(function, found):
    tensors = {k: v for k, v in found.items() if isinstance(v, lt.Tensor)}
    rest = {k: v for k, v in found.items() if k not in tensors}
    traced = lt.trace(lambda t: function(**t, **rest))
    return outcome(lambda: traced(tensors)) == outcome(lambda: function(**found))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_numbers_give_the_same_in_a_trace(row):
    function = getattr(lt.ops, row["public_name"])
    tried = 0
    for dtype, number, count in itertools.product(DTYPES, (2, 1.5, True), (1, 2, 3)):
        for numbers in itertools.combinations(places(row), count):
            found = arguments(row, numbers, number, dtype)
            if found is not None:
                assert same_in_a_trace(function, found), found
                tried += 1
    assert tried


def test_alpha_and_other_are_multiplied_as_numbers():
    x = lt.ones(1, dtype=lt.float64)
    assert x.add(0.1, alpha=0.1).item() == 1 + 0.1 * 0.1
    assert x.sub(0.1, alpha=3).item() == 1 - 0.1 * 3
    assert lt.add(lt.tensor(1, dtype=lt.int32), 1, alpha=2).dtype is lt.int32
    with pytest.raises(lt.DTypeError, match="alpha"):
        lt.add(lt.tensor(1), lt.tensor(2), alpha=2.5)
    with pytest.raises(lt.DTypeError, match="alpha"):
        lt.sub(lt.tensor(1), 2, alpha=2.5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: lt.atan2(x, 1 + 2j),
        lambda x: lt.fma(x, 1j, x),
        lambda x: lt.maximum(x, lt.tensor([1j, 2j])),
    ],
)
def test_float64_with_a_complex_operand_is_refused(function):
    """They meet in complex128, which these have no meaning for."""
    with pytest.raises(lt.DTypeError, match="complex128"):
        function(lt.tensor([1.0, 2.0], dtype=lt.float64))


def test_results_have_the_integer_dtype_that_was_asked_for():
    x = lt.tensor([1.0, 2.0])
    for op in (lt.sum, lt.prod, lambda x, dtype: lt.cumsum(x, 0, dtype=dtype)):
        for dtype in (lt.bool, lt.int8, lt.int32, lt.int64):
            assert op(x, dtype=dtype).dtype is dtype
    assert lt.sum(x, dtype=lt.bool).item() is True
    for refused in (lt.softmax, lt.log_softmax):
        with pytest.raises(lt.DTypeError, match="dtype=int64"):
            refused(x, 0, dtype=lt.int64)
    with pytest.raises(lt.DTypeError, match="dtype=int64"):
        lt.norm(x, dtype=lt.int64)


@pytest.mark.parametrize("dtype", [lt.float16, lt.bfloat16, lt.float32])
def test_a_number_is_compared_as_its_tensor_holds_it(dtype):
    """As PyTorch and NumPy do: what was made of 0.3 equals 0.3, in halves too."""
    x = lt.tensor([0.3, 0.1, 2.0], dtype=dtype)

    def compared(x):
        return x == 0.3, x != 0.1, x > 0.1, x >= 0.1, x < 0.3, x <= 0.3, x.gt(0.1), x.eq(0.1)

    want = [
        [True, False, False], [True, False, True], [True, False, True], [True, True, True],
        [False, True, False], [True, True, False], [True, False, True], [False, True, False],
    ]  # fmt: skip
    assert [y.tolist() for y in compared(x)] == want
    assert [y.tolist() for y in lt.trace(compared)(x)] == want
    assert (x.double() == 0.3).tolist() == [False] * 3
