"""Modules: parts, state, modes, hooks, text; and layers against formulas."""

import copy
import pickle

import numpy as np
import pytest
from references import REFERENCES

import lathe as lt
from lathe import nn
from lathe.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.parts = nn.ModuleList([nn.Linear(4, 4), nn.ReLU()])
        self.scale = nn.Parameter(lt.ones(1))
        self.register_buffer("seen", lt.zeros(1))
        self.register_buffer("scratch", lt.zeros(2), persistent=False)
        self.nothing = None

    def forward(self, x):
        for part in (self.first, *self.parts):
            x = part(x)
        return x * self.scale


NAMES = ["first.weight", "first.bias", "parts.0.weight", "parts.0.bias", "scale", "seen"]


def test_parts_by_name():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", *NAMES[:4]]
    assert sorted(net.state_dict()) == sorted(NAMES)
    assert [n for n, _ in net.named_buffers()] == ["seen", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "parts", "parts.0", "parts.1"]
    assert [n for n, _ in net.named_children()] == ["first", "parts"]
    assert net.get_submodule("parts.0") is net.parts[0] and net.get_parameter("scale") is net.scale
    for bad in ("parts.9", "scale"):
        with pytest.raises(AttributeError, match="no module"):
            net.get_submodule(bad)
    with pytest.raises(AttributeError, match="no parameter"):
        net.get_parameter("first.nothing")
    assert sum(p.numel() for p in net.parameters()) == 16 + 20 + 1


def test_shared_parts_are_listed_once():
    layer = nn.Linear(2, 2)
    both = nn.Sequential(layer, nn.ReLU(), layer)
    assert len(list(both.parameters())) == 2 and len(list(both.modules())) == 3
    assert len(both.state_dict()) == 4


def test_state_dict_round_trip():
    a, b = Net(), Net()
    assert not lt.equal(a.first.weight, b.first.weight)
    state = a.state_dict()
    missing, unexpected = b.load_state_dict(state)
    assert missing == unexpected == [] and lt.equal(a.first.weight, b.first.weight)
    assert b.first.weight is not a.first.weight and b.first.weight.requires_grad
    state["scale"].fill_(5)
    assert a.scale.item() == 5 and b.scale.item() == 1  # state_dict shares, loading copies


def test_state_that_is_assigned():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    state = {k: v.double() if v.dtype == lt.float32 else v for k, v in net.state_dict().items()}
    state["0.weight"] = state["0.weight"] * 0 + 4
    net[0].bias.requires_grad_(False)
    keys = net.load_state_dict(state, assign=True)
    assert keys == ([], []) and repr(keys) == "<All keys matched successfully>"
    assert net[0].weight.dtype == lt.float64 and net[0].weight.tolist() == [[4, 4]] * 3
    assert isinstance(net[0].weight, nn.Parameter) and net[0].weight.requires_grad
    assert not net[0].bias.requires_grad
    assert net[1].running_mean is state["1.running_mean"]
    assert len(list(net.parameters())) == 4 and list(net.state_dict()) == list(state)


def test_state_dict_that_does_not_fit():
    net = Net()
    before = net.scale.item()
    state = net.state_dict()
    state.pop("seen")
    state["more"] = lt.ones(1)
    state["first.weight"] = lt.ones(2, 2)
    state["scale"] = lt.full((1,), 7.0)
    with pytest.raises(nn.StateDictError) as caught:
        net.load_state_dict(state)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Net:\n"
        '\tMissing key(s) in state_dict: "seen".\n'
        '\tUnexpected key(s) in state_dict: "more".\n'
        "\tsize mismatch for first.weight: the state_dict has (2, 2), the module has (4, 3)"
    )
    assert isinstance(caught.value, (RuntimeError, lt.Error)) and net.scale.item() == before
    state.pop("first.weight")
    keys = missing, unexpected = net.load_state_dict(state, strict=False)
    assert keys.missing_keys is missing and keys.unexpected_keys is unexpected
    assert repr(keys).startswith("_IncompatibleKeys(missing_keys=[")
    assert sorted(missing) == ["first.weight", "seen"] and unexpected == ["more"]
    assert net.scale.item() == 7


