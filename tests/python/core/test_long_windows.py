"""Convolutions of one channel by long windows, whose terms go down where the places go up."""

import numpy as np
import pytest

import lathe as lt
import lathe.nn.functional as F


def transposed(x, w, stride, dilation):
    """Each element of x spread by w."""
    out = np.zeros((len(x), (x.shape[1] - 1) * stride + (len(w) - 1) * dilation + 1))
    for i in range(x.shape[1]):
        for k in range(len(w)):
            out[:, i * stride + k * dilation] += x[:, i] * w[k]
    return out


@pytest.mark.parametrize("dtype", [lt.float32, lt.float64])
@pytest.mark.parametrize("stride, dilation", [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("length", [7, 8, 9, 40])
@pytest.mark.parametrize("images", [1, 2, 3])
def test_one_channel(images, length, stride, dilation, dtype):
    rng = np.random.default_rng(length)
    x, w = rng.standard_normal((images, 33)), rng.standard_normal(length)
    want = transposed(x, w, stride, dilation)
    dy, kernel = (lt.tensor(a[..., None, :], dtype=dtype) for a in (x, w[None]))
    how = {"stride": stride, "dilation": dilation}
    found = F.conv_transpose1d(dy, kernel, **how)
    close = 1e-5 if dtype == lt.float32 else 1e-13  # sums of at most 40 terms of about 1
    np.testing.assert_allclose(found[:, 0].numpy(), want, close, close)
    # The gradient of a convolution by its input is the same sum.
    z = lt.zeros(images, 1, want.shape[1], dtype=dtype, requires_grad=True)
    F.conv1d(z, kernel, **how).backward(dy)
    np.testing.assert_allclose(z.grad[:, 0].numpy(), want, close, close)
