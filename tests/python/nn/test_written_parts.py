"""What is written to module._modules, _parameters and _buffers is written to the module."""

import copy
import pickle

import pytest

import lathe as lt
from lathe import nn


def model():
    m = nn.Sequential()
    m.body = nn.Linear(2, 3)
    m.fc = nn.Linear(3, 1)
    return m


def test_a_layer_is_replaced_and_removed():
    m = model()
    m._modules["fc"] = nn.Identity()
    assert isinstance(m.fc, nn.Identity) and m(lt.ones(1, 2)).shape == (1, 3)
    assert list(m._modules) == ["body", "fc"]
    m._modules["more"] = nn.ReLU()
    assert [name for name, _ in m.named_children()] == ["body", "fc", "more"]
    del m._modules["more"]
    assert not hasattr(m, "more") and list(m.state_dict()) == ["body.weight", "body.bias"]
    popped = m._modules.pop("fc")
    assert isinstance(popped, nn.Identity) and not hasattr(m, "fc")
    assert m._modules.pop("fc", None) is None
    with pytest.raises(KeyError):
        m._modules.pop("fc")
    m._modules.update(a=nn.ReLU(), b=nn.Tanh())
    assert m._modules.popitem()[0] == "b" and not hasattr(m, "b")
    assert m._modules.setdefault("a") is m.a
    m._modules.clear()
    assert list(m.children()) == [] and isinstance(m._modules, dict)


def test_parameters_and_buffers():
    lin = nn.Linear(2, 3)
    w = nn.Parameter(lt.ones(3, 2))
    lin._parameters["weight"] = w
    assert lin.weight is w and [n for n, _ in lin.named_parameters()] == ["weight", "bias"]
    lin._parameters.pop("bias")
    lin.bias = None
    assert lin(lt.ones(2)).tolist() == [2, 2, 2] and list(lin._parameters) == ["weight"]
    norm = nn.BatchNorm1d(3)
    norm._buffers["running_mean"] = lt.full((3,), 2.0)
    assert norm.running_mean.tolist() == [2, 2, 2] and "running_mean" in norm.state_dict()
    norm._buffers["more"] = lt.zeros(1)
    assert "more" in norm.state_dict()
    del norm._buffers["more"]
    assert "more" not in norm.state_dict() and dict(norm.named_buffers()).keys() == {
        "running_mean", "running_var", "num_batches_tracked"
    }  # fmt: skip


def test_what_cannot_be_a_part_is_refused():
    m = model()
    for parts, name, value in (
        (m._modules, "fc", 3), (m._modules, "new", 3), (m._modules, "forward", nn.ReLU()),
        (m.fc._parameters, "new", lt.ones(1)),
        (m.fc._parameters, "forward", nn.Parameter(lt.ones(1))),
        (m.fc._buffers, "weight", lt.ones(1)),
    ):  # fmt: skip
        before = dict(parts)
        with pytest.raises((lt.TypeError, lt.ValueError)):
            parts[name] = value
        assert dict(parts) == before
    assert isinstance(m.fc, nn.Linear)


def test_copies_belong_to_nobody():
    m = model()
    for made in (
        copy.copy(m._modules), m._modules.copy(), copy.deepcopy(m._modules),
        pickle.loads(pickle.dumps(m._modules)),
    ):  # fmt: skip
        assert type(made) is dict and list(made) == ["body", "fc"]
        made["fc"] = None
    assert isinstance(m.fc, nn.Linear)


@pytest.mark.parametrize("wrap", [lt.trace, lambda f: f])
def test_read_inside_of_captured_code(wrap):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.ReLU()

        def forward(self, x):
            for name, part in self._modules.items():
                x = part(x) + len(name)
            return x * len(self._parameters) + sum(
                len(p.shape) for p in self.a._parameters.values()
            )

    net = Net()
    f = wrap(net)
    x = lt.ones(3, 2)
    want = (net.b(net.a(x) + 1) + 1) * 0 + 3
    for _ in range(3):
        assert lt.equal(f(x), want)


def test_conversions_call_apply_of_subclasses():
    calls = []

    class Own(nn.Linear):
        def _apply(self, fn, recurse=True):
            calls.append(recurse)
            super()._apply(fn, recurse)
            self.scale = fn(self.scale)
            return self

        def __init__(self):
            super().__init__(2, 2)
            self.scale = lt.ones(1)

    m = nn.Sequential(Own(), nn.BatchNorm1d(2))
    m[0].weight.grad = lt.ones(2, 2)
    assert m.double() is m and calls == [True]
    assert {t.dtype for t in m.parameters()} == {lt.float64}
    assert m[0].scale.dtype == m[0].weight.grad.dtype == m[1].running_mean.dtype == lt.float64
    assert m[1].num_batches_tracked.dtype == lt.int64
