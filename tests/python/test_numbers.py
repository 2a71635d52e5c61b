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
    "arange": lambda: lt.arange(0, 300, 100, dtype=lt.int8),
    "randint": lambda: lt.randint(0, 257, (2,), dtype=lt.uint8),
    "add": lambda: small() + 300,
    "a scalar first": lambda: -1 - small(),
    "in place": lambda: small().add_(256),
    "maximum": lambda: lt.maximum(small(), 300),
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


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
def test_the_ends_of_a_dtype_are_in_it(dtype):
    ends = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    assert lt.tensor(ends, dtype=dtype).tolist() == ends
    for end in ends:
        assert lt.full((1,), end, dtype=dtype).tolist() == [end]
        assert lt.full((1,), float(end), dtype=dtype).tolist() == [end]
        assert lt.zeros(1, dtype=dtype).add_(end).tolist() == [end]
    assert lt.full((1,), 2.75, dtype=dtype).tolist() == [2]


@pytest.mark.parametrize("number", [-(2**40), -257, -1, 0, 44, 255, 256, 300, 2**40, 44.5])
def test_comparisons_have_an_answer_for_every_number(number):
    comparisons = {
        "eq": lambda x: x == number,
        "ne": lambda x: x != number,
        "lt": lambda x: x < number,
        "le": lambda x: x <= number,
        "gt": lambda x: x > number,
        "ge": lambda x: x >= number,
    }
    for name, compare in comparisons.items():
        want = [getattr(value, f"__{name}__")(number) for value in BYTES]
        if isinstance(number, float):
            want = [getattr(float(value), f"__{name}__")(number) for value in BYTES]
        assert compare(small()).tolist() == want, name
        assert lt.trace(compare)(small()).tolist() == want, name
        assert lt.script(compare)(small()).tolist() == want, name


def test_a_size_joins_in_without_being_fixed():
    @lt.trace
    def last(x):
        return x == x.shape[0] - 1

    for n in (3, 300):
        x = lt.arange(0, n) % 256
        assert last(x.to(lt.uint8)).tolist() == (x == n - 1).tolist()
    assert last.counts["traces"] == 1


def test_a_complex_value_does_not_lose_its_imaginary_part():
    x = lt.zeros(3)
    writes = {
        "item": lambda: x.__setitem__(0, 1j),
        "slice": lambda: x.__setitem__(slice(1, 3), lt.tensor([1j, 2.0])),
        "items": lambda: x.__setitem__(lt.tensor([0, 1]), 1j),
        "mask": lambda: x.__setitem__(x == 0, 1j),
        "copy_": lambda: x.copy_(lt.tensor([1j, 2.0, 3.0])),
        "fill_": lambda: x.fill_(1j),
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
    x = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0]])
    for p in (0, 0.5, 1, 2, 3, np.inf, -np.inf):
        want = np.linalg.norm(x, ord=p, axis=1)
        assert np.allclose(lt.tensor(x).norm(p, dim=1).numpy(), want), p
    assert lt.tensor(x).norm("fro").item() == 5.0
    assert lt.tensor([3, 4]).norm().item() == 5.0
    for p in (1, 2, 3, "fro", float("inf")):
        for wrap in (lambda f: f, lt.trace):
            gradient = wrap(lambda t, p=p: lt.autograd.grad(t.norm(p), [t])[0])
            nothing = gradient(lt.zeros(3, requires_grad=True))
            assert nothing.tolist() == [0.0, 0.0, 0.0], p
    t = lt.tensor(x, requires_grad=True)
    t.norm(dim=1).sum().backward()
    assert np.allclose(t.grad.numpy(), [[0.6, -0.8, 0.0], [0.0, 0.0, 0.0]])
