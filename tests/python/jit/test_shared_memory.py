"""Tensors over one buffer that come with a storage each: NumPy's slices, DLPack."""

import numpy as np
import pytest

import lathe as lt

MAKERS = {"numpy": lt.from_numpy, "dlpack": lt.from_dlpack}


@pytest.fixture(params=MAKERS)
def tensor_over(request):
    return MAKERS[request.param]


def parts(tensor_over, first, second):
    buffer = np.arange(16, dtype=np.float32)
    return buffer, tensor_over(buffer[first]), tensor_over(buffer[second])


def write_and_read(x, y):
    x += 1
    return y * 2


OVERLAPPING = [
    (slice(0, 8), slice(4, 12)),
    (slice(4, 12), slice(0, 8)),
    (slice(0, 8), slice(7, 15)),
    (slice(0, 8), slice(0, 8)),
    (slice(0, 16), slice(3, 5)),
]
DISJOINT = [
    (slice(0, 8), slice(8, 16)),
    (slice(8, 16), slice(0, 8)),
    (slice(2, 4), slice(10, 12)),
    (slice(0, 8), slice(3, 3)),
    (slice(3, 3), slice(0, 8)),
]


@pytest.mark.parametrize(("first", "second"), OVERLAPPING)
def test_a_traced_write_refuses_an_alias(tensor_over, first, second):
    buffer, x, y = parts(tensor_over, first, second)
    with pytest.raises(lt.TraceError, match="memory another input shares"):
        lt.trace(write_and_read)(x, y)
    assert buffer.tolist() == list(range(16)), "written all the same"


@pytest.mark.parametrize(("first", "second"), OVERLAPPING)
def test_a_trace_made_for_others_refuses_an_alias(tensor_over, first, second):
    traced = lt.trace(write_and_read)
    _, x, y = parts(tensor_over, first, second)
    traced(x.clone(), y.clone())
    with pytest.raises(lt.TraceError, match="memory another input shares"):
        traced(x, y)


@pytest.mark.parametrize(("first", "second"), DISJOINT)
def test_a_traced_write_beside_another_input(tensor_over, first, second):
    traced = lt.trace(write_and_read)
    here, x, y = parts(tensor_over, first, second)
    there, p, q = parts(tensor_over, first, second)
    for _ in range(2):
        assert traced(x, y).tolist() == write_and_read(p, q).tolist()
        assert here.tolist() == there.tolist()
    assert traced.counts["traces"] == 1


@pytest.mark.parametrize(("first", "second"), [*OVERLAPPING[:4], *DISJOINT[:2]])
def test_eager_writes_read_their_value_in_full(tensor_over, first, second):
    for write in (lambda x, y: x.copy_(y), lambda x, y: x.add_(y)):
        buffer, x, y = parts(tensor_over, first, second)
        value = y.clone()
        want = x.clone()
        write(want, value)
        write(x, y)
        assert x.tolist() == want.tolist()


def test_an_expanded_alias(tensor_over):
    buffer = np.arange(4, dtype=np.float32)
    x, y = tensor_over(buffer), tensor_over(buffer[3:]).expand(6)
    x += y[:4]
    assert buffer.tolist() == [3, 4, 5, 6]