def test_train_and_eval():
    net = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(3))
    assert net.training and net[0].training
    assert net.eval() is net and not net[0].training and not net[1].training
    assert net.train()[0].training
    x = lt.ones(4, 3)
    assert lt.equal(net.eval()[0](x), x) and not lt.equal(
        net.train()[0](lt.ones(100)), lt.ones(100)
    )


def test_registration_is_checked():
    net = Net()
    with pytest.raises(ValueError, match="without dots"):
        net.register_parameter("a.b", None)
    with pytest.raises(ValueError, match="method"):
        net.add_module("forward", nn.ReLU())
    with pytest.raises(TypeError, match="tensor"):
        net.register_buffer("b", 3)
    net.register_buffer("later", None)
    assert "later" not in net.state_dict()
    net.later = lt.ones(2)
    assert "later" in net.state_dict()
    del net.first
    assert "first.weight" not in net.state_dict()


def test_hooks():
    net, seen = nn.Linear(2, 2), []
    first = net.register_forward_pre_hook(lambda m, inputs: seen.append("before"))
    second = net.register_forward_hook(lambda m, inputs, output: output * 0)
    assert net(lt.ones(1, 2)).tolist() == [[0, 0]] and seen == ["before"]
    first.remove(), second.remove()
    assert net(lt.ones(1, 2)).abs().sum().item() > 0 and seen == ["before"]
    swap = net.register_forward_pre_hook(lambda m, inputs: (inputs[0] * 0,))
    assert lt.equal(net(lt.ones(1, 2))[0], net.bias)
    swap.remove()


def test_apply_and_conversions():
    net = Net()
    net.apply(lambda m: nn.init.zeros_(m.weight) if isinstance(m, nn.Linear) else None)
    assert net.first.weight.abs().sum().item() == 0
    parameter = net.scale
    net(lt.ones(1, 3)).sum().backward()
    assert net.double() is net and net.scale is parameter and parameter.dtype is lt.float64
    assert net.seen.dtype is lt.float64 and parameter.grad.dtype is lt.float64
    net.to(lt.float32)
    assert net(lt.ones(2, 3)).dtype is lt.float32
    net.requires_grad_(False)
    assert not net(lt.ones(1, 3)).requires_grad
    norm = nn.BatchNorm1d(2).double()
    assert norm.num_batches_tracked.dtype is lt.int64 and norm.running_mean.dtype is lt.float64


