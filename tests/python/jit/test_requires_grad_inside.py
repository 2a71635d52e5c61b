"""Captured code that says whether an argument requires grad, and that drops gradients."""

import pytest
from script_checks import same

import lathe as lt

ways = pytest.mark.parametrize("way", [lt.trace, lt.script])


def plain():
    return lt.tensor([1.0, 2.0])


def leaf():
    return plain().requires_grad_()


def leaf_with_a_gradient():
    x = leaf()
    (x * 3).sum().backward()
    return x


def adds(x):
    x.requires_grad_()
    (x * x).sum().backward()
    return x.grad * 1


def drops_and_adds(x):
    x.requires_grad = True
    x.grad = None
    (x * x).sum().backward()


def takes(x):
    x.requires_grad_()
    return lt.autograd.grad((x * x).sum(), x)[0]


def drops(x):
    x.grad = None
    return x * 2


def turns_off(x):
    x.requires_grad_(False)
    return x * x


def of_its_own(x):
    y = x.detach().clone()
    for k in range(3):
        y.requires_grad_().grad = None
        (y * y * k).sum().backward()
    return y.grad


@ways
@pytest.mark.parametrize("f", [adds, drops_and_adds, takes, drops, turns_off, of_its_own])
@pytest.mark.parametrize("made", [plain, leaf, leaf_with_a_gradient])
def test_as_eager_code(way, f, made):
    captured = way(f)
    mine, theirs = made(), made()
    for _ in range(3):
        got, want = captured(mine), f(theirs)
        same(got, want)
        same(mine.grad, theirs.grad)
        assert mine.requires_grad is theirs.requires_grad
        assert want is None or got.requires_grad is want.requires_grad
    again = made()
    same(captured(again), f(made()))
    assert captured.counts["traces"] <= 3


def leads_back(x):
    return x.requires_grad_() * 2


kept = plain()


def leads_back_to_a_global(x):
    kept.requires_grad_()
    return kept * x


@ways
@pytest.mark.parametrize("f", [leads_back, leads_back_to_a_global])
def test_refused(way, f):
    x = plain()
    with pytest.raises(lt.TraceError, match="to require grad, and a result leads back") as caught:
        way(f)(x)
    text = str(caught.value)
    assert "y.detach" in text and "test_requires_grad_inside.py" in text
    assert not x.requires_grad and not kept.requires_grad


@ways
@pytest.mark.parametrize("learns", [False, True])
def test_of_a_tensor_from_outside(way, learns):
    def made():
        w = plain()

        def f(x):
            w.requires_grad_()
            if learns:
                (w * x).sum().backward()
            return x * 2

        return w, f

    (mine, f), (theirs, g) = made(), made()
    captured = way(f)
    for k in range(4):
        x = plain() + k
        same(captured(x), g(x))
        same((mine.grad, mine.requires_grad), (theirs.grad, theirs.requires_grad))


@ways
def test_beside_sizes_that_are_returned(way):
    def f(x, scale):
        (x.requires_grad_() * scale).sum().backward()
        return x.shape[0], scale * 2, x.grad.clone()

    run = way(f)
    for n in (2, 3, 4):
        for scale in (1.5, 2.5):
            mine, theirs = lt.ones(n), lt.ones(n)
            same(run(mine, scale), f(theirs, scale))
            assert mine.requires_grad and mine.grad.tolist() == theirs.grad.tolist()
