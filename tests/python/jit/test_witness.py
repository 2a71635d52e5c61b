"""What lets a traced call skip the walk over Python's state sees every change that the walk sees.

Each case warms a traced function until a witness serves it, changes one thing, and compares with
the function undecorated; a change that went unnoticed would give the old answer.
"""

import gc
import math
import types
import weakref

import pytest

import lathe as lt
from lathe import nn, optim

X = lt.tensor([1.0, -2.0, 3.0])
SCALE = 2.0
CHOICE = None
HELPERS = types.ModuleType("helpers")


class Config:
    """Attributes of an object and of its class."""

    factor = 1.0

    def __init__(self):
        self.scale = 2.0
        self.terms = [1.0, 2.0]
        self.table = {"a": 1.0, "b": 10.0}
        self.flags = {"double"}
        self.weight = lt.tensor([1.0, 1.0, 1.0])

    def apply(self, x):
        y = x * self.scale * self.factor * self.weight
        for t in self.terms:
            y = y + t
        for k, v in self.table.items():
            y = y * v - len(k)
        return y * 2 if "double" in self.flags else y


def helper(x, by=3.0, *, plus=0.0):
    return x * by + plus


def other(x):
    return x - 100.0


def bits(t):
    return bytes(memoryview(t.detach().contiguous().numpy()).cast("B"))


def served(traced, *args, **kwargs):
    """Calls until a witness serves, then makes sure that one does."""
    for _ in range(3):
        traced(*args, **kwargs)
    assert any(known.serve(args, kwargs)[0] for known in traced._known)


def reorder(config):
    config.table["a"] = config.table.pop("a")


