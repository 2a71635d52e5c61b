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

    def keeps_frozen_by_name(self, x):
        self.p.requires_grad = False
        return self.step(x)

    def thaws_and_freezes(self, x):
        self.p.requires_grad_(True)
        self.step(x)
        self.p.requires_grad_(False)

    def takes_turns(self, x):
        self.step(x)
        self.p.requires_grad_(not self.p.requires_grad)

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
METHODS = [name for name in vars(World) if name not in ("state", "__init__") and name[0] != "_"]


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


@pytest.mark.parametrize("way", [lt.trace, lt.script])
def test_two_networks_take_turns(way):
    """One is frozen while the other learns to mislead it, and is left so."""

    def made():
        lt.manual_seed(0)
        judge, maker = nn.Linear(6, 1), nn.Sequential(nn.Linear(4, 6), nn.Tanh())
        of_judge, of_maker = (optim.Adam(m.parameters(), lr=0.1) for m in (judge, maker))

        def step(z, x):
            for p in judge.parameters():
                p.requires_grad = True
            of_judge.zero_grad()
            first = (judge(maker(z).detach()) - judge(x)).mean()
            first.backward()
            of_judge.step()
            judge.requires_grad_(False)
            of_maker.zero_grad()
            second = -judge(maker(z)).mean()
            second.backward()
            of_maker.step()
            return first.detach(), second.detach()

        return step, [*judge.parameters(), *maker.parameters()]

    (mine, my_weights), (theirs, their_weights) = made(), made()
    captured = way(mine)
    for _ in range(4):
        z, x = lt.randn(5, 4), lt.randn(5, 6)
        same(captured(z, x), theirs(z, x))
        for a, b in zip(my_weights, their_weights):
            same((a.detach(), a.grad, a.requires_grad), (b.detach(), b.grad, b.requires_grad))
    assert captured.counts["traces"] == 2  # the judge required grad before the first call


@pytest.mark.parametrize("method", ["before", "after"])
def test_results_have_the_history_that_they_had(method):
    class Scaled:
        def __init__(self):
            self.w = lt.ones(3, requires_grad=True)

        def before(self, x):
            y = self.w * x
            self.w.requires_grad_(False)
            return y

        def after(self, x):
            self.w.requires_grad_(False)
            return self.w * x

    mine, theirs = Scaled(), Scaled()
    captured = lt.trace(getattr(mine, method))
    for _ in range(3):
        x = lt.linspace(0, 1, 3, requires_grad=True)
        results = captured(x), getattr(theirs, method)(x)
        same(*results)
        for y, at in zip(results, (mine, theirs)):
            at.w.grad = x.grad = None
            y.sum().backward()
        same((mine.w.grad, mine.w.requires_grad), (theirs.w.grad, theirs.w.requires_grad))


def test_a_result_that_leads_back_to_what_is_thawed_is_refused():
    w = lt.ones(3)

    def thawed(x):
        w.requires_grad_()
        return w * x

    with pytest.raises(lt.TraceError, match="tells a tensor to require grad"):
        lt.trace(thawed)(lt.ones(3))
    assert not w.requires_grad
