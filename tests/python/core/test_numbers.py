"""Plain numbers among tensors: out of range is an error, or has a right answer; never wrapped."""

import numpy as np
import pytest

import lathe as lt

BYTES = [0, 1, 44, 200, 255]


def small():
    return lt.tensor(BYTES, dtype=lt.uint8)


OUTSIDE = {
    "tensor": lambda: lt.tensor([1, 300], dtype=lt.uint8),
    "tensor of floats": lambda: lt.tensor([1.0, -1.0], dtype=lt.uint8),
    "full": lambda: lt.full((2,), -129, dtype=lt.int8),
    "full, NaN": lambda: lt.full((2,), float("nan"), dtype=lt.int64),
    "full, 2^63": lambda: lt.full((2,), 2.0**63, dtype=lt.int64),
    "full_like": lambda: lt.full_like(small(), 256),
    "scatter": lambda: lt.scatter(small(), 0, lt.tensor([0]), 300),
    "scatter_": lambda: small().scatter_(0, lt.tensor([0]), -1),
    "arange of floats": lambda: lt.arange(0.0, 1000.0, 500.0, dtype=lt.int8),
    "arange": lambda: lt.arange(0, 300, 100, dtype=lt.int8),
    "randint": lambda: lt.randint(0, 257, (2,), dtype=lt.uint8),
    "add": lambda: small() + 300,
    "a scalar first": lambda: -1 - small(),
    "in place": lambda: small().add_(256),
    "remainder": lambda: lt.remainder(small(), 300),
    "clamp": lambda: small().clamp(0, 300),
    "where": lambda: lt.where(small() > 1, small(), 300),
    "masked_fill": lambda: small().masked_fill(small() > 1, -1),
    "floor_divide": lambda: small() // 256,
    "fill_": lambda: small().fill_(300),
    "item": lambda: small().__setitem__(0, 300),
    "items": lambda: small().__setitem__(lt.tensor([0, 1]), -1),
    "mask": lambda: small().__setitem__(small() > 1, 300),
}


