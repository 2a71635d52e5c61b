"""complex128, uint16, uint32 and uint64: as full as the other dtypes."""

import math

import numpy as np
import pytest

import lathe as lt

UNSIGNED = ["uint16", "uint32", "uint64"]
WIDE = [*UNSIGNED, "complex128"]


def sample(name, shape=(3, 4), seed=0):
    rng = np.random.default_rng(seed)
    if name == "complex128":
        return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return rng.integers(0, np.iinfo(name).max, shape, dtype=name, endpoint=True)


def check(ours, theirs, rtol=1e-14):
    theirs = np.asarray(theirs)
    assert ours.dtype.name == theirs.dtype.name
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=rtol if theirs.dtype.kind in "fc" else 0)


@pytest.mark.parametrize("name", WIDE)
def test_numpy_and_dlpack_both_ways(name):
    array = sample(name)
    x = lt.from_numpy(array)
    assert x.dtype is getattr(lt, name) and x.tolist() == array.tolist()
    assert np.shares_memory(x.numpy(), array)
    assert np.from_dlpack(x).dtype == array.dtype
    assert lt.equal(lt.from_dlpack(array), x) and lt.equal(lt.tensor(array.T), x.T)
    assert x[1, 2].item() == array[1, 2] and type(x[1, 2].item()) is type(array[1, 2].item())
    assert lt.tensor(array.tolist(), dtype=x.dtype).tolist() == array.tolist()


@pytest.mark.parametrize("name", WIDE)
def test_moving_elements(name):
    array = sample(name)
    x, index = lt.tensor(array), lt.tensor([2, 0, 2])
    check(x.T.contiguous(), array.T)
    check(x[:, ::2] + x[:, 1::2], array[:, ::2] + array[:, 1::2])
    check(x[index], array[[2, 0, 2]])
    check(lt.cat([x, x], 1), np.concatenate([array, array], 1))
    check(lt.gather(x, 1, lt.zeros(3, 2, dtype=lt.int64)), array[:, [0, 0]])
    check(
        lt.where(lt.tensor([True, False, True, False]), x, x.flip(0) if hasattr(x, "flip") else x),
        np.where([True, False, True, False], array, array[::-1] if hasattr(x, "flip") else array),
    )
    out = x.clone()
    out[index] = x[0]
    expected = array.copy()
    expected[[2, 0, 2]] = array[0]
    check(out, expected)
    check(lt.zeros(3, 4, dtype=x.dtype).index_add(0, index, x), _index_add(array))
    big = sample(name, (300, 70))
    check(lt.tensor(big).permute(1, 0).clone(), big.T)


def _index_add(array):
    out = np.zeros_like(array)
    np.add.at(out, [2, 0, 2], array)
    return out


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_arithmetic_wraps(name):
    array, other = sample(name), sample(name, seed=1) | 1
    x, y = lt.tensor(array), lt.tensor(other)
    for f in (
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a // b,
        lambda a, b: a % b, lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b,
        lambda a, b: a < b, lambda a, b: a >= b, lambda a, b: a == b,
    ):  # fmt: skip
        check(f(x, y), f(array, other))
    check(-x, -array)
    check(~x, ~array)
    check(lt.maximum(x, y), np.maximum(array, other))
    check(x.amax(1), array.max(1))
    check(x.amin(), array.min())
    assert x.argmax().item() == array.argmax()
    check(lt.sort(x.reshape(-1)).values, np.sort(array, None))
    check(x.to(lt.float64), array.astype("float64"))
    check(x.to(lt.float32), array.astype("float32"))
    assert x.sum().dtype is lt.int64 and x.cumsum(1).dtype is lt.int64
    check(x @ y.T, array @ other.T)


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_ends(name):
    most = np.iinfo(name).max
    x = lt.tensor([0, 1, most], dtype=getattr(lt, name))
    assert x.tolist() == [0, 1, most] and int(x[2]) == most and bool(x[1])
    numbers = ", ".join(f"{n:>{len(str(most))}}" for n in (0, 1, most))
    assert "".join(repr(x).split()) == f"tensor([{numbers}],dtype=lathe.{name})".replace(" ", "")
    assert (x > 0).tolist() == [False, True, True] and (x == 1).tolist() == [False, True, False]
    assert (x + 1).tolist() == [1, 2, 0] and (x - 1).tolist() == [most, 0, most - 1]
    assert lt.tensor([-1, 2]).to(x.dtype).tolist() == [most, 2]
    assert lt.tensor([-1.5, 1e30, math.nan, 7.9]).to(x.dtype).tolist() == [0, most, 0, 7]
    assert lt.iinfo(x.dtype).max == most and lt.iinfo(x.dtype).min == 0
    for wrong in (
        lambda: x + -1,
        lambda: lt.tensor(-1, dtype=x.dtype),
        lambda: lt.tensor(most + 1, dtype=x.dtype),
    ):
        with pytest.raises(lt.OverflowError):
            wrong()
    signed = lt.tensor([-1, -1, -1])
    if name == "uint64":
        with pytest.raises(lt.DTypeError):
            x + signed
    else:
        assert (x + signed).tolist() == [-1, 0, most - 1]
        assert (x > signed).tolist() == [True, True, True]


