"""Pickles of what is captured: by the name it has, or as what it captures, which is captured
anew."""

import copy
import pickle

import pytest

import lathe as lt
from lathe import nn


@lt.trace
def decorated(x):
    return x.sin() * 2


@lt.script
def scripted(x):
    if x.sum() > 0:
        return x * 2
    return x


def plain(x):
    return x * 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = lt.trace(nn.Linear(3, 3))

    def forward(self, x):
        return self.inner(x).relu()

    @lt.trace
    def doubled(self, x):
        return self(x) * 2


def through(value):
    return pickle.loads(pickle.dumps(value))


def test_what_has_a_name_is_found_by_it():
    assert through(decorated) is decorated and through(scripted) is scripted
    assert copy.copy(decorated) is decorated


@pytest.mark.parametrize("wrap", [lt.trace, lt.script])
def test_what_has_none_is_captured_anew(wrap):
    first = wrap(plain)
    first(lt.ones(3))
    other = through(first)
    assert type(other) is type(first) and other is not first
    assert other(lt.ones(3)).tolist() == [3, 3, 3] and other.counts["traces"] == 1


@pytest.mark.parametrize("wrap", [lambda m: m, lt.trace])
def test_modules_with_captured_parts(wrap):
    net = wrap(Net())
    x = lt.randn(2, 3)
    want = net(x)
    other = through(net)
    assert lt.equal(other(x), want)
    assert [n for n, _ in other.named_parameters()] == [n for n, _ in net.named_parameters()]
    assert lt.equal(other.doubled(x), want * 2)
    with lt.no_grad():
        for p in other.parameters():
            p.zero_()
    assert lt.equal(net(x), want), "they share nothing"


def test_what_pickle_cannot_find_is_an_error_of_pickle():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(lt.trace(lambda x: x))
