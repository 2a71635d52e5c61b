"""x.t_() and its kin without grad mode: what is to be trained still is, and histories go on."""

import pytest

import lathe as lt
from lathe import nn

FORMS = {
    "t_": lambda x: x.t_(),
    "transpose_": lambda x: x.transpose_(0, 1),
    "unsqueeze_": lambda x: x.unsqueeze_(0),
    "squeeze_": lambda x: x.unsqueeze_(0).squeeze_(0),
    "as_strided_": lambda x: x.as_strided_((3, 2), (1, 3)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", [lt.no_grad, lt.inference_mode])
def test_a_leaf_stays_a_leaf(form, mode):
    w = nn.Parameter(lt.arange(6.0).reshape(2, 3).clone())
    want = FORMS[form](w.detach().clone())
    with mode():
        assert FORMS[form](w) is w
    assert w.requires_grad and w.is_leaf and w.shape == want.shape and lt.equal(w.detach(), want)
    (w * want).sum().backward()
    assert lt.equal(w.grad, want)


def test_a_layer_is_trained_on():
    layer = nn.Linear(2, 3)
    optimizer = lt.optim.SGD(layer.parameters(), lr=1.0)
    before = layer.weight.detach().clone()
    with lt.no_grad():
        layer.weight.t_()
        layer.weight.t_()
    layer(lt.ones(1, 2)).sum().backward()
    optimizer.step()
    assert lt.equal(layer.weight.detach(), before - 1)


@pytest.mark.parametrize("form", FORMS)
def test_a_history_goes_on(form):
    x = lt.arange(6.0).reshape(2, 3).clone().requires_grad_()
    y = x * 2
    with lt.no_grad():
        FORMS[form](y)
    weights = lt.arange(float(y.numel())).reshape(y.shape)
    assert y.requires_grad and not y.is_leaf
    (y * weights).sum().backward()
    other = x.detach().clone().requires_grad_()
    z = FORMS[form](other * 2)
    (z * weights).sum().backward()
    assert lt.equal(x.grad, other.grad)


def test_the_gradient_takes_the_shape_too():
    w = nn.Parameter(lt.ones(2, 2))
    c = lt.tensor([[1.0, 2.0], [3.0, 4.0]])
    (w * c).sum().backward()
    with lt.no_grad():
        w.t_()
    assert lt.equal(w.grad, c.T)
    (w * c.T).sum().backward()
    assert lt.equal(w.grad, 2 * c.T)


def test_a_leaf_that_is_a_view_keeps_its_shape():
    w = lt.zeros(4, 3)[:2].requires_grad_()
    with lt.no_grad(), pytest.raises(lt.AutogradError, match="a view of another tensor"):
        w.t_()
    assert w.shape == (2, 3)


def test_without_a_history_nothing_changes():
    x = lt.ones(2, 3)
    with lt.no_grad():
        x.t_()
    assert x.shape == (3, 2) and not x.requires_grad
    with pytest.raises(lt.AutogradError):
        nn.Parameter(lt.ones(2, 3)).t_()  # in grad mode a leaf is not changed in place
