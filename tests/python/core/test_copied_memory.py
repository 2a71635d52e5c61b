"""copy.deepcopy of tensors that lie in one memory; what has memory of its own."""

import copy

import pytest

import lathe as lt
from lathe.nn import functional as F


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1], lambda x: x.t(), lambda x: x.view(6), lambda x: x[:, ::2],
        lambda x: x.detach(), lambda x: x.view(lt.int32), lambda x: x[:0],
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", [0, 1])
def test_views_stay_views(view, first):
    x = lt.arange(6.0).reshape(2, 3)
    both = (x, view(x)) if first == 0 else (view(x), x)
    copied = copy.deepcopy(both)
    x2, v2 = copied if first == 0 else copied[::-1]
    assert x2.untyped_storage() != x.untyped_storage()
    assert x2.untyped_storage() == v2.untyped_storage()
    assert v2.stride() == view(x).stride() and v2.dtype == view(x).dtype
    v2.zero_()
    x_again = lt.arange(6.0).reshape(2, 3)
    view(x_again).zero_()
    assert x2.tolist() == x_again.tolist() and x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_other_memory_stays_apart():
    x, y = lt.zeros(3), lt.zeros(3)
    x2, y2 = copy.deepcopy([x, y])
    x2.fill_(1)
    assert y2.tolist() == [0, 0, 0]
    assert copy.deepcopy(lt.ones(1).expand(3)).stride() == (0,)


def test_modules():
    class Model(lt.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = lt.nn.Parameter(lt.ones(2))
            self.data = self.weight.data
            self.register_buffer("all", lt.zeros(4))
            self.register_buffer("part", self.all[1:3])

    m = Model()
    m.weight.grad = lt.ones(2)
    c = copy.deepcopy(m)
    c.part.fill_(5)
    assert c.all.tolist() == [0, 5, 5, 0] and m.all.tolist() == [0, 0, 0, 0]
    c.data.zero_()  # a Parameter's copy has memory of its own, as in PyTorch
    assert c.weight.tolist() == [1, 1] and c.weight.grad is None


def test_gradients_are_copied():
    x = lt.ones(2, requires_grad=True)
    x.grad = lt.ones(2)
    x2, g2 = copy.deepcopy((x, x.grad))
    g2.zero_()
    assert x2.requires_grad and x2.grad.tolist() == [0, 0] and x.grad.tolist() == [1, 1]


@pytest.mark.parametrize("function", [
    *(lambda x, m=m: F.pad(x, (0, 0, 0, 0), mode=m) for m in ("constant", "reflect", "replicate")),
    lambda x: F.pad(x, (0, 0, 0, 0), mode="circular"), lambda x: F.pixel_shuffle(x, 1),
    lambda x: F.pixel_unshuffle(x, 1), lambda x: F.channel_shuffle(x, 1),
    lambda x: F.channel_shuffle(x, 4), lambda x: F.pixel_shuffle(x[..., :1, :1], 2),
    lambda x: lt.chain_matmul(x[0, 0]),
])  # fmt: skip
def test_what_moves_nothing_has_memory_of_its_own(function):
    for wrapped in (function, lt.trace(function)):
        x = lt.arange(96.0).reshape(2, 4, 3, 4)
        wrapped(x).zero_()
        assert lt.equal(x, lt.arange(96.0).reshape(2, 4, 3, 4))