@pytest.mark.parametrize("program", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_a_number_outside_of_the_dtype_is_an_error(program):
    with pytest.raises(lt.OverflowError, match="not in the range of u?int"):
        program()
    with pytest.raises(lt.OverflowError, match="not in the range of u?int"):
        lt.trace(program)()


def test_numbers_of_numpy_are_numbers():
    for number in (np.int64(300), np.float64(-1.0), [np.int16(300)]):
        with pytest.raises(lt.OverflowError, match="not in the range of uint8"):
            lt.tensor(number, dtype=lt.uint8)
    assert lt.tensor(np.int64(44), dtype=lt.uint8).tolist() == 44
    assert lt.tensor(np.float64(2.5)).dtype is lt.float64
    assert lt.tensor([np.complex64(1 + 2j)]).tolist() == [1 + 2j]
    assert (lt.tensor([1.0]) + np.complex64(1j)).tolist() == [1 + 1j]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
def test_the_ends_of_a_dtype_are_in_it(dtype):
    ends = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    assert lt.tensor(ends, dtype=dtype).tolist() == ends
    for end in ends:
        assert lt.full((1,), end, dtype=dtype).tolist() == [end]
        assert lt.full((1,), float(end), dtype=dtype).tolist() == [end]
        assert lt.zeros(1, dtype=dtype).add_(end).tolist() == [end]
    assert lt.full((1,), 2.75, dtype=dtype).tolist() == [2]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("number", [-(2**40), -257, -1, 0, 44, 255, 256, 300, 2**40, 44.5])
def test_comparisons_have_an_answer_for_every_number(number, dtype):
    comparisons = {
        "eq": lambda x: x == number,
        "ne": lambda x: x != number,
        "lt": lambda x: x < number,
        "le": lambda x: x <= number,
        "gt": lambda x: x > number,
        "ge": lambda x: x >= number,
    }
    values = [v for v in (-128, -1, 0, 1, 44, 100) if v >= 0 or dtype != "uint8"] * 500
    x = lt.tensor(values, dtype=dtype)
    point = lt.tensor(number)
    for name, compare in comparisons.items():
        of = getattr(type(number), f"__{name}__")
        want = [of(type(number)(value), number) for value in values]
        assert compare(x).tolist() == want, name
        assert lt.trace(compare)(x).tolist() == want, name
        assert lt.script(compare)(x).tolist() == want, name
        assert getattr(x, name)(point).tolist() == want, name
        assert compare(x[1]).item() == want[1], name


def test_a_script_compares_the_numbers_it_computes():
    @lt.script
    def equal(x, t):
        return x == int(t), int(t) in x

    bytes_ = lt.tensor([44], dtype=lt.uint8)
    for number, want in ((44, True), (300, False), (-212, False)):
        each, any_ = equal(bytes_, lt.tensor(number))
        assert each.tolist() == [want] and bool(any_) is want


@pytest.mark.parametrize("engine", ["auto", "nodes", "simd", "llvm"])
@pytest.mark.parametrize("tracked", [False, True])
def test_a_size_is_checked_and_not_fixed(flag, engine, tracked):
    flag("engine", engine)

    def f(x, w):
        return w * (x + x.shape[0]), x == x.shape[0] - 1

    traced = lt.trace(f)
    w = lt.tensor(1.0, requires_grad=tracked)
    for n in (3, 200, 7):
        x = (lt.arange(0, n) % 100).to(lt.uint8)
        y, last = traced(x, w)
        assert y.tolist() == f(x, w)[0].tolist() and last.tolist() == f(x, w)[1].tolist()
    assert traced.counts["traces"] == 1
    for g in (f, traced):
        with pytest.raises(lt.OverflowError, match="not in the range of uint8"):
            g(lt.zeros(300, dtype=lt.uint8), w)
    assert traced(x, w)[0].tolist() == y.tolist()


def test_a_size_written_is_checked():
    def put(x):
        n = x.shape[0]
        x[0] = n
        return x, lt.full((2,), n, dtype=lt.uint8), lt.arange(n, 0, -1, dtype=lt.uint8)

    traced = lt.trace(put)
    assert [t.tolist()[0] for t in traced(lt.zeros(5, dtype=lt.uint8))] == [5, 5, 5]
    with pytest.raises(lt.OverflowError, match="not in the range of uint8"):
        traced(lt.zeros(300, dtype=lt.uint8))
    count = lt.trace(lambda x: lt.arange(0, x.shape[0], dtype=lt.uint8))
    for n in (3, 0, 256):
        assert count(lt.zeros(n)).tolist() == list(range(n))
    with pytest.raises(lt.OverflowError, match="not in the range of uint8"):
        count(lt.zeros(257))


def test_a_size_that_data_decides_is_refused():
    @lt.script
    def f(x, b, c, d):
        y = x
        if c.any():
            y = x[:3]
        z = b
        if d.any():
            z = b + y.shape[0]
        return z, lt.full((1,), y.shape[0] < 300)

    yes, no = lt.tensor([True]), lt.tensor([False])
    for c, d in ((yes, yes), (no, no), (no, yes)):
        with pytest.raises((lt.ScriptError, lt.TraceError, lt.OverflowError)):
            f(lt.zeros(1000), lt.zeros(4, dtype=lt.uint8), c, d)


def test_an_index_of_32_bits_reaches_into_a_long_axis():
    long = lt.tensor([5], dtype=lt.uint8).expand(2**31 + 8)
    assert long[lt.tensor([5, 7, -1], dtype=lt.int32)].tolist() == [5, 5, 5]


def test_a_complex_value_does_not_lose_its_imaginary_part():
    x = lt.zeros(3)
    writes = {
        "item": lambda: x.__setitem__(0, 1j),
        "slice": lambda: x.__setitem__(slice(1, 3), lt.tensor([1j, 2.0])),
        "items": lambda: x.__setitem__(lt.tensor([0, 1]), 1j),
        "mask": lambda: x.__setitem__(x == 0, 1j),
        "copy_": lambda: x.copy_(lt.tensor([1j, 2.0, 3.0])),
        "fill_": lambda: x.fill_(1j),
        "NumPy's": lambda: x.__setitem__(0, np.complex64(1j)),
    }
    for write in writes.values():
        with pytest.raises(lt.DTypeError, match="complex value is written"):
            write()
    assert x.tolist() == [0.0, 0.0, 0.0]
    x[0] = lt.real(lt.tensor(2 + 1j))
    z = lt.tensor([1j])
    z[0] = 3
    assert x.tolist() == [2.0, 0.0, 0.0] and z.tolist() == [3 + 0j]


def test_norms_and_their_derivatives():
    # Within rounding: NumPy sums in another order, and takes other powers.
    x = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0]])
    for p in (0, 0.5, 1, 2, 3, np.inf, -np.inf):
        want = np.linalg.norm(x, ord=p, axis=1)
        assert np.allclose(lt.tensor(x).norm(p, dim=1).numpy(), want), p
    assert np.allclose(lt.tensor([3.0, 4.0]).norm(-1).item(), 1 / (1 / 3 + 1 / 4))
    assert lt.tensor([float("inf")] * 2).norm(-1).item() == float("inf")
    assert lt.tensor(x).norm("fro").item() == 5.0
    assert lt.tensor([3j, 4]).norm().item() == 5.0
    for dtype in ("int8", "int32", "int64"):
        narrow = lt.tensor([-128, 100], dtype=dtype)
        # A float32 root beside a float64 one.
        assert narrow.norm().item() == pytest.approx(np.hypot(128, 100))
        assert narrow.norm(1).item() == 228 and narrow.norm(float("inf")).item() == 128
    for p in (1, 2, 3, "fro", float("inf")):
        for wrap in (lambda f: f, lt.trace):
            gradient = wrap(lambda t, p=p: lt.autograd.grad(t.norm(p), [t])[0])
            nothing = gradient(lt.zeros(3, requires_grad=True))
            assert nothing.tolist() == [0.0, 0.0, 0.0], p
    t = lt.tensor(x, requires_grad=True)
    t.norm(dim=1).sum().backward()
    assert np.allclose(t.grad.numpy(), [[0.6, -0.8, 0.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_floor_divide_of_floats_is_pythons(dtype):
    tops = [1.0, -128.0, 0.0, -0.0, 5.0, -5.0, 7.5, 1e30, float("inf")]
    for bottom in (0.1, -3.0, 1.0, float("inf"), 3.0):
        x, y = lt.tensor(tops, dtype=dtype), lt.tensor(bottom, dtype=dtype)
        want = [a // y.item() for a in x.tolist()]  # of the numbers as the dtype has them
        want = lt.tensor(want, dtype=dtype)
        for program in (lambda a, b: a // b, lt.trace(lambda a, b: a // b)):
            got = program(x, y)
            assert str(got) == str(want), (bottom, got, want)  # NaN and the sign of zero as well


def test_softmax_of_narrow_integers_does_not_wrap():
    x = [-128, 127, 100]
    small, wide = lt.tensor(x, dtype=lt.int8), lt.tensor(x, dtype=lt.float32)
    for f in (lt.softmax, lt.log_softmax, lt.logsumexp):
        for program in (f, lt.trace(f)):
            assert program(small, 0).tolist() == f(wide, 0).tolist()


def test_std_of_equal_elements_has_no_slope():
    for wrap in (lambda f: f, lt.trace):
        x = lt.tensor([[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]], requires_grad=True)
        gradient = wrap(lambda t: lt.autograd.grad(t.std(1).sum(), [t])[0])
        assert gradient(x).tolist() == [[0.0, 0.0, 0.0], [-0.5, 0.0, 0.5]]
    assert str(lt.ones(1).std()) == "tensor(nan)"


def test_triangles_and_masks_keep_the_dtype():
    mask = lt.tensor([[True, False], [True, True]])
    assert lt.tril(mask).tolist() == [[True, False], [True, True]]
    assert lt.triu(mask).tolist() == [[True, False], [False, True]]
    assert (~lt.tril(lt.ones(2, 2, dtype=lt.bool))).tolist() == [[False, True], [False, False]]
    for dtype in ("bool", "uint8", "int64", "float16", "float32", "complex64"):
        x = lt.ones(2, 2, dtype=dtype)
        for value in (0, 1, True):
            assert lt.tril(x).dtype is lt.triu(x).dtype is x.dtype
            assert x.masked_fill(mask, value).dtype is x.dtype
            same = x.clone().masked_fill_(mask, value).tolist()
            assert x.masked_fill(mask, value).tolist() == same
    assert lt.tensor([0, 0]).masked_fill(mask[1], lt.tensor(3, dtype=lt.int8)).tolist() == [3, 3]
    assert lt.zeros(2).masked_fill(mask[1], lt.tensor(3, dtype=lt.float64)).dtype is lt.float32
    assert lt.zeros(2).masked_fill(np.array([True, False]), 1).tolist() == [1.0, 0.0]
    for method in ("masked_fill", "masked_fill_"):
        with pytest.raises(lt.DTypeError, match="the mask is not of bool"):
            getattr(lt.zeros(2), method)(lt.tensor([1, 0]), 1.0)
        with pytest.raises(lt.DTypeError, match="a kind that the tensor does not hold"):
            getattr(lt.tensor([1, 2]), method)(mask[0], 1.5)
    q = lt.ones(1, 2, 2)
    with pytest.raises(lt.DTypeError, match="neither of bool nor of floats"):
        lt.nn.functional.scaled_dot_product_attention(q, q, q, lt.ones(2, 2, dtype=lt.int64))