def test_zero_grad():
    net = nn.Linear(2, 1)
    net(lt.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.weight.grad.tolist() == [[0, 0]]
    net.zero_grad()
    assert net.weight.grad is None


def test_copies():
    net = Net()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert list(other.state_dict()) == list(net.state_dict())
        assert isinstance(other.scale, nn.Parameter) and other.scale is not net.scale
        assert lt.equal(other(lt.ones(1, 3)), net(lt.ones(1, 3)))


def test_text():
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Conv2d(1, 2, 3, padding=1)))
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (1): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))\n"
        "  )\n"
        ")"
    )
    parts = [nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(), nn.Sequential(nn.ReLU(), nn.ReLU())]
    assert repr(nn.ModuleList([*parts, parts[-1]])) == (
        "ModuleList(\n"
        "  (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)\n"
        "  (2): ReLU()\n"
        "  (3-4): 2 x Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ModuleList([])) == "ModuleList()"
    assert repr(nn.Parameter(lt.ones(1))) == (
        "Parameter containing:\ntensor([1.], requires_grad=True)"
    )
    for layer in (
        nn.BatchNorm2d(3), nn.LayerNorm(4), nn.Dropout(0.1), nn.Embedding(5, 2), nn.MaxPool2d(2),
        nn.Softmax(1), nn.GELU("tanh"), nn.LeakyReLU(0.2), nn.Flatten(), nn.Identity(), nn.Tanh(),
    ):  # fmt: skip
        assert repr(layer).startswith(type(layer).__name__ + "(")


def test_containers():
    seq = nn.Sequential({"a": nn.Linear(1, 2), "b": nn.Linear(2, 1)})
    assert len(seq) == 2 and seq.a is seq[0] and seq[-1] is seq.b and list(seq) == [seq.a, seq.b]
    many = nn.ModuleList([nn.ReLU()]).append(nn.Tanh())
    many.insert(0, nn.Sigmoid())
    many[1] = nn.GELU()
    assert [type(m).__name__ for m in many] == ["Sigmoid", "GELU", "Tanh"]
    assert isinstance(many[1:], nn.ModuleList) and len(many[1:]) == 2
    del many[0]
    assert len(many) == 2 and list(dict(many.named_children())) == ["0", "1"]
    named = nn.ModuleDict({"x": nn.Linear(1, 1)})
    named["y"] = nn.ReLU()
    assert set(named) == set(named.keys()) == {"x", "y"} and "x" in named and len(named) == 2
    assert "x.weight" in named.state_dict()
    del named["x"]
    assert "x" not in named
    for bad in (lambda: nn.Sequential(3), lambda: named.update({"z": 1})):
        with pytest.raises(TypeError):
            bad()


def array(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def close(got, want):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-4, atol=1e-5)


def test_linear_and_conv():
    linear, x = nn.Linear(3, 2), array(4, 3)
    w, b = linear.weight.detach().numpy(), linear.bias.detach().numpy()
    close(linear(lt.tensor(x)), x @ w.T + b)
    conv, x = (
        nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=1, dilation=1, groups=2),
        array(2, 4, 5, 6),
    )
    want = REFERENCES["conv2d"](x, conv.weight.detach().numpy(), None, (2, 1), 1, 1, 2)
    close(conv(lt.tensor(x)), want + conv.bias.detach().numpy()[:, None, None])
    assert nn.Conv2d(1, 1, 3, padding="same")(lt.ones(1, 1, 5, 7)).shape == (1, 1, 5, 7)
    assert nn.Conv2d(1, 1, 2, padding="same")(lt.ones(1, 1, 5, 7)).shape == (1, 1, 5, 7)
    assert nn.Conv2d(1, 1, 3, padding="valid")(lt.ones(1, 1, 5, 7)).shape == (1, 1, 3, 5)
    with pytest.raises(ValueError, match="groups"):
        nn.Conv2d(3, 4, 1, groups=2)
    with pytest.raises(lt.ShapeError):
        linear(lt.ones(2, 5))


def test_batch_norm():
    for layer, x in ((nn.BatchNorm2d(3), array(4, 3, 2, 2)), (nn.BatchNorm1d(3), array(6, 3))):
        dims = (0, 2, 3)[: 1 if x.ndim == 2 else 3]
        mean, var, lane = x.mean(dims), x.var(dims), (3,) + (1,) * (x.ndim - 2)
        want = (x - mean.reshape(lane)) / np.sqrt(var.reshape(lane) + 1e-5)
        close(layer(lt.tensor(x)), want)
        n = x.size // 3
        close(layer.running_mean, 0.1 * mean)
        close(layer.running_var, 0.9 + 0.1 * var * n / (n - 1))
        assert layer.num_batches_tracked.item() == 1
        layer.eval()
        kept = layer.running_mean.tolist()
        scaled = (x - 0.1 * mean.reshape(lane)) / np.sqrt(
            (0.9 + 0.1 * var * n / (n - 1)).reshape(lane) + 1e-5
        )
        close(layer(lt.tensor(x)), scaled)
        assert layer.running_mean.tolist() == kept
    with pytest.raises(lt.ShapeError, match="rank 4"):
        nn.BatchNorm2d(3)(lt.ones(2, 3))
    average = nn.BatchNorm1d(2, momentum=None)
    for _ in range(3):
        average(lt.tensor(array(5, 2)))
    close(average.running_mean, array(5, 2).mean(0))
    traced = nn.BatchNorm1d(2, momentum=None)
    call = lt.trace(lambda x: traced(x))
    plain = nn.BatchNorm1d(2, momentum=None)
    for k in range(3):
        x = lt.tensor(array(5, 2)) * k
        assert lt.equal(call(x), plain(x))
    assert lt.equal(traced.running_mean, plain.running_mean) and len(call.reasons()) == 0
    assert lt.equal(traced.running_var, plain.running_var)
    loose = nn.BatchNorm1d(2, track_running_stats=False, affine=False).eval()
    close(loose(lt.tensor(array(5, 2))).mean(0), [0, 0])


