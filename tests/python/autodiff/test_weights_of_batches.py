"""The gradient of a weight that all leading axes share is one sum over them and the rows, so a
batch of sequences gives it the bits that the same rows give as one matrix."""

import numpy as np
import pytest

import lathe as lt

F = lt.nn.functional
PRODUCTS = {
    "linear": (F.linear, (6, 5)),
    "matmul": (lambda x, w: x @ w, (5, 6)),
    "right of a transposed one": (lambda x, w: x.transpose(-1, -2).contiguous().mT @ w, (5, 6)),
}
LEADING = [(3,), (2, 3), (1,), (1, 1), (0,), (2, 0)]


def gradient(f, x, w, dy):
    w = w.detach().requires_grad_()
    return lt.autograd.grad(f(x, w), w, dy)[0]


@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.bfloat16, lt.complex64])
@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_batch_gives_the_bits_of_its_rows(name, leading, dtype):
    f, shape = PRODUCTS[name]
    lt.manual_seed(0)
    x, w = lt.randn(*leading, 4, 5, dtype=dtype), lt.randn(*shape, dtype=dtype)
    dy = lt.randn(*leading, 4, 6, dtype=dtype)
    one = gradient(f, x.reshape(-1, 5), w, dy.reshape(-1, 6))
    assert lt.equal(gradient(f, x, w, dy), one)
    traced = lt.trace(gradient)
    for _ in range(2):
        assert lt.equal(traced(f, x, w, dy), one)


def test_operands_that_do_not_lie_in_rows():
    x, w = lt.randn(4, 3, 5).transpose(0, 1), lt.randn(6, 5)
    dy = lt.ones(1, 1, 1).expand(3, 4, 6)
    wanted = gradient(F.linear, x.contiguous(), w, dy.contiguous())
    assert lt.equal(gradient(F.linear, x, w, dy), wanted)
    np.testing.assert_allclose(wanted.numpy(), x.numpy().sum((0, 1)) + np.zeros((6, 1)), rtol=1e-5)


def test_a_weight_with_leading_axes_keeps_a_product_for_each():
    x, w, dy = lt.randn(3, 4, 5), lt.randn(3, 5, 6), lt.randn(3, 4, 6)
    wanted = lt.stack([gradient(lt.mm, *one) for one in zip(x, w, dy)])
    assert lt.equal(gradient(lt.matmul, x, w, dy), wanted)
    shared = gradient(lt.matmul, x, w[:1], dy)  # of size one: summed over, behind the products
    parts = lt.stack([x[i].mT @ dy[i] for i in range(3)])
    assert lt.equal(shared, parts.sum(0, keepdim=True))


def test_second_order():
    x = lt.randn(2, 3, 4, dtype=lt.float64, requires_grad=True)
    w = lt.randn(5, 4, dtype=lt.float64, requires_grad=True)
    assert lt.autograd.gradcheck(F.linear, (x, w)) and lt.autograd.gradgradcheck(F.linear, (x, w))
