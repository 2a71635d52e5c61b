"""What is fused into a product works where the product lies."""

import numpy as np
import pytest

import lathe as lt
from lathe.nn import functional as F

SIDE = 512
BYTES = SIDE * SIDE * 4


class Ended(lt.nn.Module):
    """A product of two matrices and what `end` makes of it."""

    def __init__(self, end):
        super().__init__()
        self.end = end

    def forward(self, a, b):
        return self.end(a @ b)


def program(end):
    """It, traced, with operands and what is to come."""
    function = lt.trace(Ended(end))
    a, b = lt.randn(SIDE, SIDE), lt.randn(SIDE, SIDE)
    return function, (a, b), end(a @ b)


ENDS = {
    "a result": F.relu,
    "read by what follows": lambda y: F.relu(y).sum(1),
    "read twice by one kernel": lambda y: y * lt.sigmoid(y),
    "read by a product": lambda y: F.relu(y) @ y.new_ones(SIDE, 1),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_product_has_no_memory_of_its_own(end):
    function, inputs, expected = program(end)
    for _ in range(3):
        found = function(*inputs)
        assert np.array_equal(found.numpy(), expected.numpy())
    frozen = lt.freeze(Ended(end), *inputs)
    assert np.array_equal(frozen(*inputs).numpy(), expected.numpy())
    # The rest is what products pack, less than two matrices.
    assert frozen.peak_bytes((SIDE, SIDE), (SIDE, SIDE)) < 3 * BYTES


def test_results_of_calls_stay_apart():
    function, inputs, expected = program(F.relu)
    first = function(*inputs)
    second = function(inputs[0] * 2, inputs[1])
    assert np.array_equal(first.numpy(), expected.numpy())
    assert np.array_equal(second.numpy(), 2 * expected.numpy())


def test_another_dtype_has_another_place():
    function, inputs, expected = program(lambda y: F.relu(y).double())
    assert np.array_equal(function(*inputs).numpy(), expected.numpy())
    assert np.array_equal(function(*inputs).numpy(), expected.numpy())


def test_several_results_keep_the_product_apart_from_all_but_one():
    function, inputs, expected = program(lambda y: (F.relu(y), y + 1, y * 2))
    for _ in range(2):
        for found, wanted in zip(function(*inputs), expected):
            assert np.array_equal(found.numpy(), wanted.numpy())


PLANES = {  # sides of the plane; two of them are cut into blocks of columns
    "small": (7, 7), "odd": (9, 13), "cut": (45, 45), "cut unevenly": (67, 31),
}  # fmt: skip
FOLLOWS = {
    "bias": lambda y, c, z: y + c,
    "bias and limit": lambda y, c, z: F.relu6(y + c),
    "affine and residual": lambda y, c, z: F.relu(y * c + c + z),
    "residual": lambda y, c, z: F.relu(y + z),
    "of other dtypes": lambda y, c, z: ((y + c).double() * z).half(),
}


@pytest.mark.parametrize("engine", ["simd", "llvm"])
@pytest.mark.parametrize("follow", FOLLOWS.values(), ids=FOLLOWS)
@pytest.mark.parametrize("plane", PLANES.values(), ids=PLANES)
def test_lines_of_a_convolution_are_followed_together(plane, follow, engine, flag):
    """Some rows of a batch, some columns of each: a kernel takes them at once, or line by line."""
    for size in (1, 3):
        x, w = lt.randn(2, 12, *plane), lt.randn(33, 12, size, size)
        c, z = lt.randn(33, 1, 1), lt.randn(2, 33, *plane)

        def convolved(x, c, z, w=w, padding=size // 2):
            return follow(F.conv2d(x, w, padding=padding), c, z)

        expected = convolved(x, c, z)
        flag("engine", engine)
        flag("threads", "3")
        found = lt.trace(convolved)(x, c, z)
        assert found.numpy().tobytes() == expected.numpy().tobytes()
