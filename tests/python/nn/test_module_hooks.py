"""Hooks of modules, their state with hooks, functional_call, parametrizations."""

import collections
import os
import pickle
import subprocess
import sys
import weakref

import pytest

import lathe as lt
from lathe import nn
from lathe.nn.utils import parametrizations, parametrize


def test_forward_hooks():
    layer, log = nn.Linear(2, 2), []
    layer.register_forward_pre_hook(lambda m, a, k: log.append(k), with_kwargs=True)
    layer.register_forward_pre_hook(lambda m, a: log.append("first"), prepend=True)
    with layer.register_forward_pre_hook(lambda m, a: (a[0] * 0,)):
        assert lt.equal(layer(lt.ones(1, 2))[0], layer.bias)
    assert log == ["first", {}]
    layer.register_forward_hook(lambda m, a, k, y: y * 0 + len(k), with_kwargs=True)
    assert layer(input=lt.ones(1, 2)).tolist() == [[1, 1]]
    failed = []
    layer.register_forward_hook(lambda m, a, y: failed.append(y), always_call=True)
    with pytest.raises(lt.ShapeError):
        layer(lt.ones(1, 3))
    assert failed == [None]
    layer.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    with pytest.raises(lt.ValueError, match="None or both"):
        layer(lt.ones(1, 2))


def test_backward_hooks():
    layer, log = nn.Linear(2, 3), []
    layer.register_full_backward_pre_hook(lambda m, g: (g[0] * 2,))
    handle = layer.register_full_backward_hook(
        lambda m, dx, dy: log.append((dx[0] if dx[0] is None else dx[0].tolist(), dy[0].tolist()))
    )
    x = lt.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert log == [(x.grad.tolist(), [[2, 2, 2]])]
    assert lt.allclose(x.grad, 2 * layer.weight.sum(0, keepdim=True))
    log.clear()
    layer(lt.ones(1, 2)).sum().backward()
    assert log == [(None, [[2, 2, 2]])]
    handle.remove()
    layer.register_full_backward_hook(lambda m, dx, dy: (dx[0] * 0,))
    x.grad = None
    layer(x).sum().backward()
    assert x.grad.tolist() == [[0, 0]] and len(log) == 1


def test_backward_hooks_get_a_gradient_for_each_value():
    """At its position; None for what has none, as numbers and constants."""
    Pair = collections.namedtuple("Pair", "scaled rest")

    class Scale(nn.Module):
        def forward(self, factor, x, y):
            return Pair(x * factor, (factor, y))

    scale, log = Scale(), []
    scale.register_full_backward_hook(lambda m, dx, dy: log.append((dx, dy)))
    x = lt.ones(2, requires_grad=True)
    result = scale(3, x, lt.zeros(2))
    assert isinstance(result, Pair) and result.rest[0] == 3
    result.scaled.sum().backward()
    dx, dy = log[0]
    assert (dx[0], dx[1].tolist(), dx[2]) == (None, [3, 3], None)
    assert (dy[0].tolist(), dy[1]) == ([1, 1], None)
    scale.register_full_backward_hook(lambda m, dx, dy: (None, dx[1] * 2, None))
    x.grad = None
    scale(3, x, lt.zeros(2)).scaled.sum().backward()
    assert x.grad.tolist() == [6, 6]
    scale.register_full_backward_hook(lambda m, dx, dy: dx[1] * 2)
    with pytest.raises(lt.ValueError, match="another number of gradients"):
        scale(3, x, lt.zeros(2)).scaled.sum().backward()


def test_backward_hooks_and_second_derivatives():
    """A gradient of the gradient goes through the module again, and calls no hook."""
    square, log = Square(), []
    square.register_full_backward_hook(lambda m, dx, dy: log.append(dx[0].item()))
    x = lt.tensor(3.0, requires_grad=True)
    (dx,) = lt.autograd.grad(square(x), x, create_graph=True)
    assert log == [6]
    assert lt.autograd.grad(dx, x)[0].item() == 2
    assert log == [6]


