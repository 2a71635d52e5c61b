"""Kinds of arguments, for every op: a bool is no integer, a number is no tensor."""

import numpy as np
import pytest
from samples import SAMPLES, tensors

import lathe as lt

FIRST = {sample.op: sample for sample in reversed(SAMPLES)}  # one of each op
ROWS = {row["name"]: row for row in lt._lathe._definitions()}
TENSOR, INTEGER, REAL, SCALAR = (
    0,
    1,
    2,
    3,
)  # what lt._lathe._definitions() calls the types of parameters


def with_each(op, kind, value):
    """Calls of op, one for each parameter of this type, with `value` in its place."""
    args, kwargs = tensors(FIRST[op])
    row = ROWS[op]
    names = [p["name"] for p in row["params"]]
    others = [r for r in ROWS.values() if r["public_name"] == row["public_name"]]
    takes_numbers = {p["name"] for r in others for p in r["params"] if p["type"] in (REAL, SCALAR)}
    given = dict(zip(names, args)) | kwargs
    for p in ROWS[op]["params"]:
        if p["type"] == kind and not p["number"] and p["name"] not in takes_numbers:
            yield p["name"], given | {p["name"]: [value] if p["list"] else value}


def having(kind):
    return [op for op in FIRST if any(True for _ in with_each(op, kind, None))]


def refused(op, value, kind):
    for name, arguments in with_each(op, kind, value):
        with pytest.raises(lt.TypeError, match=op.split(".")[0]) as caught:
            getattr(lt.ops, op)(**arguments)
        assert "expected:" in str(caught.value), name


@pytest.mark.parametrize("op", having(INTEGER))
@pytest.mark.parametrize("value", [True, np.bool_(False)], ids=["bool", "numpy"])
def test_a_bool_is_no_integer(op, value):
    refused(op, value, INTEGER)


@pytest.mark.parametrize("op", having(TENSOR))
@pytest.mark.parametrize("value", [1.5, 2, True, "text"], ids=str)
def test_a_number_is_no_tensor(op, value):
    refused(op, value, TENSOR)


def test_enough_ops_are_among_them():
    assert len(having(INTEGER)) > 60 and len(having(TENSOR)) > 200


@pytest.mark.parametrize("f", [lt.std, lt.var])
def test_the_bool_of_std_and_var_is_unbiased_and_no_axis(f):
    x = lt.tensor([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]])
    for unbiased in (True, False):
        wanted = f(x, correction=int(unbiased))
        for got in (f(x, unbiased), f(x, unbiased=unbiased), f(x, None, unbiased)):
            assert got.shape == () and got.item() == wanted.item()
    with pytest.raises(lt.TypeError, match=f.__name__):
        f(x, dim=True)
