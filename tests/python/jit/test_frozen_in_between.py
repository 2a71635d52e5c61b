"""A tensor that has a gradient and is told, between two calls, that it requires none."""

import pytest
from script_checks import same

import lathe as lt
from lathe import nn, optim


class World:
    """Two parameters, an optimizer of both, and what one call does with them."""

    def __init__(self, optimizer):
        self.p, self.q = (nn.Parameter(lt.linspace(0, 1, 3) + k) for k in range(2))
        self.opt = optimizer([self.p, self.q])
        self.clears = True

    def step(self, x):
        if self.clears:
            self.opt.zero_grad()
        (self.p * x + self.q * self.q).sum().backward()
        self.opt.step()
        return x * 2

    def keeps_frozen(self, x):
        self.p.requires_grad_(False)
        return self.step(x)

    def frozen_for_a_while(self, x):
        was = self.p.requires_grad
        self.p.requires_grad_(False)
        self.step(x)
        self.p.requires_grad_(was)

    def freezes_before_the_update(self, x):
        self.opt.zero_grad()
        (self.p * x + self.q).sum().backward()
        was = self.p.requires_grad
        self.p.requires_grad_(False)
        self.opt.step()
        self.p.requires_grad_(was)

    def takes_away(self, x):
        old, self.p.grad = self.p.grad, None
        return x * 2 if old is None else x * old

    def replaces(self, x):
        self.p.grad = x * 3

    def state(self):
        moments = [self.opt.state[t] for t in (self.p, self.q)]
        return [(t.detach(), t.grad, t.requires_grad) for t in (self.p, self.q)], moments


MAKERS = {
    "SGD": lambda ts: optim.SGD(ts, lr=0.1),
    "momentum": lambda ts: optim.SGD(ts, lr=0.1, momentum=0.9, weight_decay=0.1),
    "Adam": lambda ts: optim.Adam(ts, lr=0.1),
    "AdamW": lambda ts: optim.AdamW(ts, lr=0.1, amsgrad=True),
}
METHODS = ["step", "frozen_for_a_while", "freezes_before_the_update", "takes_away", "replaces"]


@pytest.mark.parametrize("clears", [True, False])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("optimizer", MAKERS.values(), ids=MAKERS)
def test_frozen_and_thawed(optimizer, method, clears):
    mine, theirs = World(optimizer), World(optimizer)
    captured = lt.trace(getattr(mine, method))
    for frozen in (False, False, True, True, False, True, False):
        x = lt.linspace(-1, 1, 3)
        for w in (mine, theirs):
            w.clears = clears
            w.p.requires_grad_(not frozen)
        same(captured(x), getattr(theirs, method)(x))
        same(mine.state(), theirs.state())
    assert captured.counts["traces"] <= 8


@pytest.mark.parametrize("way", [lt.trace, lt.script])
@pytest.mark.parametrize("frozen", [True, False])
def test_of_an_argument(way, frozen):
    def clear(x):
        old, x.grad = x.grad, None
        return x * 2 if old is None else x + old

    def given():
        x = lt.ones(3, requires_grad=True)
        (x * 3).sum().backward()
        return x.requires_grad_(not frozen)

    captured, mine, theirs = way(clear), given(), given()
    for _ in range(3):
        same(captured(mine), clear(theirs))
        same(mine.grad, theirs.grad)
    same(captured(given()), clear(given()))


def test_left_frozen_says_which():
    w = World(MAKERS["Adam"])
    with pytest.raises(lt.TraceError, match="is no argument requires grad") as caught:
        lt.trace(w.keeps_frozen)(lt.ones(3))
    text = str(caught.value)
    assert ".p.requires_grad, True before and False in the end" in text
    assert "set it back before the function returns" in text
    assert w.p.requires_grad and w.p.grad is None