class Square(nn.Module):
    def forward(self, x):
        return x * x


def test_backward_hooks_where_no_input_has_a_gradient():
    layer, log = nn.Bilinear(2, 3, 1), []
    layer.register_full_backward_hook(lambda m, dx, dy: log.append(dx))
    layer(lt.ones(1, 2), lt.ones(1, 3)).sum().backward()
    assert log == [(None, None)]
    layer.register_full_backward_hook(lambda m, dx, dy: (dy[0], None))
    with pytest.raises(lt.ValueError, match="no input of the module has one"):
        layer(lt.ones(1, 2), lt.ones(1, 3)).sum().backward()


def test_backward_hooks_in_a_trace_of_a_fresh_program(tmp_path):
    """What sees the gradients comes with the first capture, and is found again by later ones."""
    program = tmp_path / "program.py"
    program.write_text(
        "import lathe as lt\n"
        "m = lt.nn.Linear(3, 3)\n"
        "m.register_full_backward_hook(lambda m, dx, dy: (dx[0] * 3,))\n"
        "opt = lt.optim.Adam(m.parameters())\n"
        "def step(x):\n"
        "    x = x.detach().requires_grad_()\n"
        "    opt.zero_grad()\n"
        "    m(x).sum().backward()\n"
        "    opt.step()\n"
        "    return x.grad\n"
        "traced = lt.trace(step)\n"
        "for i in range(4):\n"
        "    w = 3 * m.weight.detach().sum(0)\n"
        "    assert lt.allclose(traced(lt.ones(1, 3)), w)\n"
        "print(traced.counts['traces'] <= 2)"
    )
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.stdout.split() == ["True"], done.stderr


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.n = nn.Parameter(lt.ones(2)), 0

    def get_extra_state(self):
        return {"n": self.n}

    def set_extra_state(self, state):
        self.n = state["n"]


def test_state_hooks_and_extra_state():
    a, b, log = nn.Sequential(Counts()), nn.Sequential(Counts()), []
    a[0].n = 7
    a.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(("pre", prefix, keep)))
    a.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update(more=lt.ones(1)))
    state = a.state_dict(keep_vars=True)
    assert log == [("pre", "", True)] and state["0.w"] is a[0].w
    assert list(state) == ["0.w", "0._extra_state", "more"]
    assert state._metadata[""] == {"version": 1}

    def renamed(module, given, prefix, *_):
        given.pop("more")

    b.register_load_state_dict_pre_hook(renamed)
    b.register_load_state_dict_post_hook(lambda m, keys: keys.unexpected_keys.append("seen"))
    assert b.load_state_dict(state, strict=False).unexpected_keys == ["seen"] and b[0].n == 7
    with pytest.raises(nn.StateDictError, match="Unexpected.*seen"):
        b.load_state_dict(state)
    assert "more" in state
    with pytest.raises(nn.StateDictError, match="_extra_state"):
        b.load_state_dict({"0.w": lt.ones(2), "more": 1})
    with pytest.raises(lt.TypeError, match="dict of tensors"):
        b.load_state_dict([1])


def test_a_hook_has_keys_not_count():
    net, seen = nn.Sequential(nn.Linear(2, 2)), []

    def forgive(module, keys):
        seen.append((list(keys.missing_keys), module.weight.tolist()))
        keys.missing_keys.clear()
        keys.unexpected_keys.clear()

    handle = net[0].register_load_state_dict_post_hook(forgive)
    keys = net.load_state_dict({"0.weight": lt.ones(2, 2), "more": lt.ones(1)})
    assert keys == ([], []) and seen == [(["0.bias"], [[1, 1], [1, 1]])]
    with pytest.raises(nn.StateDictError, match="size mismatch"):
        net.load_state_dict({"0.weight": lt.ones(3, 2)})
    handle.remove()
    with pytest.raises(nn.StateDictError, match="0.bias"):
        net.load_state_dict({"0.weight": lt.zeros(2, 2)})
    assert net[0].weight.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("kind", [nn.BatchNorm1d, nn.BatchNorm2d])
