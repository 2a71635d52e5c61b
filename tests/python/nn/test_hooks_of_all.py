"""Hooks of all modules, as PyTorch has them; the order was compared with its own."""

import pytest

import lathe as lt
from lathe import nn
from lathe.nn.modules import module as every


@pytest.fixture(autouse=True)
def none_is_left():
    yield
    assert not nn.Module._hooked and not nn.Tanh()._hooked


def test_they_are_called_before_a_modules_own():
    model, log = nn.Sequential(nn.Linear(2, 2), nn.Tanh()), []

    def note(what):
        def hook(module, *_):
            log.append(f"{what} {type(module).__name__}")

        return hook

    model[1].register_forward_hook(note("own"))
    model[1].register_forward_pre_hook(note("own before"))
    model[1].register_full_backward_hook(note("own back"))
    model[1].register_full_backward_pre_hook(note("own before back"))
    handles = [
        every.register_module_forward_hook(note("all")),
        every.register_module_forward_pre_hook(note("all before")),
        every.register_module_full_backward_hook(note("all back")),
        every.register_module_full_backward_pre_hook(note("all before back")),
    ]
    model(lt.ones(1, 2, requires_grad=True)).sum().backward()
    assert log == [
        "all before Sequential", "all before Linear", "all Linear", "all before Tanh",
        "own before Tanh", "all Tanh", "own Tanh", "all Sequential",
        "all before back Sequential", "all before back Tanh", "own before back Tanh",
        "all back Tanh", "own back Tanh", "all before back Linear", "all back Linear",
        "all back Sequential",
    ]  # fmt: skip
    for handle in handles:
        handle.remove()
    log.clear()
    model(lt.ones(1, 2)).sum().backward()
    assert log == ["own before Tanh", "own Tanh", "own before back Tanh", "own back Tanh"]


def test_what_they_give_counts():
    layer, x, failed = nn.Linear(2, 2), lt.ones(1, 2, requires_grad=True), []
    plain = layer(x)
    with every.register_module_forward_pre_hook(lambda m, i: (i[0] * 2,)):
        assert lt.equal(layer(x), layer.forward(x * 2))
    with every.register_module_forward_hook(lambda m, i, k, y: y + len(k), with_kwargs=True):
        assert lt.equal(layer(input=x), plain + 1)
    with every.register_module_full_backward_hook(lambda m, dx, dy: (dx[0] * 3,)):
        layer(x).sum().backward()
    assert lt.allclose(x.grad, 3 * layer.weight.sum(0, keepdim=True))
    keep = every.register_module_forward_hook(lambda *a: failed.append(a[2]), always_call=True)
    with keep, pytest.raises(lt.ShapeError):
        layer(lt.ones(1, 3))
    assert failed == [None] and lt.equal(layer(x), plain)

    def once(module, inputs):
        handle.remove()
        return (inputs[0] * 0,)

    handle = every.register_module_forward_pre_hook(once)
    assert lt.equal(layer(x)[0], layer.bias) and lt.equal(layer(x), plain)


@pytest.mark.parametrize("way", [lt.trace, lt.script])
def test_a_trace_holds_them(way):
    """A trace is for the hooks that there were: others are another one."""
    model, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh()), lt.ones(1, 2)
    run = way(model)
    plain = model(x)
    assert lt.equal(run(x), plain)
    with every.register_module_forward_hook(lambda m, i, y: y * 2):
        doubled = model(x)
        assert lt.equal(run(x), doubled) and not lt.equal(doubled, plain)
        with every.register_module_forward_pre_hook(lambda m, i: (i[0] + 1,)):
            assert lt.equal(run(x), model(x)) and not lt.equal(run(x), doubled)
        assert lt.equal(run(x), doubled)
    assert lt.equal(run(x), plain) and run.counts["traces"] <= 4

    @lt.trace
    def gradient(x):
        x = x.detach().requires_grad_()
        (dx,) = lt.autograd.grad(model(x).sum(), x)
        return dx

    plain = gradient(x)
    with every.register_module_full_backward_hook(lambda m, dx, dy: (dx[0] * 2,)):
        assert lt.allclose(gradient(x), plain * 8)  # of the two layers, and of both together
    assert lt.equal(gradient(x), plain)
