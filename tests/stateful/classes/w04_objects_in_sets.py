"""W4: objects inside sets, and in containers of other kinds."""

import types
import weakref

import numpy as np

import lathe as lt


class Term:
    def __init__(self, k):
        self.k = k


def make():
    w = types.SimpleNamespace(term=Term(2.0))
    w.terms = held(w.term)
    return w


def step(w, x):
    for term in w.terms:
        x = x * term.k
    return x


def calls(w):
    yield (lt.ones(2),)
    w.term.k = 3.0
    yield (lt.ones(2),)
    yield (lt.ones(2),)
    w.term = Term(5.0)
    w.terms = held(w.term)
    yield (lt.ones(2),)


# %% set_of_objects: equal
def held(term):
    return {term}


# %% frozen_set: equal
def held(term):
    return frozenset([term])


# %% weak_set: either
def held(term):
    return weakref.WeakSet([term])


# %% object_array: either
def held(term):
    array = np.empty(1, object)
    array[0] = term
    return array


# %% keys_of_a_dict: equal
def held(term):
    return {term: 1}


# %% values_view: equal
def held(term):
    return {"a": term}.values()


# %% mapping_proxy: either
def held(term):
    return types.MappingProxyType({term: 1})


# %% weak_values: either
def held(term):
    return weakref.WeakValueDictionary({"a": term})


def step(w, x):
    return x * w.terms["a"].k
