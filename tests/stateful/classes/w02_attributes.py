"""W2: attributes more than one level deep, or not by a literal name."""

import operator
import sys
import types

import lathe as lt

project = types.ModuleType("project")
project.config = types.ModuleType("project.config")
project.config.SCALE = 2.0


class Config:
    SCALE = 2.0


def calls(w):
    x = lt.arange(3.0)
    for scale in (2.0, 3.0, 3.0, -0.0, 0.0, 2):
        change(scale)
        yield (x,)


# %% two_levels: equal
def step(x):
    return x * project.config.SCALE


def change(scale):
    project.config.SCALE = scale


# %% module_replaced: equal
def step(x):
    return x * project.config.SCALE


def change(scale):
    project.config = types.SimpleNamespace(SCALE=scale)


# %% getattr_by_name: equal
NAME = "SCALE"


def step(x):
    return x * getattr(Config, NAME) + getattr(Config, "BIAS", 0.5)


def change(scale):
    Config.SCALE = scale
    if scale == 3.0:
        Config.BIAS = 1.0


# %% name_that_changes: equal
settings = types.SimpleNamespace(one=1.0, two=2.0, use="one")


def step(x):
    return x * getattr(settings, settings.use)


def change(scale):
    settings.use = "two" if scale == 3.0 else "one"
    settings.one = scale


# %% dict_of_object: equal
config = Config()


def step(x):
    return x * config.__dict__.get("SCALE", 7.0) + vars(Config)["SCALE"]


def change(scale):
    config.SCALE = scale


# %% sys_modules: equal
sys.modules["settings_of_w02"] = types.ModuleType("settings_of_w02")


def step(x):
    return x * sys.modules["settings_of_w02"].SCALE


def change(scale):
    sys.modules["settings_of_w02"].SCALE = scale


# %% imported_inside: equal
sys.modules["settings_of_w02"] = types.ModuleType("settings_of_w02")


def step(x):
    import settings_of_w02 as settings

    return x * settings.SCALE


def change(scale):
    sys.modules["settings_of_w02"] = types.ModuleType("settings_of_w02")
    sys.modules["settings_of_w02"].SCALE = scale


# %% attrgetter: equal
scale_of = operator.attrgetter("config.SCALE")


def step(x):
    return x * scale_of(project)


def change(scale):
    project.config.SCALE = scale


# %% methodcaller_and_itemgetter: equal
table = {"a": [1.0, 2.0]}
get, second = operator.methodcaller("get", "a"), operator.itemgetter(1)


def step(x):
    return x * second(get(table))


def change(scale):
    table["a"][1] = scale
