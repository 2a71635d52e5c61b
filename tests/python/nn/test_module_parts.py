"""What may be set where a module has a parameter, a buffer or a module, and under which names."""

import copy

import pytest

import lathe as lt
from lathe import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(lt.ones(2))
        self.part = nn.ReLU()
        self.traced = lt.trace(nn.ReLU())
        self.register_buffer("kept", lt.ones(1))
        self.register_buffer("later", None)
        self.number = 5


REFUSED = [
    ("weight", lt.ones(2)), ("weight", 3), ("weight", nn.ReLU()), ("weight", nn.Buffer(lt.ones(1))),
    ("part", 3), ("part", lt.ones(1)), ("part", len), ("part", nn.Buffer(lt.ones(1))),
    ("traced", lt.ones(1)), ("traced", lt.trace(lambda x: x)), ("kept", 3), ("later", "text"),
]  # fmt: skip


@pytest.mark.parametrize("name, value", REFUSED, ids=lambda v: type(v).__name__)
def test_a_part_is_replaced_by_its_like_only(name, value):
    net = Net()
    before = vars(net)[name]
    with pytest.raises(TypeError, match=f"'{name}' is a") as caught:
        setattr(net, name, value)
    assert isinstance(caught.value, lt.TypeError) and caught.value.next and caught.value.expected
    assert vars(net)[name] is before


def test_what_may_be_set():
    net = Net()
    for name in ("weight", "part", "traced", "kept"):
        setattr(net, name, None)
        assert getattr(net, name) is None
    net.kept, net.later = lt.zeros(3), lt.zeros(2)
    assert [name for name, _ in net.named_buffers()] == ["kept", "later"]
    net.kept, net.later = nn.Parameter(lt.ones(1)), nn.ReLU()  # no buffers any more
    assert not dict(net.named_buffers()) and list(net._parameters) == ["kept"]
    assert list(net._modules) == ["later"]
    net = Net()
    net.weight, net.part = nn.Parameter(lt.zeros(1)), lt.trace(nn.Tanh())
    net.number = lt.ones(1)
    net.number = 3
    net.number = nn.Parameter(lt.ones(1))
    del net.weight
    net.weight = 3
    assert list(copy.deepcopy(net)._parameters) == ["number"]


def test_register():
    net = Net()
    with pytest.raises(TypeError, match="'w' is a parameter"):
        net.register_parameter("w", lt.ones(1))
    with pytest.raises(TypeError, match="only modules"):
        net.add_module("w", 3)
    with pytest.raises(TypeError, match="a text"):
        net.add_module(3, None)
    assert "w" not in vars(net)
    add = {
        "parameter": lambda name: net.register_parameter(name, nn.Parameter(lt.zeros(1))),
        "module": lambda name: net.add_module(name, nn.Tanh()),
        "buffer": lambda name: net.register_buffer(name, lt.zeros(1)),
    }
    own = {"parameter": ("weight",), "module": ("part", "traced"), "buffer": ("kept", "later")}
    names = (
        "weight",
        "part",
        "traced",
        "kept",
        "later",
        "number",
        "training",
        "forward",
        "",
        "a.b",
    )
    for kind, register in add.items():
        for name in names:
            if name in own[kind]:
                register(name)
                continue
            with pytest.raises(KeyError, match="name") as caught:
                register(name)
            assert isinstance(caught.value, lt.ValueError) and caught.value.next
    assert net.kept.tolist() == [0] and type(net.traced) is nn.Tanh


def test_a_leaf_is_registered():
    result = nn.Parameter(lt.ones(1), requires_grad=False)
    result.mul_(lt.ones(1, requires_grad=True))
    with pytest.raises(lt.ValueError, match="the result of a computation"):
        Net().register_parameter("result", result)


def test_in_a_trace():
    class Stores(Net):
        def forward(self, x):
            self.number, self.kept = x * 2, self.kept + 1
            return x + 1

    net = Stores()
    traced = lt.trace(net)
    for i in range(4):
        traced(lt.full((2,), float(i)))
    assert net.number.tolist() == [6, 6] and net.kept.tolist() == [5]
    assert "traces=1" in repr(traced)  # what was there before a store is no guard

    class Wrong(Net):
        def forward(self, x):
            self.weight = x
            return x

    for call in (Wrong(), lt.trace(Wrong())):
        with pytest.raises(TypeError, match="'weight' is a parameter"):
            call(lt.ones(2))


def test_to_leaves_a_buffer_that_others_hold():
    mean = lt.tensor([0.485, 0.456])

    class Norm(lt.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", mean, persistent=False)

    first, second = Norm(), Norm()
    first.half()
    assert (first.mean.dtype, mean.dtype, second.mean.dtype) == (lt.float16, lt.float32, lt.float32)
    assert not first.state_dict() and dict(first.named_buffers())["mean"] is first.mean
    assert second.float().mean is mean