def test_statistics_of_before_batches_were_counted(kind):
    net = nn.Sequential(kind(2))
    net[0].num_batches_tracked += 5
    whole = net.state_dict()
    assert whole._metadata["0"] == {"version": 2}
    old = {k: v + 1 for k, v in whole.items() if "batches" not in k}
    assert net.load_state_dict(old) == ([], [])
    assert net[0].running_mean.tolist() == [1, 1] and net[0].num_batches_tracked.item() == 5
    del whole["0.num_batches_tracked"]
    with pytest.raises(nn.StateDictError, match="num_batches_tracked"):
        net.load_state_dict(whole)


def test_a_module_that_loads_its_own_way():
    class Older(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *args):
            if prefix + "kernel" in state_dict:
                state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel").T
            super()._load_from_state_dict(state_dict, prefix, *args)

    net = nn.Sequential(Older(2, 3))
    net.load_state_dict({"0.kernel": lt.ones(2, 3), "0.bias": lt.zeros(3)})
    assert net[0].weight.tolist() == [[1, 1]] * 3


def test_more_of_a_modules_parts():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    net.add_module("again", net[0])
    assert len(list(net.named_modules(remove_duplicate=False))) == 4
    assert len(list(net.named_parameters(remove_duplicate=False))) == 6
    assert net.get_buffer("1.running_mean") is net[1].running_mean
    net.set_submodule("0", nn.Identity())
    assert isinstance(net[0], nn.Identity) and isinstance(net.again, nn.Linear)
    for bad in (lambda: net.get_buffer("1.weight"), lambda: net.set_submodule("9", net, True)):
        with pytest.raises(AttributeError):
            bad()
    with pytest.raises(lt.ValueError):
        net.set_submodule("0", 3)
    assert list(net._modules) == ["0", "1", "again"] and list(net[1]._parameters) == [
        "weight",
        "bias",
    ]
    assert list(net[1]._buffers) == ["running_mean", "running_var", "num_batches_tracked"]
    assert net.type(lt.float64)[1].weight.dtype is lt.float64
    again = pickle.loads(pickle.dumps(net))
    assert lt.equal(again.again.weight, net.again.weight)


def test_functional_call():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    before = net[0].weight
    given = {"0.weight": lt.eye(2), "0.bias": lt.zeros(2)}
    assert lt.func.functional_call(net, given, lt.ones(1, 2)).tolist() == [[1, 1]]
    assert net[0].weight is before
    w = lt.eye(2).requires_grad_()
    lt.func.functional_call(
        net, ({"0.weight": w}, {"0.bias": lt.zeros(2)}), (lt.ones(1, 2),)
    ).sum().backward()
    assert w.grad.tolist() == [[1, 1], [1, 1]] and before.grad is None
    tied = nn.Sequential(net[0], net[0])
    out = lt.func.functional_call(
        tied, {"0.weight": lt.eye(2) * 2, "0.bias": lt.zeros(2)}, lt.ones(1, 2)
    )
    assert out.tolist() == [[4, 4]]
    with pytest.raises(lt.ValueError, match="not those of the module"):
        lt.func.functional_call(net, {"nothing": w}, lt.ones(1, 2))
    with pytest.raises(lt.ValueError, match="not those of the module"):
        lt.func.functional_call(net, {"0.weight": w}, lt.ones(1, 2), strict=True)


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, x):
        return x / 2


def test_parametrizations():
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert lt.equal(layer.weight, before) and parametrize.is_parametrized(layer, "weight")
    assert type(layer).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    layer(lt.ones(1, 2)).sum().backward()
    original = layer.parametrizations.weight.original
    assert original.grad.tolist() == [[2, 2], [2, 2]]
    layer.weight = lt.ones(2, 2)
    assert original.tolist() == [[0.5, 0.5]] * 2 and layer.weight.tolist() == [[1, 1]] * 2
    with parametrize.cached():
        assert layer.weight is layer.weight
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert layer.weight.tolist() == [[1, 1]] * 2
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and layer.weight.tolist() == [[1, 1]] * 2
    with pytest.raises(lt.ValueError):
        parametrize.remove_parametrizations(layer, "weight")
    with pytest.raises(lt.ValueError, match="another shape"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))


