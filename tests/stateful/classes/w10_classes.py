"""W10: classes that change."""

import abc
import types

import lathe as lt


class Abstract(abc.ABC):
    pass


class One:
    k = 2.0

    def act(self, t):
        return t * self.k


class Two(One):
    def act(self, t):
        return t + 100


def make():
    return types.SimpleNamespace(o=One())


def step(w, x):
    return w.o.act(x) + (10 if isinstance(w.o, Abstract) else 0)


def calls(w):
    yield (lt.ones(2),)
    change(w)
    yield (lt.ones(2),)
    yield (lt.ones(2),)


# %% register: equal
def change(w):
    Abstract.register(One)


# %% class_of_an_object: equal
def change(w):
    w.o.__class__ = Two


# %% method_of_a_class: equal
def change(w):
    One.act = lambda self, t: t - 1


# %% attribute_of_a_class: equal
def change(w):
    One.k = 7.0


# %% bases: equal
class Base:
    pass


class Other:
    def act(self, t):
        return t * 50


class Third(Base, One):
    pass


def make():
    return types.SimpleNamespace(o=Third())


def change(w):
    Third.__bases__ = (Other, One)


# %% property_added: equal
def change(w):
    One.k = property(lambda self: 4.0)


# %% getattr_added: equal
def step(w, x):
    return x * getattr(w.o, "missing", 1.0)


def change(w):
    One.__getattr__ = lambda self, name: 6.0


# %% subclass_check: equal
class Meta(type):
    answer = False

    def __instancecheck__(cls, o):
        return Meta.answer


class Checked(metaclass=Meta):
    pass


def step(w, x):
    return x * (2 if isinstance(w.o, Checked) else 3)


def change(w):
    Meta.answer = True
