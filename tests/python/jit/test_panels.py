"""Attention some rows at a time: the bits of its steps one after the other."""

import contextlib

import numpy as np
import pytest

import lathe as lt
from lathe.nn import functional as F


class Attention(lt.nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def stepwise(q, k, v, mask=None, causal=False):
    """Each op by itself, on whole tensors."""
    scores = q @ k.transpose(-1, -2) * (lt.full((), q.shape[-1], dtype=q.dtype)).rsqrt()
    if causal:
        mask = lt.tensor(np.tri(q.shape[-2], k.shape[-2], dtype=bool))
        return lt.softmax(lt.where(mask, scores, -np.inf), -1) @ v
    if mask is None:
        return lt.softmax(scores, -1) @ v
    scores = lt.where(mask, scores, -np.inf)
    top = lt.amax(scores, -1, keepdim=True)
    top = lt.where(top == -np.inf, 0, top)
    e = lt.exp(scores - top)
    total = lt.sum(e, -1, keepdim=True)
    return e * lt.reciprocal(lt.where(total == 0, 1, total)) @ v


@contextlib.contextmanager
def flag(name, value):
    before = lt.get_flag(name)
    lt.set_flag(name, value)
    try:
        yield
    finally:
        lt.set_flag(name, before)


def operands(shape, keys, width, dtype, seed=0):
    rng = np.random.default_rng(seed)
    *lead, rows, depth = shape
    sizes = (shape, (*lead, keys, depth), (*lead, keys, width))
    return [lt.tensor(rng.standard_normal(size)).to(dtype) for size in sizes]


def same(got, wanted):
    assert got.dtype == wanted.dtype
    if got.dtype == lt.bfloat16:  # which NumPy has not
        got, wanted = got.float(), wanted.float()
    assert got.numpy().tobytes() == wanted.numpy().tobytes()


def check(arrays, mask=None, causal=False, panels=True):
    attend = lt.trace(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
    )
    with lt.no_grad():
        got = attend(*arrays)
        same(got, stepwise(*arrays, mask=mask, causal=causal))
    assert (attend.counts["in_panels"] > 0) == panels


SHAPES = [
    ((2, 3, 200, 24), 200, 16),
    ((1, 700, 40), 700, 33),
    ((260, 8), 1100, 8),
    ((4, 130, 64), 600, 64),
    ((1, 1, 17, 5), 9000, 7),
]


@pytest.mark.parametrize("dtype", [lt.float32, lt.float64])
@pytest.mark.parametrize("shape, keys, width", SHAPES)
def test_bits_are_those_of_the_steps(shape, keys, width, dtype):
    arrays = operands(shape, keys, width, dtype)
    check(arrays)
    check(arrays, causal=True)


@pytest.mark.parametrize("shape, keys, width", SHAPES)
def test_masks(shape, keys, width):
    arrays = operands(shape, keys, width, lt.float32)
    rng = np.random.default_rng(1)
    padding = np.arange(keys) < keys // 3
    rows = shape[-2]
    window = np.abs(np.subtract.outer(np.arange(rows), np.arange(keys))) < 20
    window[rows // 2 :] = False  # rows that see nothing
    every = np.broadcast_to(rng.random((rows, keys)) < 0.3, (*shape[:-2], rows, keys)).copy()
    every[..., keys // 2 :] = False
    for mask in (np.broadcast_to(padding, (rows, keys)).copy(), window, every):
        check(arrays, mask=lt.tensor(mask))


def test_what_is_hidden_may_be_anything():
    q, k, v = operands((1, 400, 16), 400, 16, lt.float32)
    for value in (np.inf, -np.inf, np.nan):
        for hurt in (k, v):
            spoilt = hurt.clone()
            spoilt[0, 300, 3] = value
            arrays = (q, spoilt, v) if hurt is k else (q, k, spoilt)
            check(arrays, causal=True)


def test_zeros_keep_their_sign():
    """Sums that underflow to -0 meet zero terms of either sign behind them."""
    q, k, v = operands((1, 400, 16), 400, 16, lt.float32)
    tiny = lt.full((1, 400, 16), -1e-45)
    tiny[0, 250:] = 1e-45
    tiny[0, :, ::2] *= -1.0
    check((q, k, tiny), causal=True)
    check((q, k, -lt.zeros(1, 400, 16)), causal=True)


def test_operands_that_lie_otherwise():
    q, k, v = operands((2, 300, 4, 32), 1, 1, lt.float32)[0], None, None
    k, v = q * 0.5, q - 1
    heads = [x.transpose(1, 2) for x in (q, k, v)]
    check(heads, causal=True)
    check([heads[0], heads[1], v.permute(0, 2, 1, 3)])
    check([heads[0], heads[1][:1, :1].expand(2, 4, 300, 32), heads[2]])


def test_small_ones_run_step_by_step():
    check(operands((2, 8, 16), 8, 16, lt.float32), panels=False)
    check(operands((64, 1, 16), 4000, 16, lt.float32), panels=False)


def test_dtypes_between_may_be_wider():
    q, k, v = operands((2, 300, 16), 300, 16, lt.float32)

    def attend(q, k, v):
        weights = lt.softmax((q @ k.transpose(-1, -2)).to(lt.float64) * 0.25, -1)
        return weights.to(lt.float32) @ v

    traced = lt.trace(attend)
    with lt.no_grad():
        same(traced(q, k, v), attend(q, k, v))


def test_what_is_converted_first_runs_step_by_step():
    arrays = operands((2, 600, 16), 600, 16, lt.bfloat16)

    def attend(q, k, v):
        return lt.softmax(q @ k.transpose(-1, -2), -1) @ v

    traced = lt.trace(attend)
    with lt.no_grad():
        same(traced(*arrays), attend(*arrays))
    assert traced.counts["in_panels"] == 0


def test_threads_do_not_show():
    arrays = operands((3, 500, 32), 500, 32, lt.float32)
    results = []
    attend = lt.trace(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    for threads in ("1", "4"):
        with flag("threads", threads), lt.no_grad():
            results.append(attend(*arrays))
    same(*results)


def test_another_entry_runs_the_steps_apart():
    arrays = operands((2, 300, 16), 300, 16, lt.float32)
    attend = lt.trace(lambda q, k, v: F.scaled_dot_product_attention(q, k, v))
    with flag("disabled", "own.gemm"), lt.no_grad():
        got = attend(*arrays)
        same(got, stepwise(*arrays))
        assert attend.counts["in_panels"] == 0
    with lt.no_grad():
        same(attend(*arrays), stepwise(*arrays))
        assert attend.counts["in_panels"] == 1


def test_explain_says_so_and_memory_is_less():
    arrays = operands((4, 1024, 32), 1024, 32, lt.float32)
    attend = lt.trace(lambda q, k, v: F.scaled_dot_product_attention(q, k, v))
    with lt.no_grad():
        attend(*arrays)
    assert "run with it, some rows at a time" in attend.explain(verbose=True)
    program = lt.freeze(Attention(), *arrays)
    program(*arrays)
    assert program.counts["in_panels"] == 1
    assert program.counts["peak_bytes"] < 1 << 20  # the scores alone are 16 MiB


@pytest.mark.parametrize("n", [3, 640])
def test_a_product_whose_epilogue_gives_a_second_result(n):
    """Somebody else reads that one, so it is made where it stands."""

    def f(x, w):
        p = x @ w + x
        q = p / (w.abs() + 1)
        return (q @ q).exp(), (p * q.sum(1, keepdim=True)) @ q

    x, w = lt.randn(n, n) * 0.01, lt.randn(n, n)
    captured = lt.trace(f)
    for got, wanted in zip(captured(x, w), f(x, w)):
        same(got, wanted)
