"""A capture keeps nothing alive that its result does not: a model that was frozen, saved, traced
or refused goes when the last name for it does."""

import gc
import time
import weakref

import pytest

import lathe as lt
from lathe import nn


def refused(function):
    with pytest.raises(lt.TraceError):
        function(lt.ones(2, 4))


def of_its_sum(model, tmp_path):
    refused(lt.trace(lambda x: float(model(x).sum())))


def of_a_clock(model, tmp_path):
    refused(lt.trace(lambda x: model(x) * time.time()))


def of_an_error(model, tmp_path):
    def function(x):
        raise RuntimeError(str(model(x).shape))

    with pytest.raises((RuntimeError, lt.TraceError)):
        lt.trace(function)(lt.ones(2, 4))


def traced(model, tmp_path):
    f = lt.trace(model)
    f(lt.ones(2, 4))
    f(lt.ones(3, 4)).sum().backward()


WAYS = {
    "freeze": lambda model, tmp_path: lt.freeze(model, lt.ones(2, 4)),
    "capture": lambda model, tmp_path: lt.jit.capture(model, (lt.ones(2, 4),)),
    "save": lambda model, tmp_path: lt.save(model, tmp_path / "model", lt.ones(2, 4)),
    "trace": traced,
    "closure": lambda model, tmp_path: lt.trace(lambda x: model(x) + 1)(lt.ones(2, 4)),
    "script": lambda model, tmp_path: lt.script(lambda x: model(x))(lt.ones(2, 4)),
    "refused: a float": of_its_sum,
    "refused: a clock": of_a_clock,
    "an error": of_an_error,
}


@pytest.mark.parametrize("way", WAYS)
def test_models_go(way, tmp_path):
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3))
    gone = [weakref.ref(o) for o in (model, model[0], model[2].weight)]
    WAYS[way](model, tmp_path)
    del model
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_a_frozen_program_keeps_its_own_weights_alone():
    model = nn.Linear(4, 4)
    gone = weakref.ref(model)
    program = lt.freeze(model, lt.ones(2, 4))
    want = model(lt.ones(2, 4)).detach()
    del model
    gc.collect()
    assert gone() is None and bool((program(lt.ones(2, 4)) == want).all())