def test_other_layers():
    x = array(2, 3, 4)
    want = REFERENCES["layer_norm"](x, (3, 4))
    close(nn.LayerNorm((3, 4))(lt.tensor(x)), want)
    assert nn.LayerNorm(4, bias=False).bias is None
    table = nn.Embedding(5, 3)
    assert lt.equal(table(lt.tensor([[4, 0], [1, 1]]))[0, 0], table.weight[4])
    image = array(1, 2, 4, 4)
    close(nn.MaxPool2d(2)(lt.tensor(image)), REFERENCES["max_pool2d"](image, 2))
    close(
        nn.AvgPool2d(3, 2, 1)(lt.tensor(image)),
        REFERENCES["avg_pool2d"](image, kernel_size=3, stride=2, padding=1),
    )
    assert nn.Flatten()(lt.ones(2, 3, 4)).shape == (2, 12) and nn.Identity(1, a=2)(3) == 3
    for layer, name in (
        (nn.Tanh(), "tanh"), (nn.Sigmoid(), "sigmoid"), (nn.SiLU(), "silu"), (nn.ReLU(), "relu"),
        (nn.GELU(), "gelu"), (nn.Softplus(), "softplus"),
    ):  # fmt: skip
        close(layer(lt.tensor(x)), REFERENCES[name](x))
    close(nn.Hardtanh(-0.5, 0.25)(lt.tensor(x)), np.clip(x, -0.5, 0.25))
    close(nn.Softmax(1)(lt.tensor(x)), REFERENCES["softmax"](x, 1))
    y = lt.tensor(x)
    assert nn.ReLU(inplace=True)(y) is y and y.min().item() == 0


@pytest.mark.parametrize("rank", range(6))
def test_the_axis_of_a_softmax_that_names_none(rank):
    x = array(*(2, 3, 4, 2, 2)[:rank])
    axis = 0 if rank in (0, 1, 3) else 1
    want = np.ones(()) if rank == 0 else REFERENCES["softmax"](x, axis)
    close(nn.Softmax()(lt.tensor(x)), want)
    close(nn.LogSoftmax()(lt.tensor(x)), np.log(want))


def test_losses():
    x, t = array(5, 3), np.array([0, 2, 1, 1, 0])
    logits, labels = lt.tensor(x), lt.tensor(t)
    close(nn.CrossEntropyLoss()(logits, labels), REFERENCES["cross_entropy"](x, t))
    smooth = nn.CrossEntropyLoss(label_smoothing=0.2)
    close(smooth(logits, labels), REFERENCES["cross_entropy"](x, t, label_smoothing=0.2))
    weight = lt.tensor([1.0, 2.0, 3.0])
    picked = -np.log(REFERENCES["softmax"](x, 1))[np.arange(5), t]
    w = weight.numpy()[t]
    close(nn.CrossEntropyLoss(weight)(logits, labels), (picked * w).sum() / w.sum())
    assert nn.CrossEntropyLoss(reduction="none")(logits, labels).shape == (5,)
    close(nn.NLLLoss(reduction="sum")(F.log_softmax(logits, 1), labels), picked.sum())
    ignored = lt.tensor([0, -100, 1, 1, 0])
    close(nn.CrossEntropyLoss()(logits, ignored), np.delete(picked[[0, 1, 2, 3, 4]], 1).mean())
    a, b = array(4), array(4)[::-1].copy()
    close(nn.MSELoss()(lt.tensor(a), lt.tensor(b)), ((a - b) ** 2).mean())
    close(nn.L1Loss(reduction="sum")(lt.tensor(a), lt.tensor(b)), np.abs(a - b).sum())
    p = 1 / (1 + np.exp(-a))
    close(
        nn.BCEWithLogitsLoss()(lt.tensor(a), lt.tensor([0.0, 1.0, 1.0, 0.0])),
        -np.log([1 - p[0], p[1], p[2], 1 - p[3]]).mean(),
    )
    for bad in (
        lambda: F.mse_loss(logits, logits, reduction="average"),
        lambda: F.l1_loss(logits, logits, reduction="average"),
    ):
        with pytest.raises(ValueError, match="mean"):
            bad()
    with pytest.raises(lt.ShapeError):
        nn.CrossEntropyLoss()(logits, lt.tensor([1, 2]))
    with pytest.raises(lt.DTypeError, match="int64"):
        nn.CrossEntropyLoss()(logits, lt.ones(5))


