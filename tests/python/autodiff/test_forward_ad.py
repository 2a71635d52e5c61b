"""autograd.forward_ad: tangents of results, and what a level is."""

import math

import pytest

import lathe as lt
from lathe import nn
from lathe.autograd import forward_ad as fwd


def close(a, b):
    return lt.allclose(a, b, rtol=1e-12, atol=1e-12)


def f64(*values):
    return lt.tensor(values, dtype=lt.float64)


def test_the_tangent_of_a_result():
    x, t = f64(0.3, -0.7), f64(2.0, 5.0)
    with fwd.dual_level() as level:
        dual = fwd.make_dual(x, t)
        assert level == 0 and close(fwd.unpack_dual(dual).tangent, t)
        made = fwd.unpack_dual(dual.sin() * dual + 1)
        assert isinstance(made, tuple) and made.primal is made[0]
        none = fwd.unpack_dual(x * 2)
    assert close(made.tangent, t * (x.cos() * x + x.sin())) and not made.tangent.requires_grad
    assert close(made.primal, x.sin() * x + 1) and not made.primal.requires_grad
    assert none.tangent is None and close(none.primal, x * 2)
    assert fwd.unpack_dual(dual).tangent is None  # the level is closed


def test_several_tensors_carry_tangents():
    x, y = f64(2.0), f64(3.0)
    with fwd.dual_level():
        a, b = fwd.make_dual(x, f64(10.0)), fwd.make_dual(y, f64(100.0))
        assert fwd.unpack_dual(a * b).tangent.item() == 3 * 10 + 2 * 100
        assert fwd.unpack_dual(a * y).tangent.item() == 3 * 10
        assert fwd.unpack_dual(b.detach() * a).tangent.item() == 3 * 10


def test_a_network_by_its_parameters():
    net, x = nn.Linear(3, 2).double(), lt.randn(4, 3, dtype=lt.float64)
    tangents = {n: lt.randn_like(p) for n, p in net.named_parameters()}
    plain = dict(net.named_parameters())
    with fwd.dual_level():
        for name, p in plain.items():
            delattr(net, name)
            setattr(net, name, fwd.make_dual(p, tangents[name]))
        found = fwd.unpack_dual(net(x).tanh())
    slope = 1 - found.primal * found.primal
    assert close(found.tangent, slope * (x @ tangents["weight"].T + tangents["bias"]))


def test_it_is_what_jvp_gives():
    def f(x):
        return (x.exp() @ x.T).cumsum(1)

    x, t = lt.randn(3, 3, dtype=lt.float64), lt.randn(3, 3, dtype=lt.float64)
    value, tangent = lt.func.jvp(f, (x,), (t,))
    with fwd.dual_level():
        found = fwd.unpack_dual(f(fwd.make_dual(x, t)))
    assert lt.equal(found.primal, value) and lt.equal(found.tangent, tangent)


def test_reverse_over_forward():
    x, t = f64(0.4), f64(1.0)
    x.requires_grad_()
    with fwd.dual_level():
        found = fwd.unpack_dual(fwd.make_dual(x, t).sin())
    assert math.isclose(found.tangent.item(), math.cos(0.4))
    found.tangent.backward()
    assert math.isclose(x.grad.item(), -math.sin(0.4))


def test_modes_around_and_inside():
    x, t = f64(0.5), f64(1.0)
    with lt.no_grad():
        with fwd.dual_level():
            found = fwd.unpack_dual(fwd.make_dual(x, t).exp())
        assert not lt.is_grad_enabled()
    assert close(found.tangent, x.exp())
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        dual.mul_(3)  # written in place: the tensor that it was made of stays
        assert fwd.unpack_dual(dual).tangent.item() == 3 and x.item() == 0.5
        with lt.no_grad():
            inside = dual * 2
        assert fwd.unpack_dual(inside).tangent is None

    @fwd.dual_level()
    def run():
        return fwd.unpack_dual(fwd.make_dual(x, t) ** 2).tangent

    assert run().item() == 1.0


def test_what_is_refused():
    x = f64(1.0)
    with pytest.raises(lt.AutogradError, match="^make_dual: no level"):
        fwd.make_dual(x, x)
    with pytest.raises(lt.AutogradError, match="^exit_dual_level: no level"):
        fwd.exit_dual_level()
    with fwd.dual_level():
        with pytest.raises(lt.AutogradError, match="^enter_dual_level: "):
            fwd.enter_dual_level()
        with pytest.raises(lt.ShapeError, match="^make_dual: "):
            fwd.make_dual(x, f64(1.0, 2.0))
        with pytest.raises(lt.DTypeError, match="^make_dual: "):
            fwd.make_dual(x, x.float())
        with pytest.raises(lt.DTypeError, match="no derivative"):
            fwd.make_dual(x.long(), x.long())
        with pytest.raises(lt.AutogradError, match="^unpack_dual: there is no such level"):
            fwd.unpack_dual(x, level=3)
        with pytest.raises(lt.TypeError, match="^unpack_dual: "):
            fwd.unpack_dual(1.0)
    assert fwd.enter_dual_level() == 0
    fwd.exit_dual_level(level=0)
    assert lt.is_grad_enabled()
