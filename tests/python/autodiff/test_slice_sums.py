"""Gradients of slices are added to slices alone: the bits, zeros' signs among them, are those of
sums of whole tensors, which a gradient with a history is still made of."""

import numpy as np
import pytest

import lathe as lt

N = 12


def disjoint(x):
    return [x[0:4], x[4:8], x[8:12]]


def backwards(x):
    return [x[8:12], x[0:3], x[5:6]]


def same(x):
    return [x[2:6], x[2:6], x[2:6]]


def overlapping(x):
    return [x[0:6], x[3:9], x[6:12], x[0:2]]


def overlapping_later(x):
    return [x[0:4], x[4:8], x[2:6], x[0:12]]


def one(x):
    return [x[3:7]]


def whole_first(x):
    return [x * 1, x[0:4], x[6:9], x[9:12]]


def whole_between(x):
    return [x[0:4], x * 1, x[5:9], x[1:3]]


def whole_last(x):
    return [x[0:4], x[6:9], x * 1]


def with_steps(x):
    return [x[0:4], x[5::2], x[6:8], x[1:2]]


def from_the_end(x):
    return [x[-4:], x[:-8], x[4:-5], x[100:], x[-100:2]]


def unbound(x):
    return list(x.unbind(0))


def chunks_of_columns(x):
    return [c[:, :1] for c in x.reshape(3, 4).chunk(2, 1)]


def views_of_slices(x):
    return [x[0:4].reshape(2, 2).t(), x[4:8], x[8:12].flip(0)]


CASES = [
    disjoint, backwards, same, overlapping, overlapping_later, one, whole_first, whole_between,
    whole_last, with_steps, from_the_end, unbound, chunks_of_columns, views_of_slices,
]  # fmt: skip


def cotangents(like, seed):
    """Numbers, and zeros of both signs."""
    rng = np.random.default_rng(seed)
    out = []
    for t in like:
        values = rng.standard_normal(tuple(t.shape))
        signs = rng.integers(0, 3, values.shape)
        values = np.where(signs == 0, values, np.where(signs == 1, -0.0, 0.0))
        out.append(lt.tensor(values).to(t.dtype))
    return out


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_bits(f, dtype):
    dtype = getattr(lt, dtype)
    traced = lt.trace(f)
    for seed in range(6):
        x = lt.arange(N, dtype=lt.float32).to(dtype).requires_grad_()
        dys = cotangents(f(x), seed)
        (want,) = lt.autograd.grad(f(x), x, dys, create_graph=True)
        (got,) = lt.autograd.grad(f(x), x, dys)
        (compiled,) = lt.autograd.grad(traced(x), x, dys)
        for g in (got, compiled):
            assert bytes_of(g) == bytes_of(want)
        # A gradient that is there already, and a leaf that is not the one sliced.
        y = x.detach().requires_grad_()
        for _ in range(2):
            lt.autograd.backward(f(y * 1), dys)
        wanted = lt.zeros_like(x) if want is None else want.detach()
        assert bytes_of(y.grad) == bytes_of(wanted * 1 + wanted)


def bytes_of(t):
    return t.detach().to(lt.float64).numpy().tobytes()


def test_what_was_given_is_not_written_to():
    """The sum of two gradients of one tensor may be the only one that is not anybody else's."""
    x = lt.ones(6).requires_grad_()
    dy = lt.full([6], 2.0)
    a = x * 1
    seen = []
    a.register_hook(lambda g: seen.append(g))
    total = (a * 1, a[0:3], a[3:6])
    lt.autograd.backward(total, (dy, dy[0:3], dy[3:6]))
    assert dy.tolist() == [2.0] * 6 and seen[0].tolist() == [4.0] * 6
    lt.autograd.backward((x[0:3], x[3:6], x * 1), (dy[0:3], dy[3:6], dy))
    assert x.grad.tolist() == [8.0] * 6 and dy.tolist() == [2.0] * 6


def test_transposed_weights_collect_in_place():
    """Gradients by a weight that is read transposed several times have the bits of new sums."""
    w = lt.tensor(np.float32(np.random.default_rng(0).standard_normal((5, 3)))).requires_grad_()
    xs = [
        lt.tensor(np.float32(np.random.default_rng(k).standard_normal((4, 3)))) for k in (1, 2, 3)
    ]
    ys = [x @ w.t() for x in xs]
    (want,) = lt.autograd.grad([y.sum() for y in ys], w, create_graph=True)
    ys = [x @ w.t() for x in xs]
    (got,) = lt.autograd.grad([y.sum() for y in ys], w)
    assert bytes_of(want) == bytes_of(got) and got.is_contiguous()


def test_a_long_row_of_slices_takes_no_time_of_the_whole():
    """What backward writes grows with the slices, not with slices times the whole."""

    def written(n):
        x = lt.ones(n, 256).requires_grad_()
        y = sum((row * 2).sum() for row in x.unbind(0))
        with lt.profiler.profile() as p:
            y.backward()
        return sum(e.bytes_written for e in p.events() if e.name in ("add", "full", "slice_put"))

    assert written(64) < 3 * written(32)
