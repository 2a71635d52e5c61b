"""W8: the state of files and of the process."""

import os
import pathlib
import types

import lathe as lt


def make():
    return types.SimpleNamespace(folder=".", path=pathlib.Path("state"))


def calls(w):
    yield (lt.ones(2),)
    w.path.write_text("3.0")
    os.environ["LATHE_W08"] = "x"
    yield (lt.ones(2),)
    w.path.write_text("5.25")
    yield (lt.ones(2),)
    w.path.unlink()
    del os.environ["LATHE_W08"]
    yield (lt.ones(2),)


# %% path_exists: either
def step(w, x):
    return x * (2 if w.path.exists() else 3)


# %% exists_bound_to_a_name: either
exists = os.path.exists


def step(w, x):
    return x * (2 if exists(w.path) else 3)


# %% content: either
def step(w, x):
    try:
        return x * float(w.path.read_text())
    except FileNotFoundError:
        return x


# %% size: either
def step(w, x):
    return x + (os.stat(w.path).st_size if os.path.isfile(w.path) else 0)


# %% listing: either
def step(w, x):
    return x + (w.path.name in os.listdir(w.folder))


# %% environment: either
def step(w, x):
    return x * (2 if os.environ.get("LATHE_W08") else 3)


# %% environment_bound: either
get = os.getenv


def step(w, x):
    return x * len(get("LATHE_W08", ""))
