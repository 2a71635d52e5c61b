"""What is computed does not depend on how operands lie: transposed, backwards, repeated, written
where they are."""

import numpy as np
import pytest

import lathe as lt

DTYPES = [lt.bool, lt.uint8, lt.bfloat16, lt.float16, lt.int32, lt.float32, lt.int64, lt.complex128]
SHAPES = [(3, 5), (16, 16), (17, 40), (65, 63), (130, 70), (9, 300), (5, 33, 70), (4, 3, 17, 20)]


def numbers(shape, dtype=lt.int64):
    return lt.tensor(np.random.default_rng(0).integers(0, 100, shape)).to(dtype)


def values(x):
    return x.to(lt.float32).numpy() if x.dtype in (lt.bfloat16, lt.float16) else x.numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_copies(dtype, shape):
    x = numbers(shape, dtype)
    plain = values(x)
    for axis in range(len(shape)):
        turned = x.transpose(0, axis)
        np.testing.assert_array_equal(values(turned.clone()), plain.swapaxes(0, axis))
        for other in range(len(shape)):
            np.testing.assert_array_equal(
                values(turned.flip(other)), np.flip(plain.swapaxes(0, axis), other)
            )


REDUCTIONS = [(f, d) for f in (lt.sum, lt.amax, lt.prod, lt.all) for d in (lt.bool, lt.int64)]
REDUCTIONS += [(f, d) for f in (lt.sum, lt.mean, lt.argmax) for d in (lt.float32, lt.bfloat16)]


@pytest.mark.parametrize(("f", "dtype"), [*REDUCTIONS, (lt.argmax, lt.int64)])
@pytest.mark.parametrize("shape", [(40, 130), (130, 70), (20, 30, 40)])
def test_reductions(f, dtype, shape):
    x = numbers(shape, dtype) - 40 if dtype != lt.bool else numbers(shape) > 50
    x = x / 7 if dtype.is_floating_point else x
    order = list(range(len(shape)))[::-1]
    turned = x.permute(order)
    straight = turned.contiguous()
    np.testing.assert_array_equal(values(f(turned)), values(f(straight)))
    for axis in range(len(shape)):
        np.testing.assert_array_equal(values(f(turned, axis)), values(f(straight, axis)))
    if f in (lt.sum, lt.amax) and len(shape) == 3:
        np.testing.assert_array_equal(values(f(turned, (0, 2))), values(f(straight, (0, 2))))


@pytest.mark.parametrize("shape", [(70, 130), (20, 30, 40)])
def test_operands_that_are_repeated(shape):
    x, y = (lt.randn(*shape[::-1]).permute(list(range(len(shape)))[::-1]) for _ in range(2))
    for part in (y[0], y[:1], y[..., :1], y[0, ..., :1], y.flip(0), y[:, ::1]):
        want = x.contiguous() + part.contiguous()
        np.testing.assert_array_equal((x + part).numpy(), want.numpy())
        out = x.clone().contiguous().mT.contiguous().mT  # its columns lie together
        out.add_(part)
        np.testing.assert_array_equal(out.numpy(), want.numpy())


class TestInPlace:
    def test_it_is_where_it_was(self):
        x = lt.randn(100, 90)
        for view in (x, x.t(), x[::2], x[:, 5:], x.t()[3:, ::3]):
            want, at = (view * 2 + 1).numpy(), view.data_ptr()
            view.mul_(2).add_(1)
            assert view.data_ptr() == at
            np.testing.assert_array_equal(view.numpy(), want)

    def test_operands_that_overlap(self):
        x = lt.randn(90, 90)
        want = (x + x.t()).numpy()
        x.add_(x.t())
        np.testing.assert_array_equal(x.numpy(), want)
        y = lt.randn(5000)
        want = (y[1:] * y[:-1]).numpy()
        y[1:].mul_(y[:-1])
        np.testing.assert_array_equal(y[1:].numpy(), want)

    def test_what_fails_changes_nothing(self):
        x = lt.arange(5000)
        divisor = lt.ones(5000, dtype=lt.int64)
        divisor[4000] = 0
        with pytest.raises(lt.ValueError, match="floor_div"):
            x.floor_divide_(divisor)
        np.testing.assert_array_equal(x.numpy(), np.arange(5000))

    def test_a_derivative_that_reads_what_was_written_over(self):
        w = lt.randn(5000, requires_grad=True)
        y = w.exp()
        with lt.no_grad():
            y.mul_(2)
        with pytest.raises(lt.AutogradError):
            y.sum().backward()

    def test_a_view_with_a_history(self):
        w = lt.randn(80, 90, requires_grad=True)
        y = w * 1
        y[:40].mul_(3)
        y.sum().backward()
        np.testing.assert_array_equal(w.grad.numpy()[:40], 3)
        np.testing.assert_array_equal(w.grad.numpy()[40:], 1)

    def test_another_dtype_and_more_axes_are_refused(self):
        x = lt.zeros(5000, dtype=lt.int64)
        with pytest.raises(lt.DTypeError, match="does not fit"):
            x.add_(0.5)
        with pytest.raises(lt.ShapeError, match="does not fit"):
            x.add_(lt.zeros(2, 5000, dtype=lt.int64))
        with pytest.raises(lt.AliasError, match="overlaps itself"):
            lt.zeros(1).expand(5000).add_(1)

    def test_leaves(self):
        w = lt.randn(5000, requires_grad=True)
        with pytest.raises(lt.AutogradError, match="leaf"):
            w.add_(1)
        with lt.no_grad():
            w.add_(1)


@pytest.fixture(params=[1, 3])
def threads(request):
    before = lt.get_num_threads()
    lt.set_num_threads(request.param)
    yield
    lt.set_num_threads(before)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("shape", [(9, 300), (300, 9), (4, 3, 17, 20)])
def test_places_along_any_axis(shape):
    x = numbers(shape).float()
    for axis, size in enumerate(shape):
        where = lt.tensor(np.random.default_rng(1).integers(0, size, 2 * size))
        want = np.take(x.numpy(), where.numpy(), axis)
        np.testing.assert_array_equal(x.index_select(axis, where).numpy(), want)
        turned = x.transpose(0, -1).contiguous().transpose(0, -1)
        np.testing.assert_array_equal(turned.index_select(axis, where).numpy(), want)


def test_places_that_follow_one_another_are_taken_as_the_others_are():
    """Runs of every length at every end; slices that lie side by side, and those that do not."""
    rng = np.random.default_rng(8)
    for dtype in ("uint8", "float16", "float32", "float64", "complex128"):
        for shape in [(70, 50), (3, 70, 5), (70,), (4, 70, 2, 9)]:
            x = rng.integers(0, 200, shape).astype(dtype)
            axis = shape.index(70)
            for _ in range(6):
                starts = rng.integers(0, 70, rng.integers(1, 7))
                runs = [np.arange(a, min(70, a + rng.choice([1, 2, 15, 16, 40]))) for a in starts]
                where = np.concatenate(runs)
                got = lt.tensor(x).index_select(axis, lt.tensor(where))
                np.testing.assert_array_equal(got.numpy(), x.take(where, axis))
                turned = lt.tensor(np.ascontiguousarray(x.T)).permute(*range(x.ndim)[::-1])
                got = turned.index_select(axis, lt.tensor(where))
                np.testing.assert_array_equal(got.numpy(), x.take(where, axis))
