"""Programs that hold their weights packed give eager's bits, whatever the number of rows decides:
how panels are read, what is fetched ahead, whether rows and columns change places."""

import numpy as np
import pytest

import lathe as lt
from lathe import nn


@pytest.mark.parametrize("rows", [1, 2, 4, 5, 8, 13, 14, 15, 16, 27, 29, 56, 57, 130])
@pytest.mark.parametrize("sizes", [(70, 33), (530, 300), (1030, 1090)])
def test_layers(rows, sizes):
    layer = nn.Linear(*sizes)
    x = lt.randn(rows, sizes[0])
    frozen = lt.freeze(layer, x)
    for given in (x, x + 1, x[: (rows + 1) // 2]):
        np.testing.assert_array_equal(frozen(given).numpy(), layer(given).detach().numpy())


@pytest.mark.parametrize("size", [5, 7, 9, 14])
@pytest.mark.parametrize(("kernel", "groups"), [(1, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize("pictures", [1, 2])
def test_convolutions_with_what_follows(size, kernel, groups, pictures):
    """An epilogue meets its elements in the order in which they lie, turned tiles or not."""
    conv = nn.Conv2d(130, 80, kernel, padding=kernel // 2, groups=groups)
    x, shift = lt.randn(pictures, 130, size, size), lt.randn(80, size, size)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = conv

        def forward(self, x):
            return (self.conv(x) + shift).relu() * 0.5

    net = Net()
    frozen, traced = lt.freeze(net, x), lt.trace(net)
    for given in (x, x - 0.5):
        want = net(given).detach().numpy()
        np.testing.assert_array_equal(frozen(given).numpy(), want)
        np.testing.assert_array_equal(traced(given).detach().numpy(), want)


@pytest.mark.parametrize("rows", [1, 2, 3, 13, 40])
@pytest.mark.parametrize("sizes", [(40, 33), (600, 9000), (1100, 2050)])
def test_few_rows_with_what_follows(rows, sizes):
    """Panels that are read in order call the epilogue on what several of them gave."""
    layer = nn.Sequential(nn.Linear(*sizes), nn.GELU())
    x = lt.randn(rows, sizes[0])
    frozen = lt.freeze(layer, x)
    for given in (x, x[:1], x + 1):
        np.testing.assert_array_equal(frozen(given).numpy(), layer(given).detach().numpy())


def unrolled(x, w, v):
    """Each step reads the same weights, which are no constants."""
    h = lt.zeros(x.shape[1], w.shape[0])
    for row in x:
        h = (row @ w.t() + h @ v.t()).tanh()
        if h.shape[0] > 4:
            h = h @ v
    return h


@pytest.mark.parametrize("rows", [1, 4, 16, 40])
@pytest.mark.parametrize("width", [24, 130])
def test_weights_that_several_products_read(rows, width):
    x, w, v = lt.randn(6, rows, width), lt.randn(width, width) / 10, lt.randn(width, width) / 10
    traced = lt.trace(unrolled)
    for change in range(3):  # another run reads other elements in the same place
        np.testing.assert_array_equal(traced(x, w, v).numpy(), unrolled(x, w, v).numpy())
        v.add_(0.01 * change)
    gradient = lt.func.grad(lambda w: unrolled(x, w, v).sum())
    np.testing.assert_array_equal(lt.trace(gradient)(w).numpy(), gradient(w).numpy())
