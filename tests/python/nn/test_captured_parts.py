"""A captured module that is an attribute of a module, or in a container, is one of its parts."""

import copy

import pytest

import lathe as lt
from lathe import nn

NAMES = ["body.weight", "body.bias", "seq.0.weight", "seq.0.bias", "norm.weight", "norm.bias"]
BUFFERS = ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]


class Net(nn.Module):
    def __init__(self, capture):
        super().__init__()
        self.body = capture(nn.Linear(4, 8))
        self.seq = nn.Sequential(capture(nn.Linear(8, 2)), nn.ReLU())
        self.norm = capture(nn.BatchNorm1d(2))

    def forward(self, x):
        return self.norm(self.seq(self.body(x)))


def plain(module):
    return module


@pytest.fixture(params=[lt.trace, lt.script, lambda m: lt.trace(lt.script(m))],
                ids=["trace", "script", "both"])  # fmt: skip
def net(request):
    return Net(request.param)


def test_names_are_those_of_the_plain_modules(net):
    assert [n for n, _ in net.named_parameters()] == NAMES
    assert [n for n, _ in net.named_buffers()] == BUFFERS
    assert list(net.state_dict()) == list(Net(plain).state_dict())
    assert [n for n, _ in net.named_modules()] == ["", "body", "seq", "seq.0", "seq.1", "norm"]
    assert repr(net) == repr(Net(plain))
    assert net.get_parameter("seq.0.weight") is net.seq[0].weight
    assert net.get_buffer("norm.running_mean") is net.norm.running_mean
    assert list(net._modules) == ["body", "seq", "norm"]


def test_state_goes_to_and_from_a_plain_network(net):
    other = Net(plain)
    other.load_state_dict(net.state_dict())
    net.load_state_dict(other.state_dict())
    x = lt.rand(5, 4)
    assert lt.equal(net(x), other(x))
    assert lt.equal(net.norm.running_mean, other.norm.running_mean)
    with pytest.raises(nn.StateDictError, match=r"Missing key.*body\.bias"):
        net.load_state_dict({n: v for n, v in other.state_dict().items() if n != "body.bias"})


def test_modes_and_moves_reach_it(net):
    x = lt.rand(5, 4)
    net(x)
    net.eval()
    assert net.norm.training is False
    before = net.norm.running_mean.clone()
    net(x)
    assert lt.equal(net.norm.running_mean, before)
    net.to(lt.float64)
    assert net(x.double()).dtype == lt.float64
    net.requires_grad_(False)
    assert not net(x.double()).requires_grad
    seen = []
    net.apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "Linear", "ReLU", "Sequential", "BatchNorm1d", "Net"]


def training_step(model, x):
    optimizer = lt.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def test_training_it_is_training_the_plain_network(net):
    other = Net(plain)
    other.load_state_dict(net.state_dict())
    x = lt.rand(5, 4)
    for model in (net, other):
        step = lt.trace(training_step(model, x))
        for _ in range(3):
            step()
    for name, value in net.state_dict().items():
        assert lt.equal(value, other.state_dict()[name]), name


def test_a_copy_has_parts_of_its_own(net):
    other = copy.deepcopy(net)
    assert type(other.body) is type(net.body)
    assert other.body.weight is not net.body.weight
    assert [n for n, _ in other.named_parameters()] == NAMES
    x = lt.rand(5, 4)
    assert lt.equal(other.eval()(x), net.eval()(x))


def test_containers_give_what_calls_the_program():
    body = lt.trace(nn.Linear(2, 2))
    assert nn.Sequential(body)[0] is body
    assert nn.ModuleList([body])[0] is body
    assert nn.ModuleDict({"body": body})["body"] is body
    assert list(nn.ModuleDict({"body": body}).state_dict()) == ["body.weight", "body.bias"]
    nn.Sequential(body)(lt.rand(1, 2))
    assert body.counts["calls"] == 1
    with pytest.raises(lt.TypeError, match="only modules can be parts"):
        nn.Sequential(lt.trace(lambda x: x))


def test_a_submodule_is_replaced_by_a_captured_one():
    net = Net(plain)
    net.set_submodule("seq.0", lt.trace(nn.Linear(8, 2)), strict=True)
    assert [n for n, _ in net.named_parameters()] == NAMES


def test_what_is_captured_of_the_module_itself_is_no_part():
    class Fast(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(lt.ones(2))
            self.fast = lt.trace(self)

        def forward(self, x):
            return x * self.weight

    net = Fast()
    assert list(net.state_dict()) == ["weight"]
    assert repr(net) == "Fast()"
    assert net.fast(lt.ones(2)).tolist() == [1, 1]


def test_a_frozen_network_has_it():
    net = Net(lt.trace).eval()
    x = lt.rand(5, 4)
    assert lt.allclose(lt.freeze(net, x)(x), net(x))
