"""Every op against NumPy, on its samples; and what every op has in common."""

import numpy as np
import pytest
from references import REFERENCES
from samples import SAMPLES, arrays, tensors

import lathe as lt

ROWS = {row["name"]: row for row in lt._lathe._definitions()}
COMPARED = [s for s in SAMPLES if s.op in REFERENCES]


def kind(dtype):
    """bool < integer < floating < complex."""
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else int(dtype is not lt.bool)


def as_tuple(value):
    """The results, one after the other: the last of several may be a list."""
    if not isinstance(value, tuple):
        return (value,)
    *first, last = value if value else [()]
    return (*first, *(last if isinstance(last, tuple) else (last,)))


def seeded(function, args, kwargs):
    """The results; random ones are those of the first call after a seed."""
    lt.manual_seed(7)
    return as_tuple(function(*args, **kwargs))


def call(sample, dtype):
    """In this dtype, or in float32 where the op knows no other."""
    args, kwargs = tensors(sample, dtype)
    try:
        return seeded(getattr(lt.ops, sample.op), args, kwargs)
    except lt.DTypeError:
        if dtype == "float32":
            raise
        return call(sample, "float32")


@pytest.mark.parametrize("sample", COMPARED, ids=str)
def test_against_numpy(sample):
    args, kwargs = arrays(sample, "float64")
    expected = as_tuple(REFERENCES[sample.op](*args, **kwargs))
    results = call(sample, "float64")
    assert len(results) == len(expected)
    for got, want in zip(results, expected):
        want = np.asarray(want)
        assert tuple(got.shape) == want.shape
        narrow = got.dtype in (lt.complex64, lt.float32)
        np.testing.assert_allclose(
            got.numpy(), want, rtol=1e-5 if narrow else 1e-9, atol=1e-6 if narrow else 1e-11
        )


@pytest.mark.parametrize("sample", COMPARED, ids=str)
def test_float32_is_near_float64(sample):
    for got, wide in zip(call(sample, "float32"), call(sample, "float64")):
        if not wide.dtype.is_floating_point:
            continue
        np.testing.assert_allclose(got.numpy(), wide.numpy(), rtol=2e-4, atol=2e-5)


PROPERTIES = ("real", "imag")
METHODS = [s for s in SAMPLES if ROWS[s.op]["method"] and s.op not in PROPERTIES]


@pytest.mark.parametrize("sample", METHODS, ids=str)
def test_method_is_the_function(sample):
    args, kwargs = tensors(sample)
    again, _ = tensors(sample)
    first = seeded(getattr(lt.ops, sample.op), args, kwargs)
    second = seeded(getattr(again[0], ROWS[sample.op]["public_name"]), again[1:], kwargs)
    for a, b in zip(first, second):
        assert a.dtype is b.dtype
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("name", sorted(n for n, r in ROWS.items() if r["inplace"] and r["method"]))
def test_inplace_form_writes_the_result(name):
    args, kwargs = tensors(next(s for s in SAMPLES if s.op == name))
    (expected,) = seeded(getattr(lt.ops, name), args, kwargs)
    x = args[0]
    fits = tuple(expected.shape) == tuple(x.shape)
    method = getattr(x, ROWS[name]["public_name"] + "_")
    if not fits:
        with pytest.raises(lt.ShapeError, match="does not fit into the tensor"):
            method(*args[1:], **kwargs)
        return
    if kind(expected.dtype) > kind(x.dtype):
        with pytest.raises(lt.DTypeError, match="does not fit into the dtype"):
            method(*args[1:], **kwargs)
        return
    assert seeded(method, args[1:], kwargs)[0] is x
    np.testing.assert_array_equal(x.numpy(), expected.to(x.dtype).numpy())


def test_every_row_is_a_function_and_documented():
    for name, row in ROWS.items():
        assert f"{row['schema']}\n\n{row['doc']}" in getattr(lt.ops, row["public_name"]).__doc__
        assert row["doc"] != "", name
        public = row["public_name"]
        assert hasattr(lt, public) or not row["function"], public
        assert hasattr(lt.nn.functional, public) or not row["functional"], public
        assert hasattr(lt.Tensor, public) or not row["method"], public


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_named_arguments_are_the_positional_ones(sample):
    args, kwargs = tensors(sample)
    names = [p["name"] for p in ROWS[sample.op]["params"]]
    everything = dict(zip(names, tensors(sample)[0])) | kwargs
    first = seeded(getattr(lt.ops, sample.op), args, kwargs)
    second = seeded(getattr(lt.ops, sample.op), (), everything)
    for a, b in zip(first, second):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