CHANGES = {
    "attribute": lambda c: setattr(c, "scale", 5.0),
    "new attribute that shadows the class's": lambda c: setattr(c, "factor", 7.0),
    "list grows": lambda c: c.terms.append(9.0),
    "list item": lambda c: c.terms.__setitem__(0, -4.0),
    "list replaced": lambda c: setattr(c, "terms", [8.0]),
    "dict value": lambda c: c.table.update(a=3.0),
    "dict grows": lambda c: c.table.update(ccc=3.0),
    "dict order": reorder,
    "set": lambda c: c.flags.clear(),
    "tensor replaced": lambda c: setattr(c, "weight", lt.tensor([2.0, 3.0, 4.0])),
    "tensor written to": lambda c: c.weight.mul_(2.0),
    "tensor of another dtype": lambda c: setattr(c, "weight", c.weight.double()),
    "method replaced": lambda c: setattr(c, "apply", other),
    "minus zero": lambda c: (setattr(c, "scale", 0.0), setattr(c, "scale", -0.0)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_object(change):
    config = Config()
    traced = lt.trace(lambda x: config.apply(x))
    served(traced, X)
    CHANGES[change](config)
    for _ in range(3):
        assert bits(traced(X)) == bits(config.apply(X))


def test_class(monkeypatch):
    config = Config()
    traced = lt.trace(lambda x: config.apply(x))
    served(traced, X)
    monkeypatch.setattr(Config, "factor", 3.0)
    assert bits(traced(X)) == bits(config.apply(X))
    served(traced, X)
    monkeypatch.setattr(Config, "apply", lambda self, x: x + self.scale)
    assert bits(traced(X)) == bits(X + 2.0)


def test_globals(monkeypatch):
    def f(x):
        return helper(x) * SCALE if CHOICE is None else abs(x)

    traced = lt.trace(f)
    served(traced, X)
    module = globals()
    for name, value in (("SCALE", 3.0), ("helper", other), ("CHOICE", 1)):
        monkeypatch.setitem(module, name, value)
        for _ in range(3):
            assert bits(traced(X)) == bits(f(X))
    monkeypatch.setitem(module, "abs", lambda x: x * 0)  # a name that was a builtin
    assert bits(traced(X)) == bits(X * 0)


def test_a_function_changes_in_place():
    def inner(x, by=[2.0], *, plus=1.0):  # noqa: B006
        return x * by[0] + plus

    traced = lt.trace(lambda x: inner(x))
    changes = (
        lambda: inner.__defaults__[0].__setitem__(0, 5.0),
        lambda: setattr(inner, "__defaults__", ([7.0],)),
        lambda: inner.__kwdefaults__.update(plus=4.0),
        lambda: setattr(inner, "__kwdefaults__", {"plus": 6.0}),
        lambda: setattr(inner, "__code__", other.__code__),
    )
    for change in changes:
        served(traced, X)
        change()
        for _ in range(3):
            assert bits(traced(X)) == bits(inner(X))


def test_cells_and_modules():
    by = 2.0
    HELPERS.shift = 1.0

    def f(x):
        return x * by + HELPERS.shift

    traced = lt.trace(f)
    served(traced, X)
    by = 4.0
    assert bits(traced(X)) == bits(X * 4.0 + 1.0)
    served(traced, X)
    HELPERS.shift = 9.0
    assert bits(traced(X)) == bits(X * 4.0 + 9.0)


def test_arguments():
    def f(x, scale=1.0, *, terms=(), names=None):
        y = x / scale
        for t in terms:
            y = y + t
        return y * len(names or "none")

    traced = lt.trace(f)
    y = lt.tensor([5.0, 6.0, 7.0])
    calls = [
        ((X,), {}),
        ((X, 2.0), {}),
        ((X,), {"scale": 2.0}),
        ((X, 0.0), {}),
        ((X, -0.0), {}),
        ((X, 1), {}),
        ((X, True), {}),
        ((X,), {"terms": (y, y)}),
        ((X,), {"terms": (X, y)}),
        ((X,), {"terms": [y, X]}),
        ((X,), {"names": {"a": 1}}),
        ((X,), {"names": {"b": 1, "a": 1}}),
        ((X,), {"names": "text"}),
        ((y, math.pi), {}),
    ]
    for _ in range(4):
        for args, kwargs in calls:
            assert bits(traced(*args, **kwargs)) == bits(f(*args, **kwargs)), (args, kwargs)


def test_one_tensor_twice_is_another_call():
    def f(x, y):
        x = x * 1
        x += y
        return x * y

    traced = lt.trace(f)
    a, b = lt.tensor([1.0, 2.0]), lt.tensor([3.0, 4.0])
    served(traced, a, b)
    assert bits(traced(a, a)) == bits(f(a, a))
    assert bits(traced(b, a)) == bits(f(b, a))


def test_modes():
    traced = lt.trace(lambda x: x * 2 + lt.zeros(3))
    served(traced, X)
    with lt.no_grad():
        assert not traced(X).requires_grad
    tracked = X.clone().requires_grad_()
    assert traced(tracked).requires_grad
    lt.set_default_dtype(lt.float64)
    try:
        assert traced(X).dtype == (X * 2 + lt.zeros(3)).dtype
    finally:
        lt.set_default_dtype(lt.float32)


def training(wrap):
    lt.manual_seed(4)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    @wrap
    def step(x):
        optimizer.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    x, told = lt.randn(5, 3), []
    for i in range(12):
        if i == 5:
            optimizer.param_groups[0]["lr"] = 0.01
        if i == 7:
            net[0].weight.grad = None
            net[0].weight.requires_grad_(False)
        if i == 9:
            with lt.no_grad():
                net[2].weight.zero_()
            optimizer.zero_grad()
        if i == 10:
            x = lt.randn(2, 3)
        told.append(bits(step(x)))
        told += [bits(p.grad) if p.grad is not None else b"" for p in net.parameters()]
    return step, told


def test_a_training_step_that_changes_under_way():
    step, traced = training(lt.trace)
    _, eager = training(lambda f: f)
    assert traced == eager
    assert step._known


def test_a_traced_function_in_another_is_walked_as_its_function():
    inner = lt.trace(lambda x: x * 2)
    outer = lt.trace(lambda x: inner(x) + 1)
    for _ in range(5):
        inner(X)
        assert bits(outer(X)) == bits(X * 2 + 1)
    assert outer.counts["traces"] == 1 and outer._known


def test_what_a_witness_holds_can_be_collected():
    def make():
        net = nn.Sequential(nn.Linear(3, 2))
        net.step = lt.trace(lambda x: net[0](x))
        served(net.step, lt.ones(1, 3))
        return weakref.ref(net)

    gone = make()
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop])
def test_a_step_whose_optimizer_is_an_argument_is_served(kind):
    """betas were one tuple in `defaults` and in each group: what is found twice has no witness."""
    model = nn.Linear(3, 1)

    def step(model, optimizer, x):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    served(lt.trace(step), model, kind(model.parameters(), lr=0.1), lt.ones(2, 3))