@pytest.mark.parametrize("where", [nn.utils, parametrizations], ids=["older", "parametrized"])
def test_norms_of_weights(where):
    layer = where.weight_norm(nn.Linear(3, 2))
    weight = layer.weight.detach().clone()
    names = [n for n, _ in layer.named_parameters()]
    assert len(names) == 3 and "bias" in names
    layer(lt.ones(1, 3)).sum().backward()
    assert all(p.grad is not None for p in layer.parameters())
    assert lt.allclose(layer.weight, weight)
    sharp = where.spectral_norm(nn.Linear(4, 4), n_power_iterations=20)
    for _ in range(5):
        sharp(lt.ones(1, 4))
    sharp.eval()
    v = lt.ones(4)
    for _ in range(200):
        v = sharp.weight.T @ (sharp.weight @ v)
        v = v / lt.norm(v)
    assert abs(lt.norm(sharp.weight @ v).item() - 1) < 1e-3


def test_vectors_and_limits():
    net = nn.Linear(2, 2)
    vector = nn.utils.parameters_to_vector(net.parameters())
    nn.utils.vector_to_parameters(vector * 2, net.parameters())
    assert lt.equal(nn.utils.parameters_to_vector(net.parameters()), vector * 2)
    with pytest.raises(lt.ShapeError):
        nn.utils.vector_to_parameters(vector[:3], net.parameters())
    net(lt.ones(1, 2)).sum().backward()
    total = nn.utils.get_total_norm([p.grad for p in net.parameters()])
    assert lt.equal(nn.utils.clip_grad_norm_(net.parameters(), 1e9), total)
    nn.utils.clip_grads_with_norm_(net.parameters(), 1.0, total)
    assert abs(nn.utils.get_total_norm([p.grad for p in net.parameters()]).item() - 1) < 1e-4
    net.weight.grad.fill_(float("nan"))
    with pytest.raises(lt.ValueError, match="not finite"):
        nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)


def test_what_a_functional_call_assigns_is_given_back():
    """In the dict, as buffers that a module counts in; the module keeps its own."""

    class Count(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", lt.zeros(()))

        def forward(self, x):
            self.n = self.n + 1
            return x + self.n

    count, given = Count(), {"n": lt.tensor(4.0)}
    assert lt.func.functional_call(count, given, (lt.ones(()),)) == 6
    assert given["n"] == 5 and count.n == 0


def test_a_parametrization_is_in_the_mode_of_its_module():
    class Same(nn.Module):
        def forward(self, x):
            return x

    layer = nn.Linear(2, 2).eval()
    parametrize.register_parametrization(layer, "weight", Same())
    assert not any(m.training for m in layer.modules())
    layer.train()
    parametrize.register_parametrization(layer, "weight", Same().eval())
    assert all(m.training for m in layer.modules())


class Noted(nn.Linear):
    """Keeps weak references to what it was given and what it gave."""

    def forward(self, x):
        y = super().forward(x)
        self.seen = weakref.ref(x), weakref.ref(y)
        return y


@pytest.mark.parametrize("backward", [True, False])
def test_a_call_with_backward_hooks_holds_nothing(backward):
    layer = Noted(2, 2)
    layer.register_full_backward_hook(lambda m, dx, dy: None)
    layer.register_full_backward_pre_hook(lambda m, dy: None)
    y = layer(lt.ones(1, 2, requires_grad=True))
    result = weakref.ref(y)
    if backward:
        y.sum().backward()
    del y
    assert [found() for found in (result, *layer.seen)] == [None] * 3