def test_complex_functions_of_doubles():
    a, b = sample("complex128"), sample("complex128", seed=1)
    x, y = lt.tensor(a), lt.tensor(b)
    check(x + y, a + b)
    check(x * y, a * b)
    check(x - 2.5, a - 2.5)
    check(x * (0.1 + 0.2j), a * (0.1 + 0.2j))
    check(lt.abs(x), np.abs(a))
    check(lt.exp(x), np.exp(a))
    check(x.real, a.real)
    check(lt.conj(x).imag, -a.imag)
    check(x.sum(), a.sum())
    check(x.cumsum(0), a.cumsum(0))
    check(x @ y.T, a @ b.T, 1e-13)
    check(lt.complex(x.real, x.imag), a)
    assert (x == x).all().item() and not lt.isnan(x).any().item()
    assert complex(x[0, 0]) == a[0, 0] and repr(x[0, 0]).endswith("dtype=lathe.complex128)")
    assert lt.abs(lt.tensor(3e300 + 4e300j, dtype=lt.complex128)).item() == 5e300


def test_the_width_of_complex_numbers():
    """A number counts less than a tensor."""
    assert (lt.ones(2) * 1j).dtype is lt.complex64 and (lt.ones(()) * 1j).dtype is lt.complex64
    assert (lt.ones(2, dtype=lt.int32) + 1j).dtype is lt.complex64
    assert (lt.ones(2, dtype=lt.float64) * 1j).dtype is lt.complex128
    third = 1 / 3
    assert (lt.ones(1, dtype=lt.float64) * complex(third, third)).item() == complex(third, third)
    assert lt.mul(lt.ones(1, dtype=lt.complex128), third * 1j).item() == third * 1j
    assert (lt.ones(2) + lt.tensor(1j, dtype=lt.complex128)).dtype is lt.complex64
    assert lt.tensor(1j).dtype is lt.complex64 and lt.full((2,), 1j).tolist() == [1j, 1j]
    assert lt.float64.to_complex() is lt.complex128 and lt.complex128.to_real() is lt.float64
    try:
        lt.set_default_dtype(lt.float64)
        assert lt.tensor(1j).dtype is lt.complex128 and repr(lt.tensor(1j)) == "tensor(0.+1.j)"
        assert (lt.ones(2, dtype=lt.int32) + 1j).dtype is lt.complex128
    finally:
        lt.set_default_dtype(lt.float32)


@pytest.mark.parametrize(
    "f",
    [
        lambda z: lt.abs(z * z),
        lambda z: (z * lt.conj(z)).real,
        lambda z: lt.exp(z * (0.5 - 1j)).imag,
        lambda z: lt.abs(lt.cumsum(z, 0)),
        lambda z: (z @ z.T).real,
        lambda z: lt.square(z).real + z.imag * 3,
    ],
)
def test_gradients_of_complex128(f):
    """The cotangent is dL/dRe + i dL/dIm."""
    a = sample("complex128", (3, 3))
    z = lt.tensor(a, requires_grad=True)
    f(z).sum().backward()
    assert z.grad.dtype is lt.complex128
    step = 1e-6
    for at in np.ndindex(a.shape):
        slope = 0
        for unit in (1, 1j):
            d = np.zeros_like(a)
            d[at] = unit * step
            up, down = (f(lt.tensor(v)).sum().item() for v in (a + d, a - d))
            slope += unit * (up - down) / (2 * step)
        assert abs(z.grad[at].item() - slope) < 1e-7 * (1 + abs(slope))


@pytest.mark.parametrize("name", WIDE)
def test_a_trace_gives_the_same_bytes(name):
    x = lt.tensor(sample(name, (33, 17)))

    def f(a):
        b = (a * a + a) * 3
        return b, b.sum(0), a[:, 3:9] - 1 if name == "complex128" else a[:, 3:9] | 1

    for ours, traced in zip(f(x), lt.trace(f)(x)):
        assert ours.dtype is traced.dtype
        assert ours.numpy().tobytes() == traced.numpy().tobytes()


@pytest.mark.parametrize("name", WIDE)
def test_files_keep_them(name, tmp_path):
    x = lt.tensor(sample(name))
    lt.save({"x": x}, tmp_path / "state.safetensors")
    assert lt.equal(lt.load(tmp_path / "state.safetensors")["x"], x)
    few = x[0]
    program = tmp_path / "program.lathe"
    lt.save(lambda a: a + few, program, inputs=[few])
    assert lt.equal(lt.load(program)(few), few + few)


def test_random_and_creation():
    assert lt.arange(5, dtype=lt.uint16).tolist() == [0, 1, 2, 3, 4]
    assert lt.zeros(2, dtype=lt.complex128).dtype is lt.complex128
    x = lt.randint(0, 60000, (1000,), dtype=lt.uint16)
    assert x.dtype is lt.uint16 and 55000 < x.max().item() < 60000
    assert lt.eye(2, dtype=lt.complex128).tolist() == [[1, 0], [0, 1]]
    assert lt.full((2,), 7, dtype=lt.uint64).tolist() == [7, 7]


def test_a_complex_number_keeps_its_digits_where_a_dtype_is_asked_for():
    z = 1e-300 - 0.1j
    x = lt.zeros(1, dtype=lt.complex128)
    made = [lt.full((1,), z, dtype=lt.complex128), lt.full_like(x, z), x.new_full((1,), z)]
    made += [lt.full_like(lt.zeros(1), z, dtype=lt.complex128), x + z]
    assert [t.tolist() for t in made] == [[z]] * 5
    assert lt.full((1,), z).dtype is lt.full((1,), z, dtype=lt.complex64).dtype is lt.complex64
