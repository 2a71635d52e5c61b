"""A traced function that catches an op's error: sizes tell whether it is met, at every call."""

import pytest

import lathe as lt
from lathe.nn import functional as F

FAILS = {  # on two elements; works on four
    "select": lambda x: x[3] * 1,
    "matmul": lambda x: x @ lt.ones(4),
    "view": lambda x: x.view(-1, 4) * 1,
    "view of a fixed size": lambda x: x.view(4) * 1,
    "reshape": lambda x: x.reshape(2, 2) * 1,
    "expand": lambda x: x.expand(4) * 1,
    "narrow": lambda x: x.narrow(0, 1, 2) * 1,
    "split": lambda x: x.split([2, 2])[0] * 1,
    "unfold": lambda x: x.unfold(0, 3, 1) * 1,
    "add": lambda x: x + lt.ones(4),
    "cat": lambda x: lt.cat([x.view(1, -1), lt.ones(1, 4)]),
    "stack": lambda x: lt.stack([x, lt.ones(4)]),
    "topk": lambda x: x.topk(3).values,
    "linear": lambda x: F.linear(x, lt.ones(2, 4)),
    "conv2d": lambda x: F.conv2d(x.view(1, 1, 1, -1), lt.ones(1, 1, 1, 3)),
    "max_pool2d": lambda x: F.max_pool2d(x.view(1, 1, 1, -1), (1, 3)),
    "in place": lambda x: (x * 1).add_(lt.ones(4)),
}


@pytest.mark.parametrize("sizes", [(2, 4, 2, 4), (4, 2, 4, 2)], ids=["fails first", "works first"])
@pytest.mark.parametrize("name", FAILS)
def test_a_caught_error_is_met_where_eager_meets_it(name, sizes):
    def body(x):
        try:
            return FAILS[name](x)
        except lt.Error:
            return x.sum() * 100

    traced = lt.trace(body)
    for n in sizes:
        x = lt.arange(n, dtype=lt.float32) + 1
        want, got = body(x), traced(x)
        assert (got.shape, got.tolist()) == (want.shape, want.tolist())
    assert traced.counts["traces"] <= 2


def test_a_maximum_of_nothing():
    def body(x):
        try:
            return x.amax()
        except ValueError:
            return lt.zeros(())

    traced = lt.trace(body)
    assert [traced(lt.ones(n)).item() for n in (0, 3, 0, 5)] == [0, 1, 0, 1]


def test_a_saved_function_that_caught_an_error_refuses_sizes_that_have_none(tmp_path):
    lt.save(lambda x: caught(x), tmp_path / "f.lathe", inputs=(lt.ones(2),))
    program = lt.load(tmp_path / "f.lathe")
    assert program(lt.ones(3)).item() == 300
    with pytest.raises(
        lt.ShapeError, match=r"saved for inputs of other sizes\n.*3 and 5\n.*3 >= s0"
    ):
        program(lt.ones(5))


def caught(x):
    try:
        return x[3] * 1
    except IndexError:
        return x.sum() * 100


def test_an_error_at_a_later_call_is_the_ops_own_with_the_numbers():
    traced = lt.trace(lambda x, w: x @ w)
    traced(lt.ones(2, 3), lt.ones(3, 4))
    with pytest.raises(lt.ShapeError, match="inner sizes differ") as error:
        traced(lt.ones(2, 3), lt.ones(5, 4))
    assert "a[2, 3] @ b[5, 4]" in error.value.got
    assert traced.counts["traces"] == 1
    assert traced(lt.ones(6, 5), lt.ones(5, 4)).shape == (6, 4)


def test_the_named_tuple_of_an_op_is_a_result():
    traced = lt.trace(lambda x: (x.sort(), [x.max(0)]))
    traced(lt.ones(2))
    (values, indices), [largest] = traced(lt.tensor([3.0, 1.0, 2.0]))
    assert (values.tolist(), indices.tolist()) == ([1, 2, 3], [1, 2, 0])
    assert (largest.values.item(), largest.indices.item()) == (3, 0)
    assert type(largest) is type(lt.ones(1).max(0))