def test_functions():
    assert F.one_hot(lt.tensor([1, 0]), 3).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert abs(F.normalize(lt.tensor([[3.0, 4.0]])).norm().item() - 1) < 1e-6
    assert F.pad(lt.ones(1, 2), (1, 0), value=5).tolist() == [[5, 1, 1]]
    assert F.sigmoid(lt.zeros(1)).item() == 0.5 and not hasattr(F, "exp")
    q = lt.tensor(array(2, 4, 8))
    out = F.scaled_dot_product_attention(q, q, q, is_causal=True)
    assert lt.allclose(out[:, 0], q[:, 0], atol=1e-6) and out.shape == q.shape
    with pytest.raises(AttributeError):
        F.nothing_like_it()


def test_gradient_clipping():
    p = nn.Parameter(lt.zeros(2))
    p.grad = lt.tensor([3.0, 4.0])
    assert abs(nn.utils.clip_grad_norm_([p], 1.0).item() - 5) < 1e-6
    assert lt.allclose(p.grad, lt.tensor([0.6, 0.8]), atol=1e-5)
    nn.utils.clip_grad_value_(p, 0.7)
    assert lt.allclose(p.grad, lt.tensor([0.6, 0.7]), atol=1e-5)


def test_complex_parameters_are_converted():
    layer = nn.Linear(2, 2, dtype=lt.complex64).to(lt.complex128)
    assert layer.weight.dtype is lt.complex128 and layer.bias.dtype is lt.complex128
    assert layer.to(lt.complex64).weight.dtype is lt.complex64
    layer.double()
    assert layer.weight.dtype is lt.complex64, "double() is of the floats"


@pytest.mark.parametrize("kind, shape", [(nn.BatchNorm1d, (8, 3)), (nn.BatchNorm2d, (4, 3, 2, 2))])
def test_a_batch_norm_that_stops_tracking(kind, shape):
    """It leaves the statistics that it has alone; in eval() it goes on to use them."""
    norm, x = kind(3), lt.randn(shape) + 5
    norm(x)
    before = [b.clone() for b in norm.buffers()]
    norm.track_running_stats = False
    y = norm(x)
    assert all(lt.equal(a, b) for a, b in zip(before, norm.buffers()))
    axes = [0, *range(2, x.ndim)]
    assert y.mean(axes).abs().max() < 1e-5, "the batch's own"
    want = lt.batch_norm(
        x, norm.weight, norm.bias, norm.running_mean, norm.running_var, False, 0.1, norm.eps
    )
    assert lt.equal(norm.eval()(x), want)


@pytest.mark.parametrize("momentum", [0.1, None])
@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4), (2, 3, 0)])
def test_a_batch_norm_of_nothing_learns_nothing(shape, momentum):
    norm, x = nn.BatchNorm1d(3, momentum=momentum), lt.ones(shape, requires_grad=True)
    y = norm(x)
    y.sum().backward()
    assert y.shape == x.grad.shape == shape
    assert norm.weight.grad.tolist() == norm.bias.grad.tolist() == [0, 0, 0]
    assert norm.running_mean.tolist() == [0, 0, 0] and norm.running_var.tolist() == [1, 1, 1]
    assert norm.num_batches_tracked == 1
    assert norm.eval()(x).shape == shape


def test_a_batch_norm_without_statistics():
    norm, x = nn.BatchNorm1d(3, momentum=None), lt.randn(8, 3) + 5
    norm.running_mean = norm.running_var = None
    assert norm.eval()(x).mean(0).abs().max() < 1e-5, "nothing is there but the batch"
    assert norm.train()(x).mean(0).abs().max() < 1e-5
