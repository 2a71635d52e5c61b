"""x[...] and x[...] = v with several index tensors, masks, slices and numbers, against NumPy."""

import random

import numpy as np
import pytest

import lathe as lt

SHAPE = (4, 3, 5, 2)


def items(rng, kinds):
    """An index for SHAPE: (for NumPy, for Lathe), of these kinds from the first axis on."""
    axis, index = 0, []
    for kind in kinds:
        n = SHAPE[axis] if axis < len(SHAPE) else 1
        if kind == "slice":
            index.append(slice(rng.randrange(n), n, rng.choice([1, 2])))
        elif kind == "list":
            index.append(np.array([rng.randrange(-n, n) for _ in range(3)]))
        elif kind == "column":
            index.append(np.array([[rng.randrange(-n, n)] for _ in range(2)]))
        elif kind == "mask":
            index.append(np.array([rng.random() < 0.5 for _ in range(n)]))
        elif kind == "masks":
            shape = SHAPE[axis : axis + 2]
            index.append(np.random.default_rng(rng.randrange(99)).random(shape) < 0.5)
            axis += 1
        elif kind == "none":
            index.append(None)
            axis -= 1
        elif kind == "dots":
            index.append(Ellipsis)
            break
        axis += 1
    return tuple(index)


CASES = [
    ["list"], ["list", "list"], ["list", "column"], ["slice", "list"], ["list", "slice", "list"],
    ["slice", "list", "list"], ["slice", "list", "slice", "column"],
    ["none", "list", "slice", "list"],
    ["list", "none", "list"], ["mask"], ["slice", "mask"], ["masks"], ["slice", "masks"],
    ["mask", "slice", "slice"], ["masks", "slice", "list"], ["column", "list", "list", "list"],
    ["list", "dots"], ["slice", "none", "column", "list", "dots"],
]  # fmt: skip


def lathe_index(index):
    return tuple(lt.tensor(i) if isinstance(i, np.ndarray) else i for i in index)


def indexes():
    rng = random.Random(3)
    return [items(rng, kinds) for kinds in CASES for _ in range(3)]


@pytest.mark.parametrize("index", indexes(), ids=lambda i: " ".join(type(k).__name__ for k in i))
def test_reads_and_writes_are_numpys(index):
    x = np.random.default_rng(0).standard_normal(SHAPE)
    try:
        want = x[index]
    except IndexError:  # masks and lists of lengths that do not broadcast
        with pytest.raises((lt.IndexError, lt.ShapeError)):
            lt.tensor(x)[lathe_index(index)]
        return
    got = lt.tensor(x)[lathe_index(index)]
    np.testing.assert_array_equal(got.numpy(), want)
    value = np.arange(want.size, dtype=float).reshape(want.shape)
    for v in (value, value[..., :1] if want.ndim else value, 2.5):
        a, b = x.copy(), lt.tensor(x)
        a[index] = v
        b[lathe_index(index)] = lt.tensor(v) if isinstance(v, np.ndarray) else v
        np.testing.assert_array_equal(b.numpy(), a)


def test_gradients_of_writes():
    x = lt.zeros(4, 3, requires_grad=True)
    v = lt.ones(3, 3, requires_grad=True)
    y = x * 2
    y[lt.tensor([1, 3, 1])] = v * 3
    (y * lt.arange(12.0).reshape(4, 3)).sum().backward()
    assert x.grad.tolist() == [[0, 2, 4], [0, 0, 0], [12, 14, 16], [0, 0, 0]]
    assert v.grad.tolist() == [[0, 0, 0], [27, 30, 33], [9, 12, 15]]  # of two writes the last stays


def test_in_a_trace():
    def write(x, i, j, v):
        y = x.clone()
        y[:, i, j] = v
        return y[i, :, j] + y[i][:, :1, 0]

    args = (
        lt.rand(4, 3, 5), lt.tensor([0, -1, 2]), lt.tensor([4, -5, 1]), lt.rand(4, 3),
    )  # fmt: skip
    np.testing.assert_array_equal(lt.trace(write)(*args).numpy(), write(*args).numpy())


def test_errors_are_about_the_index():
    x, rows, columns = lt.zeros(3, 4), lt.tensor([0, 1]), lt.tensor([0, 1, 2])
    for capture in (lambda f: f, lt.trace):
        with pytest.raises(lt.IndexError, match="index: the index tensors do not broadcast"):
            capture(lambda x: x[rows, columns])(x)
        with pytest.raises(lt.IndexError, match="index: the index tensors do not broadcast"):
            x[rows, columns] = 1
        with pytest.raises(lt.ShapeError, match="index: the value does not fit"):
            x[rows, rows] = lt.ones(3)
