"""W5: context variables, wherever they are held."""

import contextvars

import lathe as lt

var = contextvars.ContextVar("var", default=2.0)


def calls(w):
    yield (lt.ones(2),)
    token = var.set(3.0)
    yield (lt.ones(2),)
    yield (lt.ones(2),)
    var.reset(token)
    yield (lt.ones(2),)


# %% held_by_a_class: equal
class Config:
    held = var


def step(x):
    return x * Config.held.get()


# %% held_by_a_list: equal
variables = [var]


def step(x):
    return x * variables[0].get()


# %% bound_get: equal
get = var.get


def step(x):
    return x * get()


# %% by_a_property: equal
class Config:
    @property
    def scale(self):
        return var.get()


config = Config()


def step(x):
    return x * config.scale


# %% set_inside: either
def step(x):
    var.set(var.get() + 1)
    return x * var.get()


# %% set_and_reset_inside: either
def step(x):
    token = var.set(10.0)
    try:
        return x * var.get()
    finally:
        var.reset(token)


# %% in_a_context: either
def step(x):
    return x * contextvars.copy_context().run(var.get)