# What needs an order it can name, and what asks for the memory itself.
_OF_MEMORY = """
view view_as strided strided_put strided_over as_strided as_strided_scatter as_strided_copy
view.dtype view_as_complex view_as_complex_put
"""
OF_MEMORY = _OF_MEMORY.split()


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.op not in OF_MEMORY], ids=str)
def test_strided_and_empty_operands(sample):
    """The layout of operands changes nothing."""

    def strided(t):
        if not isinstance(t, lt.Tensor) or t.ndim == 0:
            return t
        wide = lt.stack([t, t], t.ndim)
        return lt.select(wide, t.ndim, 1)

    args, kwargs = tensors(sample)
    plain = seeded(getattr(lt.ops, sample.op), args, kwargs)
    args, kwargs = tensors(sample)
    moved = [[strided(v) for v in a] if isinstance(a, list) else strided(a) for a in args]
    kwargs = {k: strided(v) for k, v in kwargs.items()}
    for a, b in zip(plain, seeded(getattr(lt.ops, sample.op), moved, kwargs)):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("kind", ["rand", "randn", "bernoulli.size"])
def test_random_streams_repeat(kind):
    def draw():
        lt.manual_seed(7)
        more = (0.5,) if kind == "bernoulli.size" else ()
        return [getattr(lt.ops, kind)((3, 5), *more) for _ in range(2)]

    (a, b), (c, d) = draw(), draw()
    assert lt.equal(a, c) and lt.equal(b, d) and not lt.equal(a, b)


def test_random_moments():
    lt.manual_seed(1)
    u, n = lt.rand(100000, dtype=lt.float64), lt.randn(100000, dtype=lt.float64)
    assert abs(u.mean().item() - 0.5) < 0.005 and u.min().item() >= 0 and u.max().item() < 1
    assert abs(n.mean().item()) < 0.02 and abs(n.std().item() - 1) < 0.02
    k = lt.randint(-3, 9, (10000,))
    assert sorted(set(k.tolist())) == list(range(-3, 9))


def test_functions_made_of_ops():
    nan = float("nan")
    a, b = np.array([nan, 1.0, nan, -2.0]), np.array([3.0, nan, nan, 5.0])
    for name in ("fmax", "fmin"):
        got = getattr(lt, name)(lt.tensor(a), lt.tensor(b))
        np.testing.assert_array_equal(got.numpy(), getattr(np, name)(a, b))
    x = lt.arange(24).view(2, 12)
    for dim, size, step in ((1, 5, 3), (1, 1, 5), (-1, 12, 1), (0, 2, 1)):
        windows = np.lib.stride_tricks.sliding_window_view(x.numpy(), size, dim)
        want = np.take(windows, range(0, windows.shape[dim], step), dim)
        got = x.unfold(dim, size, step)
        np.testing.assert_array_equal(got.numpy(), want)
    seen = x.unfold(1, 2, 5)
    x[0, 6] = -1
    assert seen[0].tolist() == [[0, 1], [5, -1], [10, 11]], "a view"
    with pytest.raises(lt.AliasError):
        seen.fill_(0)


def test_drawn_orders():
    lt.manual_seed(3)
    order = lt.randperm(1000)
    assert sorted(order.tolist()) == list(range(1000)) and order.tolist() != list(range(1000))
    assert lt.randperm(0).shape == (0,) and lt.randperm(4, dtype=lt.int32).dtype is lt.int32
    weights = lt.tensor([0.0, 1.0, 3.0, 0.0])
    drawn = weights.multinomial(4000, replacement=True)
    share = lt.bincount(drawn, minlength=4) / 4000
    np.testing.assert_allclose(share.numpy(), [0, 0.25, 0.75, 0], atol=0.03)
    rows = lt.multinomial(lt.ones(50, 6), 6)
    assert all(sorted(row) == list(range(6)) for row in rows.tolist())
    assert {weights.multinomial(2)[0].item() for _ in range(20)} == {1, 2}
    with pytest.raises(lt.ValueError, match="a weight that is negative"):
        lt.multinomial(lt.tensor([1.0, -1.0]), 1)
    with pytest.raises(lt.ValueError, match="more"):
        lt.multinomial(weights, 5)
