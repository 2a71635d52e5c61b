"""Composites over rows of large tensors: some rows at a time, with the bits of all at once."""

import numpy as np
import pytest

import lathe as lt
from lathe.nn import functional as F

W, B = lt.rand(96), lt.rand(96)
OPS = {
    "softmax": lambda x: lt.softmax(x, -1),
    "softmax of columns": lambda x: lt.softmax(x, 1),
    "softmax of all": lambda x: lt.softmax(x, 0),
    "log_softmax": lambda x: lt.log_softmax(x, 2),
    "layer_norm": lambda x: F.layer_norm(x, (96,), W.to(x.dtype), B.to(x.dtype)),
    "layer_norm of two axes": lambda x: F.layer_norm(x, x.shape[-2:]),
}
SHAPES = [(1501, 2, 96), (3, 1037, 96), (2, 2000, 96)]  # the threads of a machine take 2^16 each


@pytest.fixture(autouse=True)
def _one_thread():
    before = lt.get_flag("threads")
    lt.set_flag("threads", 1)
    yield
    lt.set_flag("threads", before)


def given(shape, dtype):
    x = lt.randn(*shape).to(dtype)
    x[0, 0, 0], x[-1, -1, -1], x[1, 1, 5] = float("nan"), float("inf"), -0.0
    return x


def bits(x):
    return np.nan_to_num(x.detach().to(lt.float64).numpy(), nan=7.25).tobytes()


@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.float16])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_parts_have_the_bits_of_the_whole(op, shape, dtype):
    x = given(shape, dtype)
    whole = op(x.clone().requires_grad_())  # history is of the whole
    assert whole.requires_grad
    with lt.no_grad():
        parts = op(x)
        turned = op(x.transpose(1, 2).contiguous().transpose(1, 2))
    assert parts.shape == whole.shape and parts.dtype == whole.dtype
    assert bits(parts) == bits(whole) == bits(turned)


def test_integers_and_empty_rows():
    x = lt.randint(0, 9, (3000, 64))
    assert bits(lt.softmax(x, 1)) == bits(lt.softmax(x.to(lt.float32).requires_grad_(), 1))
    assert lt.softmax(lt.zeros(200000, 0), 1).shape == (200000, 0)


def test_memory_is_that_of_parts():
    x = lt.randn(4096, 256)
    with lt.no_grad():
        lt._lathe._reset_memory_peak()
        before = lt._lathe._memory_stats()[0]
        lt.softmax(x, 1)
        assert lt._lathe._memory_stats()[1] - before < 1.6 * x.numel() * 4
