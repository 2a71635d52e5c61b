"""A derivative that only asks on which side of a step a number lies (of relu and its like) depends
on it, by a derivative of zero: gradients of gradients are zeros there, as in PyTorch, and not
absent. In every mode."""

import pytest
from compare import bits_of

import lathe as lt
from lathe import nn

STEPS = [nn.ReLU(), nn.LeakyReLU(0.2), nn.ReLU6(), nn.Hardtanh(-0.5, 0.5)]
OF_ELEMENTS = [lt.relu, lt.abs, nn.functional.leaky_relu, nn.functional.hardtanh]


def network(act):
    lt.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), act, nn.Linear(4, 4), act, nn.Linear(4, 1))


def penalty(net, x):
    (g,) = lt.autograd.grad(net(x).sum(), [x], create_graph=True)
    return g.square().sum()


def gradients(net, x, step):
    """Of the penalty, by each parameter and by x; None where there is none."""
    for _ in range(2):
        net.zero_grad()
        x.grad = None
        step(x).backward()
    return [p.grad for p in [*net.parameters(), x]]


@pytest.mark.parametrize("act", STEPS, ids=lambda act: type(act).__name__)
@pytest.mark.parametrize("way", ["eager", "traced", "model", "scripted"])
def test_a_penalty_has_zeros(act, way):
    net, x = network(act), lt.randn(5, 3, requires_grad=True)
    want = gradients(net, x, lambda x: penalty(net, x))
    if way == "traced":
        got = gradients(net, x, lt.trace(lambda x: penalty(net, x)))
    else:
        model = {"eager": lambda net: net, "model": lt.trace, "scripted": lt.script}[way](net)
        got = gradients(net, x, lambda x: penalty(model, x))
    assert [g is None for g in got] == [False] * 5 + [True, False]
    assert bits_of([g for g in got if g is not None]) == bits_of([g for g in want if g is not None])
    for zeros in (got[1], got[3], got[6]):  # biases and x move no step
        assert zeros.count_nonzero() == 0


@pytest.mark.parametrize("function", OF_ELEMENTS)
@pytest.mark.parametrize("dtype", [lt.float32, lt.float64, lt.bfloat16])
def test_second_derivatives_are_zeros(function, dtype):
    x = lt.tensor([-2.0, -0.5, 0.0, 0.25, 3.0], dtype=dtype, requires_grad=True)
    (g,) = lt.autograd.grad(function(x).sum(), [x], create_graph=True)
    assert g.requires_grad
    (h,) = lt.autograd.grad((g * x.detach()).sum(), [x])
    assert h.dtype == dtype and h.count_nonzero() == 0


def test_a_first_derivative_is_the_same():
    """And costs nothing more: what ties it to x is not there unless it is asked for."""
    x = lt.randn(50, requires_grad=True)
    (plain,) = lt.autograd.grad(lt.relu(x).sum(), [x])
    (kept,) = lt.autograd.grad(lt.relu(x).sum(), [x], create_graph=True)
    assert bits_of([plain]) == bits_of([kept.detach()])
    assert not plain.requires_grad


def test_through_a_saved_program(tmp_path):
    net = network(nn.ReLU())
    lt.save(net, tmp_path / "net.lathe", inputs=(lt.randn(5, 3),))
    program, x = lt.load(tmp_path / "net.lathe"), lt.randn(5, 3, requires_grad=True)
    (g,) = lt.autograd.grad(program(x).sum(), [x], create_graph=True)
    (h,) = lt.autograd.grad(g.square().sum(), [x])
    assert h.count_nonzero() == 0


@pytest.mark.parametrize("loss", [nn.functional.smooth_l1_loss, nn.functional.huber_loss])
def test_a_loss_is_a_square_at_nothing(loss):
    """Its second derivative where prediction and target are equal is that of the square."""
    x = lt.tensor([0.0, 0.5, -0.5, 3.0, -3.0], requires_grad=True)
    total = loss(x, lt.zeros_like(x), reduction="sum")
    (g,) = lt.autograd.grad(total, [x], create_graph=True)
    assert g.tolist() == [0.0, 0.5, -0.5, 1.0, -1.0]
    assert lt.autograd.grad(g.sum(), [x])[0].tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]
